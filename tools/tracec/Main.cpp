// tracec: compiles .mlir files in the trace dialect, runs, verifies, times and shows .trc files.
#include "Compile.h"
#include "Inspect.h"

#include "Verbs/VerbOptions.h"

int main(int argc, char **argv) {
  CLI::App app("compiles traces, runs, verifies, times and inspects .trc files");
  app.set_version_flag("--version", "tracec " + std::string(trt_version()) +
                                        ", writes container version " + trt_format_version() +
                                        ", reads 1.0 to " + trt_format_version());
  app.require_subcommand(1);
  cli::Options options;
  cli::CompileOptions compileOptions;
  cli::InspectOptions inspectOptions;
  CLI::App *compile = cli::addCompileVerb(app, compileOptions);
  CLI::App *run = cli::addRunVerb(app, options);
  CLI::App *verify = cli::addVerifyVerb(app, options);
  cli::addBenchVerb(app, options);
  CLI::App *inspect = cli::addInspectVerb(app, inspectOptions);
  if (int exitCode = cli::parseArguments(app, "tracec", argc, argv); exitCode >= 0) {
    return exitCode;
  }
  return cli::runParsed("tracec", [&] {
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
