// Reductions: over the group's axes, or over all selected elements.
#include "Conversion/TraceToKernel/GroupLowering.h"

using namespace mlir;
using tracert::Status;

namespace tracec {

Status GroupLowering::lowerReduce(Operation *op) {
  const tracert::OpInfo &info = *trace::opInfoOf(op);
  if (!info.reduction || info.reduction->isIndexed) {
    return notInKernel(op, "kernels have no such reduction");
  }
  auto axes = cast<DenseI64ArrayAttr>(*op->getInherentAttr("axes")).asArrayRef();
  Value operand = op->getOperand(0);
  bool isMasked = isCompacted(operand);
  if (!isMasked && axes != ArrayRef<int64_t>(group.reducedAxes)) {
    return notInKernel(op, "it reduces other axes than the kernel");
  }
  if (!isMasked && maskValue) {
    return notInKernel(op, "the kernel reduces selected elements only");
  }
  if (isMasked && (axes.size() != 1 || group.reducedAxes.size() != domain.size())) {
    return notInKernel(op, "selected elements are reduced over all axes");
  }
  auto shape = cast<RankedTensorType>(operand.getType()).getShape();
  if (!isMasked && shape != ArrayRef<int64_t>(domain) && shape.size() != domain.size()) {
    return notInKernel(op, "its operand does not have the shape of the domain");
  }
  TRACERT_ASSIGN(Value value, element(operand));
  reductions.push_back({op, info.reduction, value, isMasked});
  return {};
}

} // namespace tracec
