/// The compiler behind tracecCompilerApi: a module in the trace dialect to a Program.
///
///   Compilation compilation(options);
///   TRACERT_TRY(compilation.importGraph(graph)); TRACERT_ASSIGN(auto program, compilation.run());
///
/// One MLIRContext per process, taken by one compilation at a time and renewed now and then
/// (tracert/CacheLimits.h); MLIR's own threads are off. IR is verified after each pass in builds
/// with assertions.
#pragma once

#include "Pipelines/Pipelines.h"
#include "tracec/Compiler.h"

#include <mutex>

namespace tracec {

/// Collects the errors that MLIR reports while it lives.
class DiagnosticText {
public:
  explicit DiagnosticText(mlir::MLIRContext *context);
  /// The errors so far as a status, or `otherwise`.
  tracert::Status status(const std::string &otherwise) const;

private:
  std::string text;
  mlir::ScopedDiagnosticHandler handler;
};

class Compilation {
public:
  explicit Compilation(const CompileOptions &options);

  tracert::Status importGraph(const TraceGraph &graph);
  /// Compile status with line and column for text that is not a valid module.
  tracert::Status parseText(const std::string &mlir, const std::string &name);

  tracert::Result<std::shared_ptr<tracert::Program>> run();
  tracert::Result<std::string> print(Stage stage);

private:
  mlir::func::FuncOp function();
  tracert::Status checkFunction();
  tracert::Status runPasses(const char *stage,
                            llvm::function_ref<void(mlir::OpPassManager &)> build);
  tracert::Status makeCanonical();
  tracert::Status makeFused();
  void makeKernels();
  template <class Action> auto timed(const char *stage, Action action);

  const CompileOptions &options;
  std::unique_lock<std::mutex> lock;
  mlir::MLIRContext *context;
  DiagnosticText diagnostics;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::OwningOpRef<mlir::ModuleOp> kernelModule;
  std::vector<ExternalConstant> constants;
  std::vector<GroupKernel> kernels;
};

} // namespace tracec
