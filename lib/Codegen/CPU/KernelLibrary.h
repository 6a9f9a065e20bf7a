/// KernelLibrary: the functions that generated code calls (tcs_*, tck_*), embedded as bitcode.
///
///   KernelLibrary library(llvmContext);
///   TRACERT_TRY(library.link(*module, Isa::Avx512));
///
/// Copies the functions that `module` needs into it as internal ones, without attributes of their
/// own target, so that they take the caller's. `module` lives in the library's context, which must
/// outlive the library. One caller at a time. Error: Compile, naming a function that does not
/// exist.
#pragma once

#include "tracert/Kernels.h"

#include "llvm/IR/Module.h"

namespace tracec {

class KernelLibrary {
public:
  explicit KernelLibrary(llvm::LLVMContext &context) : context(context) {}

  tracert::Status link(llvm::Module &module, tracert::Isa isa);

private:
  tracert::Result<llvm::Module *> functionsFor(tracert::Isa isa);

  llvm::LLVMContext &context;
  /// Parsed once for an ISA; bodies are read when first needed.
  std::unique_ptr<llvm::Module> v3, avx512;
};

} // namespace tracec
