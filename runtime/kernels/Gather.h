/// Moving elements between a dense array over the indexed shape and the places an index selects.
///
///   gatherSelected(context, selection, result);
///
/// The indexed shape is (axes before, axes of the index arrays, axes after).
#pragma once

#include "kernels/IndexSelection.h"

namespace tracert::kernels {

/// Reads the selected elements; `result` is contiguous and of the indexed shape.
void gatherSelected(const KernelContext &context, const IndexSelection &selection,
                    const TensorView &result);

/// Writes `value`, which has the indexed shape (any strides), to the selected elements. Positions
/// are visited in C order, so the last of equal ones wins; with `update` (OpInfo::update) each
/// element is combined with the value instead, once for every position that names it.
Status scatterSelected(const KernelContext &context, const IndexSelection &selection,
                       TensorView value, std::optional<OpKind> update);

/// The most common read, one index array and elements of one axis, in one pass: result[j] =
/// base[index[j]]. False when an index is out of range; the result is of no use then.
bool gatherElements(const KernelContext &context, const IndexAccess &access,
                    const TensorView &result);
/// Whether gatherElements can do it.
bool isElementGather(const IndexAccess &access);

} // namespace tracert::kernels
