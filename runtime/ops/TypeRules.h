/// The type rule of each op family, called by inferTypes after operand counts and attribute kinds
/// have been checked; inferTypes checks limits of the result.
///
///   return reduceTypes(call, operands);
#pragma once

#include "ops/ShapeMath.h"

namespace tracert::rules {

/// The counts of data-dependent ops; absent while they are unknown.
using Counts = std::optional<std::span<const int64_t>>;

Result<ResultTypes> pointwiseTypes(const OpCall &call, Operands operands);
Result<ResultTypes> castTypes(const OpCall &call, Operands operands);
Result<ResultTypes> reduceTypes(const OpCall &call, Operands operands);
Result<ResultTypes> sizeTypes(const OpCall &call, Operands operands);
Result<ResultTypes> shapeTypes(const OpCall &call, Operands operands);
Result<ResultTypes> joinTypes(const OpCall &call, Operands operands);
Result<ResultTypes> createTypes(const OpCall &call, Operands operands);
Result<ResultTypes> matmulTypes(const OpCall &call, Operands operands);
Result<ResultTypes> indexingTypes(const OpCall &call, Operands operands, Counts counts);
Result<ResultTypes> compressTypes(const OpCall &call, Operands operands, Counts counts);
Result<ResultTypes> guardTypes(const OpCall &call, Operands operands);

/// Views of the Shape and Indexing families.
Result<std::optional<TensorView>> shapeView(const OpCall &call, const TensorView &operand,
                                            std::span<const int64_t> sizeOperands);
Result<std::optional<TensorView>> subtensorView(const OpCall &call, const TensorView &operand,
                                                std::span<const int64_t> extras);

/// NumPy's rule: the strides with which `from` can be seen under `shape`, of as many elements;
/// nullopt when one stride per axis is not enough and a reshape must copy.
std::optional<Dims> reshapedStrides(const TensorView &from, const Dims &shape);

/// InvalidType unless all operands have the first one's dtype.
Status checkSameDType(const OpCall &call, Operands operands);
/// InvalidType unless the op takes `dtype`.
Status checkAllowedDType(const OpCall &call, DType dtype);
/// Ascending, without repeats, below `rank`: AxisOutOfRange or InvalidArgument otherwise.
Status checkAxes(const OpCall &call, const Dims &axes, size_t rank);

} // namespace tracert::rules
