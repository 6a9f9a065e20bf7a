#include "ops/TypeRules.h"

namespace tracert::rules {

Result<ResultTypes> matmulTypes(const OpCall &call, Operands operands) {
  TRACERT_TRY(checkSameDType(call, operands));
  TRACERT_TRY(checkAllowedDType(call, operands[0].type.dtype));
  const Dims &lhs = operands[0].type.shape;
  const Dims &rhs = operands[1].type.shape;
  if (lhs.empty() || rhs.empty()) {
    return Status::invalidArgument(opPrefix(call) + "operands must have at least one axis, got " +
                                   shapeString(lhs) + " and " + shapeString(rhs));
  }
  int64_t lhsInner = lhs.back();
  int64_t rhsInner = rhs.size() == 1 ? rhs[0] : rhs[rhs.size() - 2];
  if (lhsInner != rhsInner && !isUnknown(lhsInner) && !isUnknown(rhsInner)) {
    return Status::invalidArgument(opPrefix(call) + "operands of shape " + shapeString(lhs) +
                                   " and " + shapeString(rhs) +
                                   " do not match: " + std::to_string(lhsInner) +
                                   " columns against " + std::to_string(rhsInner) + " rows");
  }
  // An axis is added to a rank-1 operand and taken out of the result again.
  Dims lhsBatch(lhs.begin(), lhs.end() - std::min<size_t>(2, lhs.size()));
  Dims rhsBatch(rhs.begin(), rhs.end() - std::min<size_t>(2, rhs.size()));
  TRACERT_ASSIGN(Dims shape, broadcastShapes(call.info().name, lhsBatch, rhsBatch));
  if (lhs.size() > 1) {
    shape.push_back(lhs[lhs.size() - 2]);
  }
  if (rhs.size() > 1) {
    shape.push_back(rhs.back());
  }
  return ResultTypes{{operands[0].type.dtype, std::move(shape)}};
}

} // namespace tracert::rules
