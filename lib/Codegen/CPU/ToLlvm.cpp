#include "Codegen/CPU/ToLlvm.h"

#include "Codegen/CPU/Stopwatch.h"
#include "Conversion/KernelToVector/KernelToVector.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/ModuleTranslation.h"
#include "mlir/Transforms/DialectConversion.h"

using namespace mlir;

namespace tracec {

LogicalResult lowerToLlvmDialect(ModuleOp module) {
  MLIRContext *context = module.getContext();
  LowerToLLVMOptions options(context);
  LLVMTypeConverter converter(context, options);
  RewritePatternSet patterns(context);
  populateSCFToControlFlowConversionPatterns(patterns);
  cf::populateControlFlowToLLVMConversionPatterns(converter, patterns);
  arith::populateArithToLLVMConversionPatterns(converter, patterns);
  ConversionTarget target(*context);
  target.addLegalDialect<LLVM::LLVMDialect>();
  target.addLegalOp<ModuleOp>();
  ConversionConfig config;
  config.allowPatternRollback = false;
  return applyFullConversion(module, target, std::move(patterns), config);
}

static void loadDialects(MLIRContext *context) {
  DialectRegistry registry;
  registry
      .insert<arith::ArithDialect, cf::ControlFlowDialect, LLVM::LLVMDialect, scf::SCFDialect>();
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  context->appendDialectRegistry(registry);
  context->loadDialect<arith::ArithDialect, cf::ControlFlowDialect, LLVM::LLVMDialect,
                       scf::SCFDialect>();
}

std::unique_ptr<llvm::Module> kernelToLlvm(kernel::FuncOp func, tracert::Target target,
                                           llvm::LLVMContext &llvmContext, ToLlvmTimes &times) {
  Stopwatch watch;
  MLIRContext *context = func.getContext();
  loadDialects(context);
  OwningOpRef<ModuleOp> module = ModuleOp::create(func.getLoc());
  auto clone = cast<kernel::FuncOp>(func->clone());
  clone.setSymName(kernelEntryName);
  module->push_back(clone);
  if (failed(lowerKernelToVector(clone, laneConfig(target))) ||
      failed(lowerToLlvmDialect(*module))) {
    return nullptr;
  }
  times.lowerNanoseconds += watch.lap();
#ifdef NDEBUG
  constexpr bool skipVerifier = true;
#else
  constexpr bool skipVerifier = false;
#endif
  auto translated = translateModuleToLLVMIR(*module, llvmContext, "kernel", skipVerifier);
  times.translateNanoseconds += watch.lap();
  return translated;
}

namespace {

struct KernelVectorToLlvmPass : PassWrapper<KernelVectorToLlvmPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(KernelVectorToLlvmPass)

  StringRef getArgument() const final { return "kernel-vector-to-llvm"; }
  StringRef getDescription() const final {
    return "lower the scf and arith of vector loops to the LLVM dialect";
  }
  void getDependentDialects(DialectRegistry &registry) const final {
    registry.insert<cf::ControlFlowDialect, LLVM::LLVMDialect>();
  }
  void runOnOperation() final {
    if (failed(lowerToLlvmDialect(getOperation()))) {
      signalPassFailure();
    }
  }
};

} // namespace

std::unique_ptr<Pass> createKernelVectorToLlvmPass() {
  return std::make_unique<KernelVectorToLlvmPass>();
}

} // namespace tracec
