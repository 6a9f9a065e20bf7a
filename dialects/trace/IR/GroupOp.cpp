#include "trace/IR/OpBridge.h"

using namespace mlir;

namespace tracec::trace {

LogicalResult GroupOp::verify() {
  auto yield = cast<YieldOp>(getBody().front().getTerminator());
  if (yield.getNumOperands() != getNumResults()) {
    return emitOpError() << "has " << getNumResults() << " results, but its yield has "
                         << yield.getNumOperands() << " values";
  }
  for (auto [index, value] : llvm::enumerate(yield.getValues())) {
    if (value.getType() != getResult(index).getType()) {
      return emitOpError() << "result #" << index << " is " << getResult(index).getType()
                           << ", but the yield gives " << value.getType();
    }
    if (value.getParentBlock() != yield->getBlock()) {
      return emitOpError() << "result #" << index << " is not computed by the group";
    }
  }
  for (Operation &op : getBody().front().without_terminator()) {
    if (!opKindOf(&op)) {
      return emitOpError() << "contains '" << op.getName() << "', which is not a recorded op";
    }
  }
  return success();
}

} // namespace tracec::trace
