/// Type rule of matmul.
#pragma once

#include "ops/TypeRules.h"

namespace tracert::rules {

template <class M>
TypesOr<M> matmulTypes(const M &math, const OpCall &call, OperandsOf<M> operands) {
  using Shape = typename M::Shape;
  TRACERT_TRY(checkSameDType(call, operands));
  const Shape &lhs = operands[0].type.shape;
  const Shape &rhs = operands[1].type.shape;
  if (lhs.empty() || rhs.empty()) {
    return Status::invalidArgument(opPrefix(call) + "operands must have at least one axis, got " +
                                   math.text(lhs) + " and " + math.text(rhs));
  }
  typename M::Dim lhsInner = lhs.back();
  typename M::Dim rhsInner = rhs.size() == 1 ? rhs[0] : rhs[rhs.size() - 2];
  if (math.refusesEqual(lhsInner, rhsInner)) {
    return Status::invalidArgument(opPrefix(call) + "operands of shape " + math.text(lhs) +
                                   " and " + math.text(rhs) +
                                   " do not match: " + math.text(lhsInner) + " columns against " +
                                   math.text(rhsInner) + " rows");
  }
  // An axis is added to a rank-1 operand and taken out of the result again.
  Shape lhsBatch(lhs.begin(), lhs.end() - std::min<size_t>(2, lhs.size()));
  Shape rhsBatch(rhs.begin(), rhs.end() - std::min<size_t>(2, rhs.size()));
  std::optional<Shape> shape = broadcastOf(math, lhsBatch, rhsBatch);
  if (!shape) {
    return notBroadcasting(call.info().name, math.text(lhsBatch), math.text(rhsBatch));
  }
  if (lhs.size() > 1) {
    shape->push_back(lhs[lhs.size() - 2]);
  }
  if (rhs.size() > 1) {
    shape->push_back(rhs.back());
  }
  return typename M::Types{{operands[0].type.dtype, std::move(*shape)}};
}

} // namespace tracert::rules
