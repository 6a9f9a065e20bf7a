#include "trace/Transforms/Passes.h"

#include "trace/IR/OpBridge.h"

#define DEBUG_TYPE "trace-mark-in-place"

using namespace mlir;

namespace tracec::trace {

#define GEN_PASS_DEF_MARKINPLACEPASS
#include "trace/Transforms/Passes.h.inc"

namespace {

/// Values that may share memory, and the last op that reads one of them (among those seen so far).
struct MemoryClass {
  unsigned lastUse = 0;
};

struct MarkInPlace : impl::MarkInPlacePassBase<MarkInPlace> {
  void runOnOperation() override {
    Block &block = getOperation().getBody().front();
    // Positions from 1; the return comes last.
    DenseMap<Operation *, unsigned> positions;
    unsigned count = 0;
    for (Operation &op : block) {
      positions[&op] = ++count;
    }
    std::vector<MemoryClass> classes;
    DenseMap<Value, unsigned> classOf;
    auto lastUseOf = [&](Value value) {
      unsigned last = 0;
      for (Operation *user : value.getUsers()) {
        // Ops on sizes read no memory.
        if (hasTrait(user, tracert::kTraitSizeOnly)) {
          continue;
        }
        last = std::max(last, positions.lookup(block.findAncestorOpInBlock(*user)));
      }
      return last;
    };
    auto join = [&](Value value, unsigned memory) {
      classOf[value] = memory;
      classes[memory].lastUse = std::max(classes[memory].lastUse, lastUseOf(value));
    };
    auto joinNew = [&](Value value) {
      classes.push_back({});
      join(value, classes.size() - 1);
    };
    for (BlockArgument argument : block.getArguments()) {
      joinNew(argument);
    }
    for (Operation &op : block) {
      bool isView = hasTrait(&op, tracert::kTraitView);
      bool inPlace = false;
      if (hasTrait(&op, tracert::kTraitSet)) {
        Operation *producer = op.getOperand(0).getDefiningOp();
        bool ofView = producer && hasTrait(producer, tracert::kTraitView);
        inPlace = !ofView && classes[classOf[op.getOperand(0)]].lastUse <= positions[&op];
        op.setInherentAttr(StringAttr::get(&getContext(), "in_place"),
                           inPlace ? UnitAttr::get(&getContext()) : Attribute());
      }
      for (Value result : op.getResults()) {
        if (isView || inPlace) {
          join(result, classOf[op.getOperand(0)]);
        } else {
          joinNew(result);
        }
      }
    }
  }
};

} // namespace
} // namespace tracec::trace
