/// Functions whose result is a view when it can be: reshape, permute and what is made of subtensor.
///
///   return wrapResult(permuteTensor(tensor, axes));
///
/// Axes may be negative; AxisOutOfRange and InvalidArgument (repeated axes) otherwise.
#pragma once

#include "tracec/Functional.h"

#include <optional>

namespace tracec::python {

Result<Tensor> reshapeTensor(const Tensor &x, std::span<const SizeArg> sizes);
Result<Tensor> broadcastTensor(const Tensor &x, std::span<const SizeArg> sizes);
/// nullopt reverses the axes.
Result<Tensor> permuteTensor(const Tensor &x, const std::optional<Dims> &axes);
Result<Tensor> swapAxes(const Tensor &x, int64_t first, int64_t second);
Result<Tensor> moveAxes(const Tensor &x, const Dims &from, const Dims &to);
/// nullopt: all axes of size 1.
Result<Tensor> squeezeAxes(const Tensor &x, const std::optional<Dims> &axes);
/// `axes` are positions in the result.
Result<Tensor> expandAxes(const Tensor &x, const Dims &axes);
Result<Tensor> flipAxes(const Tensor &x, const std::optional<Dims> &axes);
/// The last two axes exchanged.
Result<Tensor> transposeMatrix(const Tensor &x);

} // namespace tracec::python
