#include "kernels/Families.h"
#include "kernels/LoopNest.h"
#include "kernels/Scratch.h"

#include <atomic>
#include <cstring>

namespace tracert::kernels {
namespace {

/// How the rows and columns of one product are cut for threads.
struct Tiling {
  int64_t rowParts = 1;
  int64_t columnParts = 1;
  int64_t rowsPerPart = 0;
  int64_t columnsPerPart = 0;
  int64_t count() const { return rowParts * columnParts; }
};

int64_t roundUp(int64_t value, int64_t grain) { return (value + grain - 1) / grain * grain; }
int64_t partsOf(int64_t size, int64_t part) { return (size + part - 1) / part; }

/// One part per thread along the longer side: each part packs what it reads.
Tiling tilingOf(const MatmulArgs &args, const MatmulCores &cores, int64_t wantedParts) {
  Tiling tiling{1, 1, args.rows, args.columns};
  if (wantedParts <= 1) {
    return tiling;
  }
  if (args.rows / cores.rowGrain >= args.columns / cores.columnGrain) {
    tiling.rowsPerPart = roundUp(partsOf(args.rows, wantedParts), cores.rowGrain);
    tiling.rowParts = partsOf(args.rows, tiling.rowsPerPart);
    return tiling;
  }
  tiling.columnsPerPart = roundUp(partsOf(args.columns, wantedParts), cores.columnGrain);
  tiling.columnParts = partsOf(args.columns, tiling.columnsPerPart);
  return tiling;
}

/// Byte strides of the leading axes, broadcast onto the batch.
Dims batchStrides(const TensorView &view, const Dims &batch) {
  TensorView leading{nullptr, view.dtype, Dims(view.shape.begin(), view.shape.end() - 2),
                     Dims(view.strides.begin(), view.strides.end() - 2)};
  return broadcastView(leading, batch).strides;
}

} // namespace

Status runMatmul(const KernelContext &context, const OpCall &call, Views operands, Views results) {
  TensorView a = operands[0];
  TensorView b = operands[1];
  TensorView c = results[0];
  if (c.elementCount() == 0) {
    return {};
  }
  // Rank-1 operands get the axis of size 1 that NumPy gives them; so does the result.
  if (b.rank() == 1) {
    b.shape.push_back(1);
    b.strides.push_back(itemBytes(b.dtype));
    c.shape.push_back(1);
    c.strides.push_back(itemBytes(c.dtype));
  }
  if (a.rank() == 1) {
    a.shape.insert(0, 1);
    a.strides.insert(0, 0);
    c.shape.insert(c.rank() - 1, 1);
    c.strides.insert(c.strides.size() - 1, 0);
  }
  size_t rank = c.rank();
  MatmulArgs args{};
  args.rows = c.shape[rank - 2];
  args.columns = c.shape[rank - 1];
  args.depth = a.shape.back();
  if (args.depth == 0) {
    // An empty chain is +0.0 or 0: no bit is set in either.
    std::memset(c.data, 0, static_cast<size_t>(c.elementCount() * itemBytes(c.dtype)));
    return {};
  }
  args.aRowStride = a.strides[a.rank() - 2];
  args.aDepthStride = a.strides.back();
  args.bDepthStride = b.strides[b.rank() - 2];
  args.bColumnStride = b.strides.back();
  args.cRowStride = c.strides[rank - 2];
  args.cColumnStride = c.strides.back();

  Dims batch(c.shape.begin(), c.shape.end() - 2);
  int64_t batchCount = 1;
  for (int64_t size : batch) {
    batchCount *= size;
  }
  Dims aBatch = batchStrides(a, batch);
  Dims bBatch = batchStrides(b, batch);
  Dims cBatch = batchStrides(c, batch);

  const MatmulCores &cores = kernelCores(context.isa).matmul[dtypeNumber(c.dtype)];
  double cost = 0.02 * static_cast<double>(args.rows) * static_cast<double>(args.columns) *
                static_cast<double>(args.depth);
  bool isWorthThreads =
      context.pool && cost * static_cast<double>(batchCount) >= double(kMinParallelNanoseconds);
  int64_t threads = isWorthThreads ? context.pool->threadCount() : 1;
  Tiling tiling = tilingOf(args, cores, batchCount >= threads ? 1 : threads);
  size_t scratchBytes =
      static_cast<size_t>(cores.scratchBytes(args.rows, args.columns, args.depth));
  std::atomic<bool> hasScratch{true};
  runRanges(context, batchCount * tiling.count(), cost / static_cast<double>(tiling.count()),
            [&](int64_t begin, int64_t end) {
              Scratch scratch(context, scratchBytes);
              if (!scratch.data()) {
                hasScratch = false;
                return;
              }
              for (int64_t item = begin; item < end; ++item) {
                int64_t row = item % tiling.count() / tiling.columnParts * tiling.rowsPerPart;
                int64_t column = item % tiling.count() % tiling.columnParts * tiling.columnsPerPart;
                int64_t product = item / tiling.count();
                MatmulArgs part = args;
                part.a = bytesOf(a) + offsetAt(product, batch, aBatch);
                part.b = bytesOf(b) + offsetAt(product, batch, bBatch);
                part.c = bytesOf(c) + offsetAt(product, batch, cBatch);
                cores.tile(part, row, std::min(args.rows, row + tiling.rowsPerPart), column,
                           std::min(args.columns, column + tiling.columnsPerPart), scratch.data());
              }
            });
  return hasScratch ? Status() : outOfScratch(scratchBytes);
}

} // namespace tracert::kernels
