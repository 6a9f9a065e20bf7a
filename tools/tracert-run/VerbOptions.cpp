#include "VerbOptions.h"

#include "Numbers.h"

#include <algorithm>
#include <limits>

namespace cli {

namespace {

void addSection(CLI::App &verb, Options &options, bool isRepeatable) {
  CLI::Option *option = verb.add_option(
      "--section", options.sections,
      isRepeatable ? "best, portable, native, x86-64-v3, x86-64-v4 or aarch64-neon; may be repeated"
                   : "best, portable, native, x86-64-v3, x86-64-v4 or aarch64-neon");
  option->allow_extra_args(false);
  if (!isRepeatable) {
    option->expected(1)->multi_option_policy(CLI::MultiOptionPolicy::Throw);
  }
}

void addCommon(CLI::App &verb, Options &options) {
  addNumber(verb, "--threads", options.threads, {0, 4096},
            "threads; 0: as many as the process may use");
  verb.add_flag("--json", options.isJson, "print JSON");
}

void addTolerance(CLI::App &verb, Options &options) {
  constexpr double largest = std::numeric_limits<double>::max();
  addNumber(verb, "--rtol", options.rtol, {0.0, largest}, "relative tolerance");
  addNumber(verb, "--atol", options.atol, {0.0, largest}, "absolute tolerance");
  addNumber(verb, "--ulp", options.ulp, {0u, std::numeric_limits<uint64_t>::max()},
            "allowed distance in representable values");
}

void addInputs(CLI::App &verb, Options &options) {
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

std::vector<double> parsePercentiles(const std::string &text) {
  std::vector<double> percentiles;
  for (size_t begin = 0; begin <= text.size();) {
    size_t end = std::min(text.find(',', begin), text.size());
    std::string part = text.substr(begin, end - begin);
    double percent = parseNumber<double>("--percentiles", part, {0.0, 100.0});
    if (std::count(percentiles.begin(), percentiles.end(), percent) > 0) {
      throw UserError("--percentiles has " + part + " twice");
    }
    percentiles.push_back(percent);
    begin = end + 1;
  }
  return percentiles;
}

} // namespace

CLI::App *addRunVerb(CLI::App &app, Options &options) {
  CLI::App *run = app.add_subcommand("run", "run once and print the outputs");
  addInputs(*run, options);
  addSection(*run, options, /*isRepeatable=*/false);
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
  addSection(*verify, options, /*isRepeatable=*/true);
  addCommon(*verify, options);
  addTolerance(*verify, options);
  return verify;
}

CLI::App *addBenchVerb(CLI::App &app, Options &options) {
  CLI::App *bench = app.add_subcommand("bench", "run many times and print times");
  addInputs(*bench, options);
  addSection(*bench, options, /*isRepeatable=*/false);
  addCommon(*bench, options);
  addNumber(*bench, "--warmup", options.warmup, {0, 1'000'000}, "runs before timing");
  CLI::Option *iterations =
      addNumber(*bench, "--iterations", options.iterations, {1, kMaxTimedRuns},
                "timed runs; as many as --min-time takes when not given");
  addNumber(*bench, "--min-time", options.minTime, {0.001, 3600.0}, "seconds of timed runs")
      ->excludes(iterations);
  bench
      ->add_option_function<std::string>(
          "--percentiles",
          [&options](const std::string &text) { options.percentiles = parsePercentiles(text); },
          "percentiles to print, from 0 to 100 [50,90,99]")
      ->type_name("N,N,...");
  return bench;
}

} // namespace cli
