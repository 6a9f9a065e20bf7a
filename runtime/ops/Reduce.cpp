#include "generated/OpAttrs.h"
#include "ops/TypeRules.h"

namespace tracert {
namespace rules {
namespace {

/// sum: bool and integers in int64. mean: integers in float32, int64 in float64. max: unchanged.
DType reducedDType(OpKind kind, DType dtype) {
  if (kind == OpKind::max || isFloat(dtype)) {
    return dtype;
  }
  if (kind == OpKind::sum) {
    return accumulateDType(dtype);
  }
  return dtype == DType::Int64 ? DType::Float64 : DType::Float32;
}

} // namespace

Result<ResultTypes> reduceTypes(const OpCall &call, Operands operands) {
  const TensorType &type = operands[0].type;
  const Dims &axes = attrs::sum::axes(call);
  bool keepdims = attrs::sum::keepdims(call);
  TRACERT_TRY(checkAllowedDType(call, type.dtype));
  TRACERT_TRY(checkAxes(call, axes, type.rank()));
  Dims shape;
  size_t next = 0;
  bool isReducedEmpty = false;
  bool mayHaveResults = true;
  for (size_t axis = 0; axis < type.rank(); ++axis) {
    int64_t dim = type.shape[axis];
    if (next < axes.size() && axes[next] == static_cast<int64_t>(axis)) {
      ++next;
      isReducedEmpty = isReducedEmpty || dim == 0;
      if (keepdims) {
        shape.push_back(1);
      }
      continue;
    }
    mayHaveResults = mayHaveResults && dim > 0;
    shape.push_back(dim);
  }
  // An unknown kept dim may turn out to be 0, so only known results are an error.
  if (call.kind == OpKind::max && isReducedEmpty && mayHaveResults) {
    return Status::invalidArgument(opPrefix(call) + "over an empty axis of shape " +
                                   shapeString(type.shape) + " has no value");
  }
  return ResultTypes{{reducedDType(call.kind, type.dtype), std::move(shape)}};
}

Result<ResultTypes> sizeTypes(const OpCall &call, Operands operands) {
  TRACERT_TRY(checkAxes(call, attrs::axis_size::axes(call), operands[0].type.rank()));
  return ResultTypes{{DType::Int64, {}}};
}

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
  Dims chosen;
  for (int64_t axis : attrs::axis_size::axes(call)) {
    chosen.push_back(shape[static_cast<size_t>(axis)]);
  }
  std::optional<int64_t> product = rules::checkedProduct(chosen);
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
