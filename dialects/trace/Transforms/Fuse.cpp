#include "trace/Transforms/Passes.h"

#include "trace/Transforms/FusionPlan.h"

#define DEBUG_TYPE "trace-fuse"

using namespace mlir;

namespace tracec::trace {

#define GEN_PASS_DEF_FUSEPASS
#include "trace/Transforms/Passes.h.inc"

namespace {

struct Fuse : impl::FusePassBase<Fuse> {
  using FusePassBase::FusePassBase;

  void runOnOperation() override {
    FusionPlan plan(getOperation(), groupEachOp);
    Operation *end = getOperation().getBody().front().getTerminator();
    for (FusionPlan::Node &node : plan.takeNodes()) {
      SmallVector<SmallVector<Operation *>, 2> parts{node.ops};
      if (node.isGroup && storesItsMask(node.ops)) {
        parts = splitAtMask(node.ops);
      }
      for (ArrayRef<Operation *> part : parts) {
        // A single op runs as its library kernel: nothing to gain, one compile less.
        if (node.isGroup && (part.size() > 1 || groupEachOp)) {
          makeGroup(part, end);
          continue;
        }
        for (Operation *op : part) {
          op->moveBefore(end);
        }
      }
    }
  }

  /// A mask that is stored anyway is counted before anything is selected, so that what it selects
  /// gets memory of the right size.
  static bool storesItsMask(ArrayRef<Operation *> ops) {
    DenseSet<Operation *> inside(ops.begin(), ops.end());
    return llvm::any_of(ops, [&](Operation *op) {
      Operation *producer =
          groupRoleOf(op) == GroupRole::MaskRead ? maskOf(op).getDefiningOp() : nullptr;
      return producer && inside.contains(producer) &&
             llvm::any_of(producer->getUsers(),
                          [&](Operation *user) { return !inside.contains(user); });
    });
  }

  /// What computes the mask and other full values, then what is done with the selected elements.
  static SmallVector<SmallVector<Operation *>, 2> splitAtMask(ArrayRef<Operation *> ops) {
    SmallVector<SmallVector<Operation *>, 2> parts(2);
    DenseSet<Operation *> selected;
    for (Operation *op : ops) {
      bool isSelected = groupRoleOf(op) == GroupRole::MaskRead ||
                        llvm::any_of(op->getOperands(), [&](Value operand) {
                          return selected.contains(operand.getDefiningOp());
                        });
      if (isSelected) {
        selected.insert(op);
      }
      parts[isSelected].push_back(op);
    }
    return parts;
  }

  static void makeGroup(ArrayRef<Operation *> ops, Operation *end) {
    OpBuilder builder(end);
    SmallVector<Location> locs;
    SmallVector<Value> outputs;
    SmallVector<Type> types;
    DenseSet<Operation *> inside(ops.begin(), ops.end());
    SmallVector<Operation *> members;
    for (Operation *op : ops) {
      // A constant tensor that only this group reads is made in registers.
      for (Value operand : op->getOperands()) {
        auto full = operand.getDefiningOp<FullOp>();
        if (full && full->getNumOperands() == 0 && operand.hasOneUse() &&
            inside.insert(full).second) {
          members.push_back(full);
        }
      }
      members.push_back(op);
    }
    for (Operation *op : members) {
      locs.push_back(op->getLoc());
      for (Value result : op->getResults()) {
        bool isUsedOutside = llvm::any_of(result.getUsers(),
                                          [&](Operation *user) { return !inside.contains(user); });
        if (isUsedOutside) {
          outputs.push_back(result);
          types.push_back(result.getType());
        }
      }
    }
    auto group = GroupOp::create(builder, builder.getFusedLoc(locs), types);
    Block *body = builder.createBlock(&group.getBody());
    for (Operation *op : members) {
      op->moveBefore(body, body->end());
    }
    builder.setInsertionPointToEnd(body);
    YieldOp::create(builder, group.getLoc(), outputs);
    for (auto [inner, outer] : llvm::zip(outputs, group.getResults())) {
      inner.replaceUsesWithIf(outer,
                              [&](OpOperand &use) { return use.getOwner()->getBlock() != body; });
    }
  }
};

} // namespace
} // namespace tracec::trace
