// tracert-run: runs, verifies and times .trc files with libtracert alone.
#include "CommandLine.h"
#include "VerbOptions.h"

int main(int argc, char **argv) {
  CLI::App app("runs, verifies and times .trc files");
  app.set_version_flag("--version", "tracert-run " + std::string(trt_version()) +
                                        ", reads container versions 1.0 to " +
                                        trt_format_version());
  cli::Options options{.tool = "tracert-run"};
  CLI::App *run = cli::addRunVerb(app, options);
  CLI::App *verify = cli::addVerifyVerb(app, options);
  cli::addBenchVerb(app, options);
  return cli::runTool(app, options.tool, argc, argv, [&] {
    if (run->parsed()) {
      return cli::runVerb(options);
    }
    return verify->parsed() ? cli::verifyVerb(options) : cli::benchVerb(options);
  });
}
