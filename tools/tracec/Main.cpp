// tracec: compiles .mlir files in the trace dialect, runs, verifies, times and shows .trc files.
#include "Compile.h"
#include "Inspect.h"

#include "Verbs/CommandLine.h"
#include "Verbs/VerbOptions.h"
#include "tracert/Executor.h"

int main(int argc, char **argv) {
  CLI::App app("compiles traces, runs, verifies, times and inspects .trc files");
  app.set_version_flag(
      "--version", "tracec " + std::string(trt_version()) + ", writes container version " +
                       tracert::writtenFormatVersion() + ", reads 1.0 to " + trt_format_version());
  cli::Options options{.tool = "tracec"};
  cli::CompileOptions compileOptions;
  cli::InspectOptions inspectOptions;
  CLI::App *compile = cli::addCompileVerb(app, compileOptions);
  CLI::App *run = cli::addRunVerb(app, options);
  CLI::App *verify = cli::addVerifyVerb(app, options);
  cli::addBenchVerb(app, options);
  CLI::App *inspect = cli::addInspectVerb(app, inspectOptions);
  return cli::runTool(app, options.tool, argc, argv, [&] {
    cli::check(tracert::checkTargetLimit());
    if (compile->parsed()) {
      return cli::compileVerb(compileOptions);
    }
    if (inspect->parsed()) {
      return cli::inspectVerb(inspectOptions);
    }
    if (run->parsed()) {
      return cli::runVerb(options);
    }
    return verify->parsed() ? cli::verifyVerb(options) : cli::benchVerb(options);
  });
}
