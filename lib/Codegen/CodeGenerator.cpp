#include "Codegen/CodeGenerator.h"

#include "Codegen/CPU/CompileKernels.h"

namespace tracec {

namespace {

class CpuCodeGenerator final : public CodeGenerator {
public:
  tracert::Result<CompiledKernels> compile(mlir::ModuleOp module, tracert::Target target) override {
    return compileKernels(module, target);
  }
  tracert::Result<std::string> print(mlir::ModuleOp module, tracert::Target target,
                                     CodeText what) override {
    return printKernels(module, target, what);
  }
};

} // namespace

tracert::Result<CodeGenerator *> codeGeneratorFor(tracert::Target target) {
  static CpuCodeGenerator cpu;
  switch (target.kind) {
  case tracert::TargetKind::X86:
  case tracert::TargetKind::Aarch64:
    return &cpu;
  case tracert::TargetKind::Nvptx:
    break;
  }
  return tracert::Status::unsupported("code generation for " +
                                      std::string(tracert::targetName(target)) +
                                      " is not built into this version");
}

} // namespace tracec
