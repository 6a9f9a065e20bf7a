/// `tracec compile IN.mlir -o OUT.trc`: from the trace dialect to a file, or to the text of a
/// stage.
#pragma once

#include "Verbs/Session.h"

#include "tracert/Status.h"

namespace CLI {
class App;
}

namespace cli {

struct CompileOptions {
  std::string input;
  std::string output;
  /// "cpu" or "cpu:isa".
  std::vector<std::string> targets;
  int64_t optLevel = 2;
  std::string compileTo;
  std::vector<std::string> emit;
  std::vector<std::string> strip;
  bool listsTargets = false;
  bool timing = false;
};

CLI::App *addCompileVerb(CLI::App &app, CompileOptions &options);
int compileVerb(const CompileOptions &options);

/// Throws what runParsed turns into the exit code of the status.
void check(const tracert::Status &status);

} // namespace cli
