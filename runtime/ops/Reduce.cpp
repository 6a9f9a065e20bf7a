#include "ops/rules/Reduce.h"

namespace tracert {
Result<int64_t> inferSizeValue(const OpCall &call, std::span<const OperandInfo> operands) {
  if (!call.info().has(kTraitSizeOnly)) {
    return Status::internal(rules::opPrefix(call) + "is not a size");
  }
  TRACERT_ASSIGN(ResultTypes types, inferTypes(call, operands));
  if (call.info().family == OpFamily::Guard) {
    return 0;
  }
  const Dims &shape = operands[0].type.shape;
  std::optional<int64_t> product = rules::sizeValue(rules::NumberMath(), call, operands);
  if (!product) {
    return Status::invalidArgument(rules::opPrefix(call) + "of shape " + shapeString(shape) +
                                   " does not fit int64");
  }
  if (rules::isUnknown(*product)) {
    return Status::internal(rules::opPrefix(call) + "of shape " + shapeString(shape) +
                            " was asked before it is known");
  }
  return *product;
}

} // namespace tracert
