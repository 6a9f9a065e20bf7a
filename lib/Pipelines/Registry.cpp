#include "Pipelines/Registry.h"

#include "Codegen/KernelPasses.h"
#include "Pipelines/Pipelines.h"
#include "kernel/IR/KernelDialect.h"
#include "trace/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

namespace tracec {

void registerAllDialects(mlir::DialectRegistry &registry) {
  registry.insert<trace::TraceDialect, kernel::KernelDialect, mlir::func::FuncDialect,
                  mlir::arith::ArithDialect, mlir::cf::ControlFlowDialect, mlir::LLVM::LLVMDialect,
                  mlir::math::MathDialect, mlir::memref::MemRefDialect, mlir::scf::SCFDialect,
                  mlir::vector::VectorDialect>();
}

void registerAllPasses() {
  trace::registerTracePasses();
  registerKernelPasses();
  // canonicalize, cse: to see what upstream's passes make of our ops.
  mlir::registerTransformsPasses();
  mlir::PassPipelineRegistration<>("tracec-canonical", "from the trace stage to the canonical one",
                                   [](mlir::OpPassManager &pm) { buildCanonicalStage(pm); });
  mlir::PassPipelineRegistration<>("tracec-fused", "from the trace stage to the fused one",
                                   [](mlir::OpPassManager &pm) {
                                     buildCanonicalStage(pm);
                                     buildFusedStage(pm);
                                   });
}

} // namespace tracec
