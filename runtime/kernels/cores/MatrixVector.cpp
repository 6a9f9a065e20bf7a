#include "CoreTables.h"
#include "DotBlock.h"
#include "DtypeTags.h"

// A product of one column: each output is a sum in the inner order whose terms are products.

namespace tracert::TRACERT_ISA {
namespace {

constexpr int64_t blockLength = scalar::ReductionOrder::blockLength;

TRACERT_INLINE int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

template <class D> struct MatrixVector {
  using Dot = DotOf<D>;
  using Stored = typename Dot::Stored;
  using Partial = typename Dot::Partial;
  static constexpr int64_t size = sizeof(Stored);

  /// `count` elements from `source` on; copied to `buffer` unless they are contiguous.
  static const Stored *contiguous(const char *source, int64_t stride, int64_t count,
                                  Stored *buffer) {
    if (stride == size) {
      return reinterpret_cast<const Stored *>(source);
    }
    for (int64_t i = 0; i < count; ++i) {
      std::memcpy(buffer + i, source + i * stride, size_t(size));
    }
    return buffer;
  }

  /// One block of the depth, from element k on, for up to dotRowGroup rows.
  static void block(const MatmulArgs &args, int64_t row, int64_t rowCount, int64_t k,
                    const Stored *column, Stored *buffer, Partial *partials) {
    int64_t count = smaller(blockLength, args.depth - k);
    const char *a =
        static_cast<const char *>(args.a) + row * args.aRowStride + k * args.aDepthStride;
    if (args.aDepthStride == size) {
      Dot::rows(a, args.aRowStride, rowCount, column, count, partials);
      return;
    }
    // For a few rows whole registers of them do not pay.
    if (args.aRowStride == size && rowCount >= 4) {
      Dot::transposed(a, args.aDepthStride, rowCount, column, count, partials);
      return;
    }
    for (int64_t i = 0; i < rowCount; ++i, a += args.aRowStride) {
      const Stored *copy = contiguous(a, args.aDepthStride, count, buffer);
      Dot::rows(reinterpret_cast<const char *>(copy), 0, 1, column, count, partials + i);
    }
  }

  static void rows(const MatmulArgs &args, int64_t rowBegin, int64_t rowEnd) {
    Stored columnBuffer[blockLength], rowBuffer[blockLength];
    const auto *b = static_cast<const char *>(args.b);
    const Stored *column = nullptr;
    for (int64_t row = rowBegin; row < rowEnd; row += dotRowGroup) {
      int64_t rowCount = smaller(dotRowGroup, rowEnd - row);
      typename Dot::Total totals[dotRowGroup];
      for (int64_t k = 0; k < args.depth; k += blockLength) {
        if (args.control && k > 0 && k % (blocksBetweenChecks * blockLength) == 0 &&
            args.control->shouldStop()) {
          return;
        }
        // With one block only, all rows use the first copy.
        if (!column || args.depth > blockLength) {
          column = contiguous(b + k * args.bDepthStride, args.bDepthStride,
                              smaller(blockLength, args.depth - k), columnBuffer);
        }
        Partial partials[dotRowGroup];
        block(args, row, rowCount, k, column, rowBuffer, partials);
        for (int64_t i = 0; i < rowCount; ++i) {
          totals[i].push(partials[i]);
        }
      }
      char *c = static_cast<char *>(args.c) + row * args.cRowStride;
      for (int64_t i = 0; i < rowCount; ++i, c += args.cRowStride) {
        Stored result = totals[i].finish();
        std::memcpy(c, &result, sizeof(result));
      }
    }
  }

  static void blocks(const MatmulArgs &args, int64_t row, int64_t blockBegin, int64_t blockEnd,
                     void *partials) {
    Stored columnBuffer[blockLength], rowBuffer[blockLength];
    auto *next = static_cast<Partial *>(partials);
    for (int64_t k = blockBegin * blockLength; k < smaller(args.depth, blockEnd * blockLength);
         k += blockLength) {
      const Stored *column =
          contiguous(static_cast<const char *>(args.b) + k * args.bDepthStride, args.bDepthStride,
                     smaller(blockLength, args.depth - k), columnBuffer);
      block(args, row, 1, k, column, rowBuffer, next++);
    }
  }

  static void combine(const void *partials, int64_t blockCount, void *result) {
    typename Dot::Total total;
    for (int64_t block = 0; block < blockCount; ++block) {
      total.push(static_cast<const Partial *>(partials)[block]);
    }
    *static_cast<Stored *>(result) = total.finish();
  }

  static MatrixVectorCores cores() {
    return {int64_t(sizeof(Partial)), rows, blocks, combine, dotRowGroup};
  }
};

} // namespace

void fillMatrixVectorCores(KernelCores &cores) {
#define TRACERT_FILL_MATRIX_VECTOR(d, ...)                                                         \
  cores.matrixVector[dtypeIndex<scalar::dtype::d>] = MatrixVector<scalar::dtype::d>::cores();
  TRACERT_FOR_AllDTypes(TRACERT_FILL_MATRIX_VECTOR, )
}

} // namespace tracert::TRACERT_ISA
