/// Masks as sequences: counting, compaction, positions.
///
///   compactMasked(context, values, mask, output, count);
#pragma once

#include "kernels/Families.h"

namespace tracert::kernels {

/// Packs the elements of `values` where `mask` (same shape) is true to `output`, in C order.
/// `count` is how many are true; nothing beyond them is written.
Status compactMasked(const KernelContext &context, const TensorView &values, const TensorView &mask,
                     void *output, int64_t count);

/// The flat C-order positions of the true elements; room for `count` of them, which is all.
void writePositions(const KernelContext &context, const TensorView &mask, int64_t *positions,
                    int64_t count);

} // namespace tracert::kernels
