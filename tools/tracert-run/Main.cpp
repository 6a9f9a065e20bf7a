// tracert-run: runs, verifies and times .trc files with libtracert alone.
#include "VerbOptions.h"

int main(int argc, char **argv) {
  CLI::App app("runs, verifies and times .trc files");
  app.set_version_flag("--version", "tracert-run " + std::string(trt_version()) +
                                        ", reads container versions 1.0 to " +
                                        trt_format_version());
  app.require_subcommand(1);
  cli::Options options;
  CLI::App *run = cli::addRunVerb(app, options);
  CLI::App *verify = cli::addVerifyVerb(app, options);
  cli::addBenchVerb(app, options);
  if (int exitCode = cli::parseArguments(app, "tracert-run", argc, argv); exitCode >= 0) {
    return exitCode;
  }
  return cli::runParsed("tracert-run", [&] {
    if (run->parsed()) {
      return cli::runVerb(options);
    }
    return verify->parsed() ? cli::verifyVerb(options) : cli::benchVerb(options);
  });
}
