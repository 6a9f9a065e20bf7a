/// Library kernels: every op that is not composite, for every dtype it allows, at each level of the
/// processor, with equal bits. Eager calls them for each op; the executor for the portable section
/// and for the ops of a native section that are not inside a compiled kernel.
///
///   KernelContext context{.pool = &pool, .target = bestTarget()};
///   TRACERT_TRY(runKernel(context, call, operandViews, resultViews));
///
/// Operands may have any strides (also zero and negative). Results are contiguous fresh memory of
/// exactly the type that inferTypes gave, not overlapping operands, except for kTraitSet ops, where
/// result 0 may BE operand 0's memory (in place) or be fresh memory that the kernel fills first.
/// Kernels check data-dependent values (indices) before their first write.
#pragma once

#include "tracert/Export.h"
#include "tracert/OpRules.h"
#include "tracert/Target.h"

namespace tracert {

class ThreadPool;
class Allocator;

enum class IndexMode : uint8_t {
  /// Out of range is IndexOutOfRange before any write.
  Checked,
  /// Reads wrap negatives then clamp; writes out of range are dropped.
  Unchecked,
};

struct KernelContext {
  /// Null: run on the calling thread only.
  ThreadPool *pool = nullptr;
  Target target = kPortable;
  /// For scratch memory (packing, temporaries of overlapping sets). Never null.
  Allocator *allocator = nullptr;
  IndexMode indexMode = IndexMode::Checked;
};

TRACERT_API Status runKernel(const KernelContext &context, const OpCall &call,
                             std::span<const TensorView> operands,
                             std::span<const TensorView> results);

/// How many elements of a bool view are true.
TRACERT_API int64_t countTrue(const KernelContext &context, const TensorView &mask);

/// One result of a reduction that is not indexed: the partials of its blocks (elements of the
/// accumulator's dtype, aligned to their size) joined in the fixed order. Without blocks, what the
/// record says of none, which must not be an error.
TRACERT_API void joinReductionPartials(const ReductionInfo &reduction, DType operand,
                                       const void *partials, int64_t blockCount, void *result);

/// The counts that inferTypesWithCounts wants, read from the operands of a data-dependent op.
TRACERT_API Result<std::vector<int64_t>>
readCounts(const KernelContext &context, const OpCall &call, std::span<const TensorView> operands);

/// Copies between views of one shape and dtype, any strides; contiguous copies use the pool.
TRACERT_API void copyView(const KernelContext &context, const TensorView &from,
                          const TensorView &to);

} // namespace tracert
