/// What the type rules (rules/<Family>.h) share, and the rules that know numbers only.
///
///   TRACERT_TRY(checkAllowedDType(call, type.dtype));
///
/// inferTypes calls a rule after operand counts and attribute kinds have been checked, and checks
/// limits of the result.
#pragma once

#include "generated/OpAttrs.h"
#include "ops/rules/DimMath.h"

#include <algorithm>

namespace tracert::rules {

using Operands = std::span<const OperandInfo>;

/// Views of the Shape and Indexing families.
Result<std::optional<TensorView>> shapeView(const OpCall &call, const TensorView &operand,
                                            std::span<const int64_t> sizeOperands);
Result<std::optional<TensorView>> subtensorView(const OpCall &call, const TensorView &operand,
                                                std::span<const int64_t> extras);

/// InvalidType: two operands of `call` have dtypes `a` and `b`.
TRACERT_API Status differentDTypes(const OpCall &call, DType a, DType b);
/// InvalidType unless all operands have the first one's dtype.
template <class Operands> Status checkSameDType(const OpCall &call, Operands operands) {
  for (const auto &operand : operands) {
    if (operand.type.dtype != operands[0].type.dtype) {
      return differentDTypes(call, operands[0].type.dtype, operand.type.dtype);
    }
  }
  return {};
}
/// InvalidType unless the op takes `dtype`.
TRACERT_API Status checkAllowedDType(const OpCall &call, DType dtype);
/// Ascending, without repeats, below `rank`: AxisOutOfRange or InvalidArgument otherwise.
TRACERT_API Status checkAxes(const OpCall &call, const Dims &axes, size_t rank);

/// The dtype of a reduction's result.
TRACERT_API DType reducedDType(const OpCall &call, DType dtype);
/// Whether a reduction has nothing to give for an empty axis.
TRACERT_API bool hasNoEmptyValue(const OpCall &call);

} // namespace tracert::rules
