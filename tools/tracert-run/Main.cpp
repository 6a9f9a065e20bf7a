// tracert-run: runs, verifies and times .trc files with libtracert alone.
#include "Session.h"

#include <CLI/CLI.hpp>

#include <cstdio>

namespace {

/// --input_name is an alias of --input-name.
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

void addCommon(CLI::App &verb, cli::Options &options) {
  verb.add_option("--section", options.sections,
                  "best, portable, native, x86-64-v3 or x86-64-v4");
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

int fail(const char *code, const std::string &message, int exitCode) {
  std::string line = message;
  std::replace(line.begin(), line.end(), '\n', ' ');
  std::fprintf(stderr, "tracert-run: error %s: %s\n", code, line.c_str());
  return exitCode;
}

} // namespace

int main(int argc, char **argv) {
  CLI::App app("runs, verifies and times .trc files");
  app.set_version_flag("--version", "tracert-run " + std::string(trt_version()) +
                                        ", reads container versions 1.0 to " +
                                        trt_format_version());
  app.require_subcommand(1);
  cli::Options options;
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

  CLI::App *verify = app.add_subcommand("verify", "run the file's test vectors on every section");
  verify->add_option("files", options.files, "the .trc files")->required();
  addCommon(*verify, options);
  addTolerance(*verify, options);

  CLI::App *bench = app.add_subcommand("bench", "run many times and print times");
  addInputs(*bench, options);
  addCommon(*bench, options);
  bench->add_option("--warmup", options.warmup, "runs before timing");
  bench->add_option("--iterations", options.iterations, "timed runs; 0: for --min-time");
  bench->add_option("--min-time", options.minTime, "seconds of timed runs");
  bench->add_option("--percentiles", options.percentiles, "percentiles to print")
      ->delimiter(',')
      ->check(CLI::Range(0.0, 100.0));

  try {
    app.parse(hyphenated(argc, argv));
  } catch (const CLI::ParseError &error) {
    if (error.get_exit_code() == 0) {
      return app.exit(error);
    }
    return fail("USAGE", error.what(), cli::kUserError);
  }
  try {
    if (run->parsed()) {
      return cli::runVerb(options);
    }
    return verify->parsed() ? cli::verifyVerb(options) : cli::benchVerb(options);
  } catch (const cli::LibraryError &error) {
    return fail(trt_status_name(error.status), error.what(), cli::exitCodeOf(error.status));
  } catch (const std::exception &error) {
    return fail("INPUT", error.what(), cli::kUserError);
  }
}
