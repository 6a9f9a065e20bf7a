/// ToLlvm: one kernel as an LLVM module, by way of vectors and the LLVM dialect.
///
///   std::unique_ptr<llvm::Module> module = kernelToLlvm(func, kX86V3, llvmContext, times);
///
/// The module has the entry `kernelEntryName` and declarations of library functions. `func` is not
/// changed. Null after a diagnostic.
#pragma once

#include "kernel/IR/KernelDialect.h"

#include "tracert/Kernels.h"

#include "llvm/IR/Module.h"

namespace tracec {

inline constexpr llvm::StringLiteral kernelEntryName = "tracec_kernel";

struct ToLlvmTimes {
  double lowerNanoseconds = 0;
  double translateNanoseconds = 0;
};

std::unique_ptr<llvm::Module> kernelToLlvm(kernel::FuncOp func, tracert::Target target,
                                           llvm::LLVMContext &context, ToLlvmTimes &times);

/// scf and arith, in a module where all else is the LLVM dialect, to the LLVM dialect.
mlir::LogicalResult lowerToLlvmDialect(mlir::ModuleOp module);

/// `kernel-vector-to-llvm`: the same as a pass.
std::unique_ptr<mlir::Pass> createKernelVectorToLlvmPass();

} // namespace tracec
