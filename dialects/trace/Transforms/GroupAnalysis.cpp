#include "trace/Transforms/GroupAnalysis.h"

#include "trace/Transforms/ComposeItems.h"
#include "tracert/KernelAbi.h"

using namespace mlir;
using tracert::IndexItem;
using tracert::IndexItemKind;
using tracert::InnerStride;

namespace tracec::trace {

static GroupRole indexReadRole(Operation *op) {
  if (!isAdvancedRead(op) || isUnchecked(op)) {
    return GroupRole::None;
  }
  tracert::IndexItems items = indexItemsOf(op).toItems();
  auto source = cast<RankedTensorType>(op->getOperand(0).getType());
  if (items.items.size() == 1 && items.items[0].kind == IndexItemKind::Mask) {
    return items.items[0].maskRank == source.getRank() && source.getRank() > 0 ? GroupRole::MaskRead
                                                                               : GroupRole::None;
  }
  bool isGather = llvm::all_of(items.items, [](const IndexItem &item) {
    return item.kind == IndexItemKind::IntArray || item.kind == IndexItemKind::NewAxis ||
           (item.kind == IndexItemKind::Slice && !item.beginIsOperand && !item.endIsOperand);
  });
  return isGather ? GroupRole::Gather : GroupRole::None;
}

GroupRole groupRoleOf(Operation *op) {
  const tracert::OpInfo *info = opInfoOf(op);
  if (!info || info->has(tracert::kTraitComposite) || info->checksElements()) {
    return GroupRole::None;
  }
  if (info->isPointwise()) {
    return GroupRole::Map;
  }
  switch (info->family) {
  case tracert::OpFamily::Reduce:
    return reducedAxesOf(op).empty() || info->reduction->isIndexed ? GroupRole::None
                                                                   : GroupRole::Reduce;
  case tracert::OpFamily::Indexing:
    return indexReadRole(op);
  default:
    return GroupRole::None;
  }
}

Value maskOf(Operation *maskRead) { return maskRead->getOperand(1); }

ArrayRef<int64_t> reducedAxesOf(Operation *reduce) {
  return cast<DenseI64ArrayAttr>(*reduce->getInherentAttr("axes")).asArrayRef();
}

namespace {

class Analyzer {
public:
  Analyzer(GroupOp group, const SizeAnalysis &sizes)
      : group(group), body(group.getBody().front()), sizes(sizes) {}

  GroupShape run() {
    findDomain();
    domainDims = sizes.domainOf(shape.domain);
    vectorAxis = tracert::vectorAxisOf(cast<RankedTensorType>(shape.domain.getType()).getShape());
    // A domain of rank 1 is flat already; its strides may be anything.
    bool reducesPart = !shape.reducedAxes.empty() && shape.reducedAxes.size() != domainDims.size();
    shape.isFlat = domainDims.size() != 1 && !reducesPart;
    forEachOutsideOperand([&](Operation *op, unsigned operand) {
      shape.isFlat = shape.isFlat && isFlatOperand(op, operand);
    });
    forEachOutsideOperand([&](Operation *op, unsigned operand) { addStride(op, operand); });
    findOutputs();
    return std::move(shape);
  }

private:
  void findDomain() {
    Value reduced;
    Value anyResult;
    for (Operation &op : body.without_terminator()) {
      GroupRole role = groupRoleOf(&op);
      bool readsCompacted = llvm::any_of(
          op.getOperands(), [&](Value operand) { return shape.compacted.contains(operand); });
      if (role == GroupRole::MaskRead) {
        shape.domain = maskOf(&op);
        shape.compacted.insert(op.getResult(0));
      } else if (role == GroupRole::Reduce) {
        reduced = op.getOperand(0);
        if (!readsCompacted) {
          shape.reducedAxes.assign(reducedAxesOf(&op).begin(), reducedAxesOf(&op).end());
        }
      } else if (readsCompacted) {
        shape.compacted.insert(op.getResult(0));
      } else if (role != GroupRole::None) {
        anyResult = op.getResult(0);
      }
    }
    if (shape.domain) {
      unsigned rank = cast<RankedTensorType>(shape.domain.getType()).getRank();
      for (unsigned axis = 0; reduced && axis < rank; ++axis) {
        shape.reducedAxes.push_back(axis);
      }
      return;
    }
    shape.domain = reduced ? reduced : anyResult;
  }

  void forEachOutsideOperand(llvm::function_ref<void(Operation *, unsigned)> visit) {
    for (Operation &op : body.without_terminator()) {
      for (OpOperand &operand : op.getOpOperands()) {
        if (operand.get().getParentBlock() != &body) {
          visit(&op, operand.getOperandNumber());
        }
      }
    }
  }

  bool isOneElement(Value value) const {
    return llvm::all_of(sizes.of(value), [](DimExpr dim) { return dim.isNumber(1); });
  }

  bool isContiguousDomain(Value value) const {
    return sizes.domainOf(value) == domainDims && sizes.isContiguous(value);
  }

  bool isFlatOperand(Operation *op, unsigned operand) const {
    Value value = op->getOperand(operand);
    if (groupRoleOf(op) == GroupRole::Gather) {
      // Every element of the table is reached by the one index alone.
      return operand == 0 ? cast<RankedTensorType>(value.getType()).getRank() == 1
                          : isContiguousDomain(value);
    }
    return isContiguousDomain(value) || isOneElement(value);
  }

  InnerStride classOf(Operation *op, unsigned operand) const {
    Value value = op->getOperand(operand);
    if (groupRoleOf(op) == GroupRole::Gather) {
      return gatherClass(op, operand);
    }
    if (shape.isFlat) {
      return isOneElement(value) ? InnerStride::Zero : InnerStride::Contiguous;
    }
    return sizes.strideClass(value, domainDims.size(), vectorAxis);
  }

  InnerStride gatherClass(Operation *gather, unsigned operand) const {
    tracert::IndexItems items = indexItemsOf(gather).toItems();
    Value value = gather->getOperand(operand);
    if (shape.isFlat) {
      return operand == 0 ? InnerStride::Zero : InnerStride::Contiguous;
    }
    if (items.advancedFirst || vectorAxis + 1 != domainDims.size()) {
      return InnerStride::Any;
    }
    const IndexItem &last = items.items.back();
    bool isIndexed = last.kind == IndexItemKind::IntArray;
    if (operand > 0) {
      // An array that is not last repeats along the last axis.
      return isIndexed ? sizes.strideClass(value, domainDims.size(), vectorAxis)
                       : InnerStride::Zero;
    }
    if (isIndexed) {
      return InnerStride::Zero;
    }
    if (last.kind != IndexItemKind::Slice || last.step != 1) {
      return InnerStride::Any;
    }
    unsigned rank = sizes.of(value).size();
    return sizes.strideClass(value, rank, rank - 1);
  }

  void addStride(Operation *op, unsigned operand) {
    Value value = op->getOperand(operand);
    InnerStride stride = classOf(op, operand);
    auto [entry, isNew] = shape.innerStrides.try_emplace(value, stride);
    if (!isNew && entry->second != stride) {
      // One class per value: two accesses that differ get code for both.
      entry->second = InnerStride::Any;
    }
  }

  void findOutputs() {
    auto yield = cast<YieldOp>(body.getTerminator());
    for (auto [value, result] : llvm::zip(yield.getValues(), group.getOutputs())) {
      bool isRead = llvm::any_of(result.getUsers(), [](Operation *user) {
        return !hasTrait(user, tracert::kTraitSizeOnly);
      });
      if (isRead) {
        shape.outputs.push_back(value);
      }
    }
    // Size ops need the count, which only a kernel that selects by the mask finds out.
    for (Value value : yield.getValues()) {
      if (shape.compacted.contains(value) && !selectsByMask()) {
        shape.outputs.push_back(value);
      }
    }
  }

  /// Something is stored or reduced per selected element.
  bool selectsByMask() {
    auto isCompacted = [&](Value value) { return shape.compacted.contains(value); };
    return llvm::any_of(shape.outputs, isCompacted) ||
           llvm::any_of(body.without_terminator(), [&](Operation &op) {
             return groupRoleOf(&op) == GroupRole::Reduce && isCompacted(op.getOperand(0));
           });
  }

  GroupOp group;
  Block &body;
  const SizeAnalysis &sizes;
  GroupShape shape;
  SmallVector<DimExpr> domainDims;
  unsigned vectorAxis = 0;
};

} // namespace

GroupShape analyzeGroup(GroupOp group, const SizeAnalysis &sizes) {
  return Analyzer(group, sizes).run();
}

} // namespace tracec::trace
