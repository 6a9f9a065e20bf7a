#include "kernels/Mask.h"

#include "kernels/LoopNest.h"
#include "kernels/Scratch.h"

#include <atomic>
#include <bit>

namespace tracert {
namespace kernels {
namespace {

constexpr double kCountNanoseconds = 0.03;
constexpr double kCompactNanoseconds = 0.3;
/// Elements per unit of work of a compaction.
constexpr int64_t kPiece = 32768;
/// Elements between two looks at the control when rows are taken one after the other.
constexpr int64_t kLongPiece = int64_t(1) << 20;

bool isEmpty(const TensorView &view) {
  for (int64_t size : view.shape) {
    if (size == 0) {
      return true;
    }
  }
  return false;
}

int sizeLog2(DType dtype) { return std::countr_zero(dtypeSize(dtype)); }

/// One long row on the pool: pieces are counted first, which gives each its place in the output.
Status compactPieces(const KernelContext &context, const KernelCores &cores,
                     const MaskedSequence &row, int64_t elementSize, void *output) {
  int64_t pieces = (row.count + kPiece - 1) / kPiece;
  size_t bytes = static_cast<size_t>(pieces + 1) * sizeof(int64_t);
  Scratch scratch(context, bytes);
  if (!scratch.data()) {
    return outOfScratch(bytes);
  }
  auto pieceOf = [&](int64_t piece) {
    MaskedSequence part = row;
    int64_t begin = piece * kPiece;
    part.values = static_cast<const char *>(row.values) + begin * row.valueStride;
    part.mask = row.mask + begin * row.maskStride;
    part.count = std::min(kPiece, row.count - begin);
    return part;
  };
  int64_t *firsts = scratch.as<int64_t>();
  firsts[0] = 0;
  runRanges(context, pieces, kPiece * kCountNanoseconds, [&](int64_t begin, int64_t end) {
    for (int64_t piece = begin; piece < end; ++piece) {
      MaskedSequence part = pieceOf(piece);
      firsts[piece + 1] = cores.countTrue(part.mask, part.maskStride, part.count);
    }
  });
  // The places of the pieces follow from all counts.
  TRACERT_TRY(stoppedStatus());
  for (int64_t piece = 0; piece < pieces; ++piece) {
    firsts[piece + 1] += firsts[piece];
  }
  auto compact = cores.compact[std::countr_zero(static_cast<uint64_t>(elementSize))];
  runRanges(context, pieces, kPiece * kCompactNanoseconds, [&](int64_t begin, int64_t end) {
    for (int64_t piece = begin; piece < end; ++piece) {
      // The exact capacity: what follows belongs to the next piece, perhaps of another thread.
      compact(pieceOf(piece), static_cast<char *>(output) + firsts[piece] * elementSize,
              firsts[piece + 1] - firsts[piece]);
    }
  });
  return {};
}

} // namespace

Status compactMasked(const KernelContext &context, const TensorView &values, const TensorView &mask,
                     void *output, int64_t count) {
  if (count == 0 || isEmpty(mask)) {
    return {};
  }
  const KernelCores &cores = kernelCores(context.target);
  int64_t elementSize = itemBytes(values.dtype);
  LoopNest nest(mask.shape, {&values.strides, &mask.strides});
  MaskedSequence row{values.data, nest.rowStride(0), static_cast<const uint8_t *>(mask.data),
                     nest.rowStride(1), nest.rowLength()};
  if (nest.isOneRow() && context.pool && context.pool->threadCount() > 1 &&
      row.count > 2 * kPiece) {
    return compactPieces(context, cores, row, elementSize, output);
  }
  auto compact = cores.compact[sizeLog2(values.dtype)];
  char *next = static_cast<char *>(output);
  int64_t capacity = count;
  char *const base[] = {bytesOf(values), bytesOf(mask)};
  bool isLong = static_cast<double>(nest.rowCount()) * static_cast<double>(nest.rowLength()) *
                    kCompactNanoseconds >
                kNanosecondsBetweenChecks;
  nest.forRows(base, 0, nest.rowCount(), [&](char *const *at) {
    // A long row piece by piece, with a look at the control before each.
    int64_t step = isLong ? kLongPiece : nest.rowLength();
    for (int64_t begin = 0; begin < nest.rowLength(); begin += step) {
      if (isLong && shouldStop()) {
        return;
      }
      row.values = at[0] + begin * row.valueStride;
      row.mask = reinterpret_cast<const uint8_t *>(at[1]) + begin * row.maskStride;
      row.count = std::min(step, nest.rowLength() - begin);
      int64_t written = compact(row, next, capacity);
      next += written * elementSize;
      capacity -= written;
    }
  });
  return {};
}

void writePositions(const KernelContext &context, const TensorView &mask, int64_t *positions,
                    int64_t count) {
  if (count == 0 || isEmpty(mask)) {
    return;
  }
  constexpr int64_t kBlock = 1024;
  const KernelCores &cores = kernelCores(context.target);
  auto compact = cores.compact[sizeLog2(DType::Int64)];
  LoopNest nest(mask.shape, {&mask.strides});
  int64_t numbers[kBlock];
  int64_t position = 0;
  int64_t written = 0;
  char *const base[] = {bytesOf(mask)};
  nest.forRows(base, 0, nest.rowCount(), [&](char *const *at) {
    const uint8_t *row = reinterpret_cast<const uint8_t *>(at[0]);
    int64_t length = nest.rowLength();
    for (int64_t begin = 0; begin < length; begin += kBlock) {
      if (begin % kLongPiece == 0 && length >= kLongPiece && shouldStop()) {
        return;
      }
      int64_t blockLength = std::min(kBlock, length - begin);
      for (int64_t i = 0; i < blockLength; ++i) {
        numbers[i] = position + begin + i;
      }
      MaskedSequence block{numbers, sizeof(int64_t), row + begin * nest.rowStride(0),
                           nest.rowStride(0), blockLength};
      written += compact(block, positions + written, count - written);
    }
    position += length;
  });
}

} // namespace kernels

int64_t countTrue(const KernelContext &context, const TensorView &mask) {
  using namespace kernels;
  if (isEmpty(mask)) {
    return 0;
  }
  auto count = kernelCores(context.target).countTrue;
  LoopNest nest(mask.shape, {&mask.strides});
  nest.preferLongRows();
  std::atomic<int64_t> total{0};
  runNest(context, nest, {mask.data}, kCountNanoseconds, [&](char *const *at, int64_t length) {
    total.fetch_add(count(reinterpret_cast<const uint8_t *>(at[0]), nest.rowStride(0), length),
                    std::memory_order_relaxed);
  });
  return total.load(std::memory_order_relaxed);
}

} // namespace tracert
