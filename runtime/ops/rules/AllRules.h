/// The type rule of every op family, and the rules of values that are sizes.
///
///   TRACERT_ASSIGN(ResultTypes types, familyTypes(NumberMath(), call, operands));
///
/// The caller has checked attribute kinds and the operand count.
#pragma once

#include "ops/rules/Compress.h"
#include "ops/rules/Create.h"
#include "ops/rules/Elementwise.h"
#include "ops/rules/Indexing.h"
#include "ops/rules/Join.h"
#include "ops/rules/Matmul.h"
#include "ops/rules/Reduce.h"
#include "ops/rules/Shape.h"

namespace tracert::rules {

template <class M>
TypesOr<M> guardTypes(const M &math, const OpCall &call, OperandsOf<M> operands) {
  TRACERT_TRY(math.checkGuard(call, operands));
  return typename M::Types{{DType::Int64, {}}};
}

template <class M>
TypesOr<M> familyTypes(const M &math, const OpCall &call, OperandsOf<M> operands) {
  switch (call.info().family) {
  case OpFamily::Elementwise:
  case OpFamily::Compare:
  case OpFamily::Logical:
  case OpFamily::Select:
    return pointwiseTypes(math, call, operands);
  case OpFamily::Cast:
    return castTypes(math, call, operands);
  case OpFamily::Reduce:
    return reduceTypes(math, call, operands);
  case OpFamily::Shape:
    return shapeTypes(math, call, operands);
  case OpFamily::Join:
    return joinTypes(math, call, operands);
  case OpFamily::Create:
    return createTypes(math, call, operands);
  case OpFamily::Matmul:
    return matmulTypes(math, call, operands);
  case OpFamily::Indexing:
    return indexingTypes(math, call, operands);
  case OpFamily::Compress:
    return compressTypes(math, call, operands);
  case OpFamily::Size:
    return sizeTypes(math, call, operands);
  case OpFamily::Guard:
    return guardTypes(math, call, operands);
  }
  return Status::internal(opPrefix(call) + "has no type rule");
}

/// The number that the op's one result is, when it is a number that follows from sizes.
template <class M>
std::optional<typename M::Dim> valueOf(const M &math, const OpCall &call, OperandsOf<M> operands) {
  if (call.info().family == OpFamily::Size) {
    return sizeValue(math, call, operands);
  }
  return call.info().isPointwise() ? pointwiseValue(math, call, operands) : std::nullopt;
}

} // namespace tracert::rules
