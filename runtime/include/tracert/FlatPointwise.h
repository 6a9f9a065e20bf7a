/// The shortest way to a pointwise kernel, for eager code on small tensors.
///
///   FlatOperand operands[] = {{x, 4}, {y, 0}};
///   runFlatPointwise(context, OpKind::add, DType::Float32, operands, out, 4, count);
#pragma once

#include "tracert/Kernels.h"

namespace tracert {

struct FlatOperand {
  const void *data;
  /// Bytes between elements: the element size, or 0 when one element repeats.
  int64_t stride;
};

/// Elements up to which the call is not worth splitting over threads.
inline constexpr int64_t kMaxFlatElements = 1024;

/// An op of family Elementwise, Compare or Logical on `count` elements of operands of one dtype
/// that the op allows; the result is contiguous. On the calling thread.
TRACERT_API void runFlatPointwise(const KernelContext &context, OpKind kind, DType dtype,
                                  std::span<const FlatOperand> operands, void *result,
                                  int64_t resultStride, int64_t count);

} // namespace tracert
