#include "Conversion/TraceToKernel/TraceToKernelPass.h"

#include "Conversion/TraceToKernel/FusionGroup.h"
#include "trace/IR/TraceDialect.h"
#include "trace/Transforms/GroupAnalysis.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace tracec {

namespace {

struct TraceToKernelPass : PassWrapper<TraceToKernelPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(TraceToKernelPass)

  StringRef getArgument() const final { return "trace-to-kernel"; }
  StringRef getDescription() const final { return "add a kernel for each fusion group"; }
  void getDependentDialects(DialectRegistry &registry) const final {
    registry.insert<kernel::KernelDialect>();
  }
  void runOnOperation() final {
    SymbolTable symbols(getOperation());
    for (auto function : llvm::to_vector(getOperation().getOps<func::FuncOp>())) {
      trace::SizeAnalysis sizes(function);
      function.walk([&](trace::GroupOp group) { lower(function, group, sizes, symbols); });
    }
  }

  void lower(func::FuncOp function, trace::GroupOp group, const trace::SizeAnalysis &sizes,
             SymbolTable &symbols) {
    FusionGroup fusion = fusionGroupOf(group, sizes, (function.getName() + "_kernel").str());
    tracert::Result<LoweredGroup> lowered = lowerGroupToKernel(fusion, getOperation());
    if (!lowered.ok()) {
      group.emitRemark() << "runs op by op: " << lowered.status().message();
      return;
    }
    // Renames it if another has the name.
    symbols.insert(lowered->func);
  }
};

} // namespace

std::unique_ptr<Pass> createTraceToKernelPass() { return std::make_unique<TraceToKernelPass>(); }

} // namespace tracec
