/// KernelLibrary: the functions that generated code calls (tcs_*, tck_*), embedded as bitcode.
///
///   KernelLibrary library(llvmContext);
///   TRACERT_TRY(library.link(*module, kX86V4));
///
/// Copies the functions that `module` needs into it as internal ones, without attributes of their
/// own target, so that they take the caller's. `module` lives in the library's context, which must
/// outlive the library. One caller at a time. Error: Compile, naming a function that does not
/// exist.
#pragma once

#include "tracert/Kernels.h"

#include "llvm/IR/Module.h"

#include <array>
#include <iterator>

namespace tracec {

class KernelLibrary {
public:
  explicit KernelLibrary(llvm::LLVMContext &context) : context(context) {}

  tracert::Status link(llvm::Module &module, tracert::Target target);

private:
  tracert::Result<llvm::Module *> functionsFor(tracert::Target target);

  llvm::LLVMContext &context;
  /// By targetIndex; parsed once, bodies are read when first needed.
  std::array<std::unique_ptr<llvm::Module>, std::size(tracert::kTargets)> modules;
};

} // namespace tracec
