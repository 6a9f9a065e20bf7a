/// Type rules of pointwise ops and of cast.
#pragma once

#include "ops/TypeRules.h"

namespace tracert::rules {

template <class M>
TypesOr<M> pointwiseTypes(const M &math, const OpCall &call, OperandsOf<M> operands) {
  OpFamily family = call.info().family;
  bool isSelect = family == OpFamily::Select;
  if (isSelect && operands[0].type.dtype != DType::Bool) {
    return Status::invalidType(opPrefix(call) + "condition must be bool, got " +
                               std::string(dtypeName(operands[0].type.dtype)));
  }
  OperandsOf<M> values = isSelect ? operands.subspan(1) : operands;
  TRACERT_TRY(checkSameDType(call, values));
  TRACERT_TRY(checkAllowedDType(call, values[0].type.dtype));
  typename M::Shape shape = operands[0].type.shape;
  for (const typename M::Operand &operand : operands.subspan(1)) {
    if (operand.type.shape == shape) {
      continue;
    }
    std::optional<typename M::Shape> joined = broadcastOf(math, shape, operand.type.shape);
    if (!joined) {
      return notBroadcasting(call.info().name, math.text(shape), math.text(operand.type.shape));
    }
    shape = std::move(*joined);
  }
  bool isPredicate = family == OpFamily::Compare || family == OpFamily::Logical;
  return typename M::Types{{isPredicate ? DType::Bool : values[0].type.dtype, std::move(shape)}};
}

template <class M> TypesOr<M> castTypes(const M &, const OpCall &call, OperandsOf<M> operands) {
  TRACERT_TRY(checkAllowedDType(call, operands[0].type.dtype));
  return typename M::Types{{attrs::cast::dtype(call), operands[0].type.shape}};
}

/// The value of arithmetic on sizes, as far as it is arithmetic of integers: what a program
/// computes new sizes with.
template <class M>
std::optional<typename M::Dim> pointwiseValue(const M &math, const OpCall &call,
                                              OperandsOf<M> operands) {
  for (const typename M::Operand &operand : operands) {
    if (operand.type.dtype != DType::Int64 || operand.type.rank() != 0 || !operand.sizeValue) {
      return std::nullopt;
    }
  }
  switch (call.kind) {
  case OpKind::add:
    return math.sum(*operands[0].sizeValue, *operands[1].sizeValue);
  case OpKind::sub:
    return math.difference(*operands[0].sizeValue, *operands[1].sizeValue);
  case OpKind::mul:
    return math.times(*operands[0].sizeValue, *operands[1].sizeValue);
  case OpKind::minimum:
    return math.smaller(*operands[0].sizeValue, *operands[1].sizeValue);
  case OpKind::maximum:
    return math.larger(*operands[0].sizeValue, *operands[1].sizeValue);
  default:
    return std::nullopt;
  }
}

} // namespace tracert::rules
