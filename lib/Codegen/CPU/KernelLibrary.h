/// KernelLibrary: the functions that generated code calls (tcs_*, tck_*), embedded as bitcode.
///
///   TRACERT_TRY(linkKernelLibrary(*module, Isa::Avx512));
///
/// Links the functions that `module` needs and makes them internal, without attributes of their own
/// target, so that they take the caller's. Error: Compile, naming a function that does not exist.
#pragma once

#include "tracert/Kernels.h"

#include "llvm/IR/Module.h"

namespace tracec {

tracert::Status linkKernelLibrary(llvm::Module &module, tracert::Isa isa);

} // namespace tracec
