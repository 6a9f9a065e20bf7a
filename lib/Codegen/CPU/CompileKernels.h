/// Machine code from kernels: position-independent, flat, checked.
///
///   TRACERT_ASSIGN(CompiledKernels compiled, compileKernels(module, Isa::Avx512));
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

#include "tracert/Kernels.h"

#include "mlir/IR/BuiltinOps.h"

#include <vector>

namespace tracec {

struct CompiledKernels {
  std::vector<uint8_t> code;
  /// Byte offset in `code` of each kernel's entry (tracert::KernelEntry).
  std::vector<uint64_t> entries;
};

/// Isa::Avx512 or Isa::V3.
tracert::Result<CompiledKernels> compileKernels(mlir::ModuleOp module, tracert::Isa isa);

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
enum class CodeText : uint8_t { LlvmIr, Assembly };
tracert::Result<std::string> printKernels(mlir::ModuleOp module, tracert::Isa isa, CodeText what);

} // namespace tracec
