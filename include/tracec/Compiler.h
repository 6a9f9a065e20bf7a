/// The compiler as eager code, bindings and tools see it: a table of functions in the shared
/// library libtracec-compiler, opened on first use so that importing tracec or replaying a file
/// never loads LLVM.
///
///   TRACERT_ASSIGN(const CompilerApi *compiler, loadCompiler());
///   compiler->compile(graph, options, &program);
#pragma once

#include "tracec/TraceGraph.h"
#include "tracert/Status.h"

namespace tracec {

struct CompileOptions {
  /// One native section each; empty: portable only.
  std::vector<tracert::Target> targets;
  /// 0: no fusion (each op its own kernel); 2: default.
  int optLevel = 2;
  /// Print each stage's time to stderr.
  bool timing = false;
};

/// Grown at the end only; `version` says how far it is filled.
struct CompilerApi {
  uint32_t version;
  /// Thread safe. Source locations and op ids survive into the program.
  tracert::Status (*compile)(const TraceGraph &graph, const CompileOptions &options,
                             std::shared_ptr<tracert::Program> *program);
  /// The module at `stage` ("trace", "canonical", "fused", "kernel", "vector", "llvm", "asm").
  tracert::Status (*printStage)(const TraceGraph &graph, const CompileOptions &options,
                                const std::string &stage, std::string *text);
  /// Kernels compiled to machine code so far in this process (cache hits do not count).
  uint64_t (*kernelsCompiled)();
  /// The same from text in the trace dialect; `name` is the file's name for messages.
  tracert::Status (*compileText)(const std::string &mlir, const std::string &name,
                                 const CompileOptions &options,
                                 std::shared_ptr<tracert::Program> *program);
  tracert::Status (*printTextStage)(const std::string &mlir, const std::string &name,
                                    const CompileOptions &options, const std::string &stage,
                                    std::string *text);
};

/// Opens libtracec-compiler.so (next to the caller's library, then by the loader's rules, or
/// TRACEC_COMPILER_LIBRARY). Compile status, naming what was tried, when it is missing.
tracert::Result<const CompilerApi *> loadCompiler();
/// Null when the compiler has not been loaded; never loads it.
const CompilerApi *loadedCompiler();

/// The one symbol that the library exports for loadCompiler.
extern "C" const CompilerApi *tracecCompilerApi();

} // namespace tracec
