#include "trace/Transforms/Passes.h"

#include "trace/IR/OpBridge.h"

#define DEBUG_TYPE "trace-eliminate-dead-ops"

using namespace mlir;

namespace tracec::trace {

#define GEN_PASS_DEF_ELIMINATEDEADOPSPASS
#include "trace/Transforms/Passes.h.inc"

namespace {

struct EliminateDeadOps : impl::EliminateDeadOpsPassBase<EliminateDeadOps> {
  void runOnOperation() override {
    // Users before what they use, so that one walk is enough.
    Block &block = getOperation().getBody().front();
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block))) {
      bool canGo = isa<ConstantOp>(op) || (opKindOf(&op) && !mayFail(&op));
      if (canGo && op.use_empty()) {
        op.erase();
      }
    }
  }
};

} // namespace
} // namespace tracec::trace
