#include "Compiler/Compiler.h"

#include "Codegen/CPU/CompileKernels.h"

using tracert::Status;

namespace tracec {

namespace {

Status stageOf(const std::string &name, Stage &stage) {
  std::optional<Stage> found = stageFromName(name);
  if (!found) {
    return Status::invalidArgument("unknown stage '" + name + "', expected one of " + stageNames());
  }
  stage = *found;
  return {};
}

Status finish(Compilation &compilation, std::shared_ptr<tracert::Program> *program) {
  TRACERT_ASSIGN(*program, compilation.run());
  return {};
}

Status finishPrint(Compilation &compilation, const std::string &stageName, std::string *text) {
  Stage stage;
  TRACERT_TRY(stageOf(stageName, stage));
  TRACERT_ASSIGN(*text, compilation.print(stage));
  return {};
}

Status compile(const TraceGraph &graph, const CompileOptions &options,
               std::shared_ptr<tracert::Program> *program) {
  Compilation compilation(options);
  TRACERT_TRY(compilation.importGraph(graph));
  return finish(compilation, program);
}

Status printStage(const TraceGraph &graph, const CompileOptions &options, const std::string &stage,
                  std::string *text) {
  Compilation compilation(options);
  TRACERT_TRY(compilation.importGraph(graph));
  return finishPrint(compilation, stage, text);
}

Status compileText(const std::string &mlir, const std::string &name, const CompileOptions &options,
                   std::shared_ptr<tracert::Program> *program) {
  Compilation compilation(options);
  TRACERT_TRY(compilation.parseText(mlir, name));
  return finish(compilation, program);
}

Status printTextStage(const std::string &mlir, const std::string &name,
                      const CompileOptions &options, const std::string &stage, std::string *text) {
  Compilation compilation(options);
  TRACERT_TRY(compilation.parseText(mlir, name));
  return finishPrint(compilation, stage, text);
}

constexpr CompilerApi kApi = {1, compile, printStage, kernelsCompiled, compileText, printTextStage};

} // namespace

extern "C" __attribute__((visibility("default"))) const CompilerApi *tracecCompilerApi() {
  return &kApi;
}

} // namespace tracec
