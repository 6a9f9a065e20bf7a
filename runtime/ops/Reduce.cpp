#include "ops/rules/Reduce.h"

namespace tracert {
namespace rules {

/// sum: bool and integers in int64. mean: integers in float32, int64 in float64. max: unchanged.
DType reducedDType(const OpCall &call, DType dtype) {
  if (call.kind == OpKind::max || isFloat(dtype)) {
    return dtype;
  }
  if (call.kind == OpKind::sum) {
    return accumulateDType(dtype);
  }
  return dtype == DType::Int64 ? DType::Float64 : DType::Float32;
}

bool hasNoEmptyValue(const OpCall &call) { return call.kind == OpKind::max; }

} // namespace rules

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
