/// CodeGenerator: machine code from kernels, for a kind of target. A back end is a class of these
/// in a folder of its own; CPU is the first.
///
///   TRACERT_ASSIGN(CodeGenerator *generator, codeGeneratorFor(target));
///   TRACERT_ASSIGN(CompiledKernels compiled, generator->compile(module, target));
///
/// `module` holds kernel.func ops; entries follow their order. Thread safe. Errors: Compile, with
/// the kernel's name.
#pragma once

#include "Codegen/CompiledKernels.h"
#include "tracert/Target.h"

#include "mlir/IR/BuiltinOps.h"

#include <string>

namespace tracec {

/// The text that --compile-to=asm and =llvm print. Not cached, not counted.
enum class CodeText : uint8_t { LlvmIr, Assembly };

class CodeGenerator {
public:
  virtual ~CodeGenerator() = default;
  virtual tracert::Result<CompiledKernels> compile(mlir::ModuleOp module,
                                                   tracert::Target target) = 0;
  virtual tracert::Result<std::string> print(mlir::ModuleOp module, tracert::Target target,
                                             CodeText what) = 0;
};

/// Lives as long as the process. Unsupported for a kind that is not built in.
tracert::Result<CodeGenerator *> codeGeneratorFor(tracert::Target target);

} // namespace tracec
