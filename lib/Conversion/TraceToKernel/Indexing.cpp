// Gathers, masks and sets.
#include "Conversion/TraceToKernel/GroupLowering.h"

using namespace mlir;
using tracert::AccessKind;
using tracert::IndexItem;
using tracert::IndexItemKind;
using tracert::InnerStride;
using tracert::Result;
using tracert::Status;

namespace tracec {

Status GroupLowering::lowerGather(Operation *op) {
  if (trace::isBasicRead(op)) {
    return notInKernel(op, "it moves elements; as a view it stays outside");
  }
  if (isInside(op->getOperand(0)) ||
      llvm::is_contained(group.ops, op->getOperand(0).getDefiningOp())) {
    return notInKernel(op, "the tensor it reads is computed in the kernel");
  }
  tracert::IndexItems items = trace::indexItemsOf(op).toItems();
  auto indices = trace::indexOperandsOf(op);
  int64_t indexedAxes = 0;
  bool hasOtherItems = false;
  for (const IndexItem &item : items.items) {
    bool isSimple = item.kind == IndexItemKind::Slice || item.kind == IndexItemKind::NewAxis;
    hasOtherItems |= isSimple;
    if (item.kind == IndexItemKind::IntArray) {
      ++indexedAxes;
    } else if (!isSimple || item.beginIsOperand || item.endIsOperand) {
      return notInKernel(op, "it mixes masks, positions or computed bounds with index arrays");
    }
  }
  Value table = op->getOperand(0);
  // The table's axes are not the domain's, so only what the fusion pass knows holds.
  auto told = group.innerStrides.find(table);
  InnerStride stride = told == group.innerStrides.end() ? InnerStride::Any : told->second;
  BlockArgument access = addAccess(AccessKind::Gather, table, stride, indexedAxes);
  lowered.accesses.back().op = op;
  SmallVector<Value> positions;
  bool isCompactedResult = false;
  for (auto [axis, index] : llvm::enumerate(indices)) {
    if (llvm::is_contained(group.ops, index.getDefiningOp())) {
      auto rank = cast<RankedTensorType>(index.getType()).getRank();
      bool spansResult = rank == cast<RankedTensorType>(op->getResult(0).getType()).getRank();
      if (hasOtherItems || !spansResult) {
        return notInKernel(op, "an index array computed in the kernel must span its result");
      }
      isCompactedResult |= isCompacted(index);
      TRACERT_ASSIGN(Value position, element(index));
      positions.push_back(position);
      continue;
    }
    Type type = elementTypeOf(index);
    auto toldIndex = group.innerStrides.find(index);
    InnerStride indexStride =
        toldIndex == group.innerStrides.end() ? InnerStride::Any : toldIndex->second;
    BlockArgument indexAccess = addAccess(AccessKind::Index, index, indexStride);
    lowered.accesses.back().op = op;
    lowered.accesses.back().indexedAxis = static_cast<uint8_t>(axis);
    positions.push_back(kernel::LoadOp::create(builder, op->getLoc(), type, indexAccess));
  }
  Value result = op->getResult(0);
  elements[result] =
      kernel::GatherOp::create(builder, op->getLoc(), elementTypeOf(result), access, positions,
                               isCompactedResult ? maskElement : Value(), trace::isUnchecked(op));
  if (isCompactedResult) {
    compacted.insert(result);
  }
  return {};
}

Result<Value> GroupLowering::useMask(Operation *op, Value mask) {
  if (maskValue && maskValue != mask) {
    return notInKernel(op, "the kernel already selects by another mask");
  }
  if (isCompacted(mask)) {
    return notInKernel(op, "its mask is itself selected by a mask");
  }
  if (cast<RankedTensorType>(mask.getType()).getRank() != static_cast<int64_t>(domain.size())) {
    return notInKernel(op, "its mask does not have the shape of the domain");
  }
  bool reducesAll = group.reducedAxes.size() == domain.size();
  if (!group.reducedAxes.empty() && !reducesAll) {
    return notInKernel(op, "selected elements are reduced over all axes");
  }
  if (!maskValue) {
    TRACERT_ASSIGN(Value value, element(mask));
    maskValue = mask;
    maskElement = value;
  }
  return maskElement;
}

Status GroupLowering::lowerMaskRead(Operation *op, Value mask, Value operand) {
  if (isCompacted(operand)) {
    return notInKernel(op, "it selects from what a mask has selected");
  }
  TRACERT_TRY(useMask(op, mask).status());
  TRACERT_ASSIGN(Value value, element(operand));
  Value result = op->getResult(0);
  elements[result] = value;
  compacted.insert(result);
  if (!lowered.countValue) {
    lowered.countValue = result;
  }
  return {};
}

Status GroupLowering::lowerCondTake(Operation *op) {
  TRACERT_TRY(lowerMaskRead(op, op->getOperand(0), op->getOperand(1)));
  Value positions = op->getResult(1);
  elements[positions] = kernel::PositionOp::create(builder, op->getLoc(), builder.getI64Type());
  compacted.insert(positions);
  return {};
}

Status GroupLowering::lowerSet(Operation *op) {
  if (!trace::isReplacingSet(op) || !trace::hasTrait(op, tracert::kTraitBasicIndex)) {
    return notInKernel(op, "it combines elements or writes at computed positions");
  }
  if (maskValue || !reductions.empty() || !group.reducedAxes.empty() || group.isFlat) {
    return notInKernel(op, "a kernel that sets neither selects, reduces nor is flat");
  }
  if (isInside(op->getOperand(0)) ||
      llvm::is_contained(group.ops, op->getOperand(0).getDefiningOp())) {
    return notInKernel(op, "the tensor it changes is computed in the kernel");
  }
  Value assigned = op->getOperand(1);
  TRACERT_ASSIGN(Value value, element(assigned));
  BlockArgument access = addAccess(AccessKind::SetStore, op->getResult(0), group.setInnerStride);
  lowered.accesses.back().op = op;
  kernel::StoreOp::create(builder, op->getLoc(), value, access);
  hasSet = true;
  return {};
}

} // namespace tracec
