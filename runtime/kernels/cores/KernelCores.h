/// KernelCores.h: the inner loops of all kernels, one table per ISA level.
///
///   const KernelCores &cores = kernelCores(bestTarget());
///   cores.elementwise[elementwiseOpIndex("add")][int(DType::Float32)](inputs, strides, out, 4, n);
///
/// Every function is pure: raw pointers, byte strides (any value, zero and negative included),
/// sizes in elements, no allocation, threads, locks or exceptions; what it needs is passed in or
/// fits on the stack (below 160 KiB). Results follow scalar/Numbers.md, so all levels give equal
/// bits. The caller is in the numeric mode (scalar/FloatMode.h). Data is aligned to its element
/// size. A null entry means the op does not exist for the dtype. Tables by dtype are indexed by its
/// number.
#pragma once

#include "tracert/DType.h"
#include "tracert/RunControl.h"
#include "tracert/Target.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tracert {

/// output[i] = op(inputs[0][i], ...) for i < count. The output may be one of the inputs (same
/// pointer and stride) and must not overlap them otherwise.
using ElementwiseLoop = void (*)(const void *const *inputs, const int64_t *inputStrides,
                                 void *output, int64_t outputStride, int64_t count);

/// A nest of reduced axes, outermost first: sizes in elements, strides in bytes. Rank 0 is one
/// element. The elements of a sequence are visited in C order.
struct ReducedAxes {
  int32_t rank = 0;
  const int64_t *sizes = nullptr;
  const int64_t *strides = nullptr;
  /// Null, or looked at every blocksBetweenChecks blocks; then results are of no use.
  const RunControl *control = nullptr;
};
/// 65,536 elements.
inline constexpr int64_t blocksBetweenChecks = 16;

/// One axis that is kept: how many outputs, and the byte steps between them.
struct KeptAxis {
  int64_t count = 1;
  int64_t inputStride = 0;
  int64_t outputStride = 0;
};

/// One reduction for one input dtype. Results have the dtype of the op's record. A partial is an
/// element of the accumulator's dtype (ReductionInfo::accumulator); of an indexed reduction it is
/// an element and its position.
struct ReduceCores {
  /// Bytes of one partial.
  int64_t partialSize;
  /// Inner order: partials of the blocks [blockBegin, blockEnd) of one sequence, one per block of
  /// ReductionOrder::blockLength elements. Threads take disjoint ranges of blocks.
  void (*blocks)(const void *data, const ReducedAxes &axes, int64_t blockBegin, int64_t blockEnd,
                 void *partials);
  /// Joins all partials of a sequence into one result. No blocks give what the record says of an
  /// empty reduction, which must not be an error.
  void (*combine)(const void *partials, int64_t blockCount, void *result);
  /// Inner order, many sequences: one result per row.
  void (*rows)(const void *data, const ReducedAxes &axes, const KeptAxis &rows, void *output);
  /// Outer order: one result per column. Any range of columns may be given to any thread.
  void (*columns)(const void *data, const ReducedAxes &axes, const KeptAxis &columns, void *output);
};

/// An element that a scatter leaves out, as an offset.
inline constexpr int64_t kDroppedOffset = INT64_MIN;

/// For j = 0 to count - 1, in order: the element at target + offsets[j] becomes op(that element,
/// values[j]). Strides and offsets in bytes; the values lie elsewhere.
using UpdateLoop = void (*)(const void *values, int64_t valueStride, char *target,
                            const int64_t *offsets, int64_t count);

/// A masked sequence: element i counts if mask[i] is not zero. Strides in bytes.
struct MaskedSequence {
  const void *values;
  int64_t valueStride;
  const uint8_t *mask;
  int64_t maskStride;
  int64_t count;
};

/// C = A x B; strides in bytes, any of them may be zero or negative except those of C.
struct MatmulArgs {
  const void *a;
  const void *b;
  void *c;
  int64_t rows, columns, depth;
  int64_t aRowStride, aDepthStride;
  int64_t bDepthStride, bColumnStride;
  int64_t cRowStride, cColumnStride;
  /// Null, or looked at for each panel of columns (of a product of one column every
  /// blocksBetweenChecks blocks); then C is of no use.
  const RunControl *control;
};

struct MatmulCores {
  /// Computes rows [rowBegin, rowEnd) x columns [columnBegin, columnEnd) of C over the whole depth.
  /// Scratch: matmulScratchBytes(...), aligned to 64, one per thread.
  void (*tile)(const MatmulArgs &args, int64_t rowBegin, int64_t rowEnd, int64_t columnBegin,
               int64_t columnEnd, void *scratch);
  /// Enough for every tile of a problem of this size.
  int64_t (*scratchBytes)(int64_t rows, int64_t columns, int64_t depth);
  /// Splits of rows and columns cost least at multiples of these.
  int64_t rowGrain, columnGrain;
};

/// A product whose result has one column (MatmulArgs.columns == 1; the column strides are not
/// read): sums in the inner order, accumulated by fma. Partials are float for float16, else of the
/// operands' dtype.
struct MatrixVectorCores {
  /// Bytes of one partial.
  int64_t partialSize;
  /// Rows [rowBegin, rowEnd) over the whole depth.
  void (*rows)(const MatmulArgs &args, int64_t rowBegin, int64_t rowEnd);
  /// Partials of the blocks [blockBegin, blockEnd) of one row's depth, one per block of
  /// ReductionOrder::blockLength elements. Threads take disjoint ranges of blocks.
  void (*blocks)(const MatmulArgs &args, int64_t row, int64_t blockBegin, int64_t blockEnd,
                 void *partials);
  /// Joins all partials of a row into one result; zero if there is none.
  void (*combine)(const void *partials, int64_t blockCount, void *result);
  /// Splits of rows cost least at multiples of this.
  int64_t rowGrain;
};

/// How many lines ElementwiseOps.inc has; the index of an op is its line's position, where and
/// cast included (their loops are in `select` and `cast`).
inline constexpr int elementwiseOpCount = 0
#define TRACERT_ELEMENTWISE(name, arity, result, dtypes) +1
#define TRACERT_SELECT(name) +1
#define TRACERT_CAST(name) +1
#include "tracert/generated/ElementwiseOps.inc"
#undef TRACERT_ELEMENTWISE
#undef TRACERT_SELECT
#undef TRACERT_CAST
    ;

inline constexpr int reductionCount = 0
#define TRACERT_REDUCTION(...) +1
#include "tracert/generated/Reductions.inc"
#undef TRACERT_REDUCTION
    ;

/// -1 for a name that is no elementwise op.
int elementwiseOpIndex(std::string_view name);

struct KernelCores {
  Target target;
  ElementwiseLoop elementwise[elementwiseOpCount][kDTypeLimit];
  /// where(condition: bool, whenTrue, whenFalse), by the dtype of the latter.
  ElementwiseLoop select[kDTypeLimit];
  /// [from][to]
  ElementwiseLoop cast[kDTypeLimit][kDTypeLimit];
  /// By OpInfo::elementwiseIndex of the op that combines; null for ops that no set does so with.
  UpdateLoop update[elementwiseOpCount][kDTypeLimit];
  /// By ReductionInfo::index and the operand's dtype.
  ReduceCores reduce[reductionCount][kDTypeLimit];
  /// For products of two columns and more, and of none.
  MatmulCores matmul[kDTypeLimit];
  MatrixVectorCores matrixVector[kDTypeLimit];
  /// Bytes that are not zero.
  int64_t (*countTrue)(const uint8_t *mask, int64_t maskStride, int64_t count);
  /// Packs the selected values of 1, 2, 4 or 8 bytes (index log2) to `output`; returns how many.
  /// `capacity` is how many the output can hold, at least as many as are selected; 64 more than
  /// that lets every store be a full vector.
  int64_t (*compact[4])(const MaskedSequence &sequence, void *output, int64_t capacity);
};

/// `target` must be one that this machine supports. All levels of aarch64 share one table.
TRACERT_API const KernelCores &kernelCores(Target target);

} // namespace tracert
