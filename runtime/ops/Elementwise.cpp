#include "ops/TypeRules.h"

namespace tracert::rules {

Result<ResultTypes> pointwiseTypes(const OpCall &call, Operands operands) {
  OpFamily family = call.info().family;
  bool isSelect = family == OpFamily::Select;
  if (isSelect && operands[0].type.dtype != DType::Bool) {
    return Status::invalidType(opPrefix(call) + "condition must be bool, got " +
                               std::string(dtypeName(operands[0].type.dtype)));
  }
  Operands values = isSelect ? operands.subspan(1) : operands;
  TRACERT_TRY(checkSameDType(call, values));
  TRACERT_TRY(checkAllowedDType(call, values[0].type.dtype));
  Dims shape = operands[0].type.shape;
  for (const OperandInfo &operand : operands.subspan(1)) {
    if (operand.type.shape == shape) {
      continue;
    }
    Result<Dims> joined = broadcastShapes(call.info().name, shape, operand.type.shape);
    if (!joined.ok()) {
      return joined.status();
    }
    shape = std::move(*joined);
  }
  bool isPredicate = family == OpFamily::Compare || family == OpFamily::Logical;
  return ResultTypes{{isPredicate ? DType::Bool : values[0].type.dtype, std::move(shape)}};
}

Result<ResultTypes> castTypes(const OpCall &call, Operands operands) {
  TRACERT_TRY(checkAllowedDType(call, operands[0].type.dtype));
  return ResultTypes{{call.attrs[0].asDType(), operands[0].type.shape}};
}

} // namespace tracert::rules
