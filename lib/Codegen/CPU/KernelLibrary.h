/// KernelLibrary: the functions that generated code calls (tcs_*, tck_*), embedded as bitcode.
///
///   TRACERT_TRY(linkKernelLibrary(*module, Isa::Avx512));
///
/// Copies the functions that `module` needs into it as internal ones, without attributes of their
/// own target, so that they take the caller's. All modules of a process must live in one
/// LLVMContext, in which the library is kept. One caller at a time. Error: Compile, naming a
/// function that does not exist.
#pragma once

#include "tracert/Kernels.h"

#include "llvm/IR/Module.h"

namespace tracec {

tracert::Status linkKernelLibrary(llvm::Module &module, tracert::Isa isa);

} // namespace tracec
