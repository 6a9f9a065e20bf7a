/// The type rule of every op family, and the rules of values that are sizes.
///
///   TRACERT_ASSIGN(ResultTypes types, familyTypes(NumberMath(), call, operands));
///
/// The caller has checked attribute kinds, the operand count and that each operand has a dtype of
/// its set. A family's rule gives shapes; it may leave the dtypes of results at any, since they
/// follow from the record.
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

/// The rule of the call's family, found by the name that the family's record gives.
template <class M>
TypesOr<M> shapesByFamily(const M &math, const OpCall &call, OperandsOf<M> operands) {
  switch (call.info().family) {
#define TRACERT_FAMILY(name, typeRule, ...)                                                        \
  case OpFamily::name:                                                                             \
    return typeRule(math, call, operands);
#include "generated/Families.inc"
#undef TRACERT_FAMILY
  }
  return Status::internal(opPrefix(call) + "has no type rule");
}

template <class M>
TypesOr<M> familyTypes(const M &math, const OpCall &call, OperandsOf<M> operands) {
  TypesOr<M> types = shapesByFamily(math, call, operands);
  for (size_t i = 0; types.ok() && i < types->size(); ++i) {
    (*types)[i].dtype = resultDType<M>(call, operands, i);
  }
  return types;
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
