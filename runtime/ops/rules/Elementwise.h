/// Type rules of pointwise ops and of cast.
#pragma once

#include "ops/TypeRules.h"

namespace tracert::rules {

template <class M>
TypesOr<M> pointwiseTypes(const M &math, const OpCall &call, OperandsOf<M> operands) {
  bool isSelect = call.info().family == OpFamily::Select;
  TRACERT_TRY(checkSameDType(call, isSelect ? operands.subspan(1) : operands));
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
  return typename M::Types{{operands[0].type.dtype, std::move(shape)}};
}

template <class M> TypesOr<M> castTypes(const M &, const OpCall &, OperandsOf<M> operands) {
  return typename M::Types{operands[0].type};
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
#define TRACERT_SIZE_MATH(name, operation)                                                         \
  case OpKind::name:                                                                               \
    return math.operation(*operands[0].sizeValue, *operands[1].sizeValue);
#include "generated/SizeMath.inc"
#undef TRACERT_SIZE_MATH
  default:
    return std::nullopt;
  }
}

} // namespace tracert::rules
