#include "VerbOptions.h"

#include <algorithm>
#include <cstdio>

namespace cli {

std::vector<std::string> hyphenated(int argc, char **argv) {
  std::vector<std::string> arguments;
  for (int i = argc - 1; i > 0; --i) {
    std::string text = argv[i];
    if (text.rfind("--", 0) == 0) {
      size_t end = std::min(text.find('='), text.size());
      std::replace(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(end), '_', '-');
    }
    arguments.push_back(std::move(text));
  }
  return arguments;
}

namespace {

void addCommon(CLI::App &verb, cli::Options &options) {
  verb.add_option("--section", options.sections, "best, portable, native, x86-64-v3 or x86-64-v4");
  verb.add_option("--threads", options.threads, "threads; 0: as many as the process may use")
      ->check(CLI::Range(0, 4096));
  verb.add_flag("--json", options.isJson, "print JSON");
}

void addTolerance(CLI::App &verb, cli::Options &options) {
  verb.add_option("--rtol", options.rtol, "relative tolerance");
  verb.add_option("--atol", options.atol, "absolute tolerance");
  verb.add_option("--ulp", options.ulp, "allowed distance in representable values");
}

void addInputs(CLI::App &verb, cli::Options &options) {
  verb.add_option("file", options.files, "the .trc file")->required()->expected(1);
  verb.add_option("--input", options.inputs,
                  "[name=]2x3xf32=1,2,... or [name=]@x.npy; without any, the file's first test "
                  "vector")
      ->allow_extra_args(false);
  verb.add_option("--fill-mode", options.fillMode, "random, zeros or ones for missing inputs");
  verb.add_option("--size", options.sizes, "name=number: a named size for --fill-mode")
      ->allow_extra_args(false);
  verb.add_flag("--verify-all", options.verifyAll, "check the hash of the weights too");
}

} // namespace

CLI::App *addRunVerb(CLI::App &app, Options &options) {
  CLI::App *run = app.add_subcommand("run", "run once and print the outputs");
  addInputs(*run, options);
  addCommon(*run, options);
  addTolerance(*run, options);
  run->add_option("--output", options.outputs, "[name=]@y.npy: write an output")
      ->allow_extra_args(false);
  run->add_option("--expected-output", options.expected,
                  "[name=]2xf32=... or [name=]@y.npy; exit code 2 when it differs")
      ->allow_extra_args(false);
  run->add_flag("--print-statistics", options.printsStatistics, "print time and memory");
  return run;
}

CLI::App *addVerifyVerb(CLI::App &app, Options &options) {
  CLI::App *verify = app.add_subcommand("verify", "run the file's test vectors on every section");
  verify->add_option("files", options.files, "the .trc files")->required();
  addCommon(*verify, options);
  addTolerance(*verify, options);
  return verify;
}

CLI::App *addBenchVerb(CLI::App &app, Options &options) {
  CLI::App *bench = app.add_subcommand("bench", "run many times and print times");
  addInputs(*bench, options);
  addCommon(*bench, options);
  bench->add_option("--warmup", options.warmup, "runs before timing");
  bench->add_option("--iterations", options.iterations, "timed runs; 0: for --min-time");
  bench->add_option("--min-time", options.minTime, "seconds of timed runs");
  bench->add_option("--percentiles", options.percentiles, "percentiles to print")
      ->delimiter(',')
      ->check(CLI::Range(0.0, 100.0));
  return bench;
}

int failWith(const std::string &tool, const char *code, const std::string &message, int exitCode) {
  std::string line = message;
  std::replace(line.begin(), line.end(), '\n', ' ');
  std::fprintf(stderr, "%s: error %s: %s\n", tool.c_str(), code, line.c_str());
  return exitCode;
}

int parseArguments(CLI::App &app, const std::string &tool, int argc, char **argv) {
  try {
    app.parse(hyphenated(argc, argv));
  } catch (const CLI::ParseError &error) {
    return error.get_exit_code() == 0 ? app.exit(error)
                                      : failWith(tool, "USAGE", error.what(), kUserError);
  }
  return -1;
}

int runParsed(const std::string &tool, const std::function<int()> &verb) {
  try {
    return verb();
  } catch (const LibraryError &error) {
    return failWith(tool, trt_status_name(error.status), error.what(), exitCodeOf(error.status));
  } catch (const std::exception &error) {
    return failWith(tool, "INPUT", error.what(), kUserError);
  }
}

} // namespace cli
