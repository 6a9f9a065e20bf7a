#include "trace/Transforms/Passes.h"

#include "trace/Transforms/SizeAnalysis.h"

#define DEBUG_TYPE "trace-eliminate-dead-ops"

using namespace mlir;

namespace tracec::trace {

#define GEN_PASS_DEF_ELIMINATEDEADOPSPASS
#include "trace/Transforms/Passes.h.inc"

namespace {

struct EliminateDeadOps : impl::EliminateDeadOpsPassBase<EliminateDeadOps> {
  void runOnOperation() override {
    Block &block = getOperation().getBody().front();
    // Made for the first op that needs it: most programs have no dead ops.
    std::optional<SizeAnalysis> sizes;
    auto isCheck = [&](Operation *op) {
      if (mayFail(op)) {
        return true;
      }
      if (!sizes) {
        sizes.emplace(getOperation());
      }
      return sizes->canFail(op);
    };
    // Users before what they use, so that one walk is enough.
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block))) {
      bool isOp = opKindOf(&op).has_value();
      if (op.use_empty() && (isa<ConstantOp>(op) || (isOp && !isCheck(&op)))) {
        op.erase();
      }
    }
  }
};

} // namespace
} // namespace tracec::trace
