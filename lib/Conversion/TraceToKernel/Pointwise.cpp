// Pointwise ops and constants.
#include "Conversion/TraceToKernel/GroupLowering.h"

#include "tracert/generated/OpAttrs.h"

using namespace mlir;
using tracert::Status;

namespace tracec {

Status GroupLowering::lowerPointwise(Operation *op, const tracert::OpInfo &info) {
  Value result = op->getResult(0);
  bool isCompactedResult =
      llvm::any_of(op->getOperands(), [&](Value operand) { return isCompacted(operand); });
  SmallVector<Value> operands;
  for (Value operand : op->getOperands()) {
    auto shape = cast<RankedTensorType>(operand.getType()).getShape();
    bool isOneElement = llvm::all_of(shape, [](int64_t size) { return size == 1; });
    if (isCompactedResult && !isCompacted(operand) && !isOneElement) {
      return notInKernel(op, "a value selected by a mask meets one that is not");
    }
    TRACERT_ASSIGN(Value value, element(operand));
    operands.push_back(value);
  }
  Type type = elementTypeOf(result);
  if (info.family == tracert::OpFamily::Cast) {
    elements[result] = operands[0].getType() == type
                           ? operands[0]
                           : kernel::CastOp::create(builder, op->getLoc(), type, operands[0]);
  } else {
    elements[result] = kernel::ApplyOp::create(builder, op->getLoc(), type, info.name, operands);
  }
  if (isCompactedResult) {
    compacted.insert(result);
  }
  return {};
}

Status GroupLowering::lowerFull(Operation *op) {
  FailureOr<tracert::OpCall> call = trace::opCallOf(op);
  if (failed(call) || !call->info().has(tracert::kTraitFill) || op->getNumOperands() > 0) {
    return notInKernel(op, "its values or sizes are made elsewhere");
  }
  const tracert::Scalar &scalar = tracert::attrs::value(*call);
  Type type = elementTypeOf(op->getResult(0));
  TypedAttr value;
  if (auto floatType = dyn_cast<FloatType>(type)) {
    APInt bits(floatType.getWidth(), scalar.bits, /*isSigned=*/false, /*implicitTrunc=*/true);
    value = FloatAttr::get(floatType, APFloat(floatType.getFloatSemantics(), bits));
  } else {
    APInt bits(type.getIntOrFloatBitWidth(), scalar.bits, /*isSigned=*/false,
               /*implicitTrunc=*/true);
    value = IntegerAttr::get(type, bits);
  }
  elements[op->getResult(0)] = kernel::ConstOp::create(builder, op->getLoc(), value);
  return {};
}

} // namespace tracec
