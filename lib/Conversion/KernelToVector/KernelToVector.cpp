#include "Conversion/KernelToVector/KernelToVector.h"

#include "Conversion/KernelToVector/KernelLowering.h"

using namespace mlir;

namespace tracec {

LaneConfig laneConfig(tracert::Target target) {
  return target == tracert::kX86V4 ? LaneConfig{16, true} : LaneConfig{8, false};
}

LogicalResult lowerKernelToVector(kernel::FuncOp func, const LaneConfig &config) {
  return KernelLowering(func, config).run();
}

namespace {

struct KernelToVectorPass : PassWrapper<KernelToVectorPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(KernelToVectorPass)

  KernelToVectorPass() = default;
  KernelToVectorPass(const KernelToVectorPass &other) : PassWrapper(other) {}

  StringRef getArgument() const final { return "kernel-to-vector"; }
  StringRef getDescription() const final {
    return "lower each kernel to loops of vector instructions in scf, arith and llvm";
  }
  void getDependentDialects(DialectRegistry &registry) const final {
    registry.insert<arith::ArithDialect, LLVM::LLVMDialect, scf::SCFDialect>();
  }
  void runOnOperation() final {
    LaneConfig config{lanes, maskedTail};
    for (auto func : llvm::make_early_inc_range(getOperation().getOps<kernel::FuncOp>())) {
      if (failed(lowerKernelToVector(func, config))) {
        return signalPassFailure();
      }
    }
  }

  Option<int64_t> lanes{*this, "lanes", llvm::cl::desc("lanes of every vector"),
                        llvm::cl::init(16)};
  Option<bool> maskedTail{*this, "masked-tail",
                          llvm::cl::desc("the tail is one masked iteration, not single lanes"),
                          llvm::cl::init(true)};
};

} // namespace

std::unique_ptr<Pass> createKernelToVectorPass() { return std::make_unique<KernelToVectorPass>(); }

} // namespace tracec
