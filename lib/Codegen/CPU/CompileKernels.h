/// Machine code from kernels: position-independent, flat, checked.
///
///   TRACERT_ASSIGN(CompiledKernels compiled, compileKernels(module, kX86V4));
///   section.code = compiled.code; kernelDef.codeOffset = compiled.entries[i];
///
/// `module` holds kernel.func ops; entries follow their order. Each kernel's code lies at a 64-byte
/// boundary: text, then its read-only data. Before code is returned it is checked: no global offset
/// table, no absolute relocation, no writable data, no undefined symbol.
///
/// A kernel that this process has compiled before for the ISA (same loop nest apart from its name
/// and locations) is not compiled again while the cache holds it (tracert/CacheLimits.h). Errors:
/// Compile, with the kernel's name; they are our bugs. Thread safe; compilations take turns.
#pragma once

#include "Codegen/CodeGenerator.h"

namespace tracec {

/// kX86V4, kX86V3 or kAarch64Neon.
tracert::Result<CompiledKernels> compileKernels(mlir::ModuleOp module, tracert::Target target);

/// How many kernels this process has compiled (cache hits do not count).
uint64_t kernelsCompiled();
/// What the cache holds, at most kMaxCompiledKernelBytes unless its only kernel is larger.
size_t compiledKernelBytes();

/// CPU time by stage, summed over all compilations of this process.
struct CompileTimes {
  double lowerNanoseconds = 0;
  double translateNanoseconds = 0;
  double linkNanoseconds = 0;
  double optimizeNanoseconds = 0;
  double emitNanoseconds = 0;
  double fixNanoseconds = 0;
};
CompileTimes compileTimes();

/// The text that --compile-to=asm and =llvm print. Not cached, not counted.
tracert::Result<std::string> printKernels(mlir::ModuleOp module, tracert::Target target,
                                          CodeText what);

} // namespace tracec
