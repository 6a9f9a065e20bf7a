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
/// The dtype of result `index`, by the rule of the op's record.
template <class M> DType resultDType(const OpCall &call, OperandsOf<M> operands, size_t index) {
  switch (call.info().results[index]) {
  case ResultRule::SameAs0:
    return operands[0].type.dtype;
  case ResultRule::SameAs1:
    return operands[1].type.dtype;
  case ResultRule::Bool:
    return DType::Bool;
  case ResultRule::Int64:
    return DType::Int64;
  case ResultRule::Widened: {
    DType dtype = operands[0].type.dtype;
    return isFloat(dtype) ? dtype : accumulateDType(dtype);
  }
  case ResultRule::Averaged:
    return quotientDType(operands[0].type.dtype);
  case ResultRule::FromDType:
    return attrs::dtype(call);
  case ResultRule::FromValue:
    return attrs::value(call).dtype;
  case ResultRule::FromStart:
    return attrs::start(call).dtype;
  }
  return DType::Bool;
}

/// Ascending, without repeats, below `rank`: AxisOutOfRange or InvalidArgument otherwise.
TRACERT_API Status checkAxes(const OpCall &call, const Dims &axes, size_t rank);

} // namespace tracert::rules
