// The verbs run, verify and bench.
#include "CommandLine.h"
#include "Json.h"
#include "Npy.h"
#include "Session.h"
#include "Text.h"

#include <algorithm>
#include <chrono>
#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <set>

namespace cli {
namespace {

/// Elements shown of one output; all of them are in the .npy file that --output writes.
constexpr int64_t kShownElements = 1000;

double millisecondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
      .count();
}

/// An output that a flag names, and what it says of it.
struct NamedOutput {
  int32_t index;
  std::string value;
};

std::vector<NamedOutput> namedOutputs(const trt_model *model, const std::string &flag,
                                      const std::vector<std::string> &texts) {
  std::vector<NamedOutput> outputs;
  std::set<int32_t> seen;
  int32_t count = trt_model_output_count(model);
  int32_t nextUnnamed = 0;
  for (const std::string &text : texts) {
    NamedValue named = splitName(text);
    int32_t index =
        named.name.empty() ? nextUnnamed++ : trt_model_find_output(model, named.name.c_str());
    if (index < 0) {
      std::vector<std::string> known;
      for (int32_t i = 0; i < count; ++i) {
        known.push_back(outputInfo(model, i).name);
      }
      throw UserError(unknownName("output", named.name, known));
    }
    if (index >= count) {
      throw UserError("more outputs are named than the model has: " + std::to_string(count));
    }
    if (!seen.insert(index).second) {
      throw UserError(flag + " is given twice for output '" + outputInfo(model, index).name + "'");
    }
    outputs.push_back({index, named.value});
  }
  return outputs;
}

/// Before the run: what cannot be read or written is found before time is spent.
std::vector<NamedOutput> outputFiles(const trt_model *model, const Options &options) {
  std::vector<NamedOutput> outputs = namedOutputs(model, "--output", options.outputs);
  for (NamedOutput &output : outputs) {
    if (output.value.size() < 2 || output.value[0] != '@') {
      throw UserError("--output takes [name=]@file.npy, got '" + output.value + "'");
    }
    output.value.erase(0, 1);
  }
  return outputs;
}

struct Expected {
  int32_t index;
  OwnedArray array;
};

std::vector<Expected> expectedOutputs(const trt_model *model, const Options &options) {
  std::vector<Expected> expected;
  for (const NamedOutput &output : namedOutputs(model, "--expected-output", options.expected)) {
    expected.push_back({output.index, parseValue(output.value)});
  }
  return expected;
}

struct Compared {
  std::string name;
  trt_comparison comparison{};
};

void addComparison(JsonWriter &json, const trt_comparison &comparison) {
  json.field("elements", comparison.element_count);
  json.field("mismatches", comparison.mismatch_count);
  json.field("first_bad", comparison.first_bad);
  json.field("max_abs", comparison.max_abs);
  json.field("mean_abs", comparison.mean_abs);
  json.field("max_ulp", comparison.max_ulp);
  json.field("same_type", comparison.has_same_type != 0);
}

std::string comparisonText(const trt_comparison &comparison) {
  if (!comparison.has_same_type) {
    return "dtype or shape differ";
  }
  char text[200];
  std::snprintf(
      text, sizeof text, "%" PRId64 " of %" PRId64 " differ, max abs %g, max ulp %" PRIu64,
      comparison.mismatch_count, comparison.element_count, comparison.max_abs, comparison.max_ulp);
  return comparison.first_bad < 0 ? text
                                  : text + (", first bad " + std::to_string(comparison.first_bad));
}

std::vector<Compared> compareExpected(const Opened &opened, const Options &options,
                                      const std::vector<Expected> &expectedOutputs,
                                      bool &isMismatch) {
  std::vector<Compared> all;
  for (const Expected &expected : expectedOutputs) {
    trt_tensor expectedTensor = expected.array.tensor();
    trt_tensor actual = outputOf(opened.session.get(), expected.index);
    trt_tolerance tolerance = toleranceOf(options);
    Compared compared;
    compared.name = outputInfo(opened.model.get(), expected.index).name;
    compared.comparison.struct_size = sizeof compared.comparison;
    trt_status status = trt_compare(&expectedTensor, &actual, &tolerance, &compared.comparison);
    if (status != TRT_MISMATCH) {
      check(status);
    }
    isMismatch = isMismatch || status == TRT_MISMATCH;
    all.push_back(compared);
  }
  return all;
}

std::string valuesText(const trt_tensor &tensor) {
  std::string text;
  int64_t count = elementCount(tensor);
  for (int64_t i = 0; i < std::min(count, kShownElements); ++i) {
    text += (i > 0 ? "," : "") + elementText(tensor, i);
  }
  return count > kShownElements ? text + ",..." : text;
}

void printRunText(const Opened &opened, const std::vector<Compared> &compared) {
  int32_t count = trt_model_output_count(opened.model.get());
  for (int32_t i = 0; i < count; ++i) {
    trt_tensor tensor = outputOf(opened.session.get(), i);
    printLine(std::string(outputInfo(opened.model.get(), i).name) + ": " + typeText(tensor) +
              " = " + valuesText(tensor));
  }
  for (const Compared &entry : compared) {
    printLine(entry.name + " against expected: " + comparisonText(entry.comparison));
  }
}

trt_session_stats statsOf(const trt_session *session) {
  trt_session_stats stats{};
  stats.struct_size = sizeof stats;
  check(trt_session_get_stats(session, &stats));
  return stats;
}

void addStats(JsonWriter &json, const trt_session_stats &stats) {
  json.field("plans", stats.plans);
  json.field("launches_run", stats.launches_run);
  json.field("launches_replaced", stats.launches_replaced);
  json.field("library_kernels_run", stats.library_kernels_run);
  json.field("arena_bytes", stats.arena_bytes);
  json.field("output_bytes", stats.output_bytes);
  json.field("weight_bytes", stats.weight_bytes);
  json.field("code_bytes", stats.code_bytes);
}

void printRunJson(const Opened &opened, const std::vector<Compared> &compared,
                  double milliseconds) {
  JsonWriter json;
  json.beginObject();
  json.field("section", trt_session_section(opened.session.get()));
  json.field("milliseconds", milliseconds);
  json.key("outputs");
  json.beginArray();
  int32_t count = trt_model_output_count(opened.model.get());
  for (int32_t i = 0; i < count; ++i) {
    trt_tensor tensor = outputOf(opened.session.get(), i);
    json.beginObject();
    json.field("name", outputInfo(opened.model.get(), i).name);
    json.field("dtype", trt_dtype_name(tensor.dtype));
    json.key("shape");
    json.beginArray();
    for (int32_t axis = 0; axis < tensor.rank; ++axis) {
      json.value(tensor.shape[axis]);
    }
    json.endArray();
    json.key("values");
    addElements(json, tensor);
    json.endObject();
  }
  json.endArray();
  json.key("compared");
  json.beginArray();
  for (const Compared &entry : compared) {
    json.beginObject();
    json.field("name", entry.name);
    addComparison(json, entry.comparison);
    json.endObject();
  }
  json.endArray();
  json.key("statistics");
  json.beginObject();
  addStats(json, statsOf(opened.session.get()));
  json.endObject();
  json.endObject();
  json.finish();
}

void printStats(const trt_session *session, double milliseconds) {
  trt_session_stats stats = statsOf(session);
  printFormat("section %s, %.3f ms, arena %" PRIu64 " bytes, outputs %" PRIu64
              " bytes, weights %" PRIu64 " bytes, code %" PRIu64 " bytes, launches run %" PRIu64
              ", launches replaced %" PRIu64 ", library kernels run %" PRIu64,
              trt_session_section(session), milliseconds, stats.arena_bytes, stats.output_bytes,
              stats.weight_bytes, stats.code_bytes, stats.launches_run, stats.launches_replaced,
              stats.library_kernels_run);
}

} // namespace

int runVerb(const Options &options) {
  Opened opened = openModel(options);
  setInputs(opened, options);
  std::vector<NamedOutput> files = outputFiles(opened.model.get(), options);
  std::vector<Expected> expected = expectedOutputs(opened.model.get(), options);
  auto start = std::chrono::steady_clock::now();
  check(trt_session_run(opened.session.get()));
  double milliseconds = millisecondsSince(start);
  for (const NamedOutput &file : files) {
    writeNpy(file.value, outputOf(opened.session.get(), file.index));
  }
  bool isMismatch = false;
  std::vector<Compared> compared = compareExpected(opened, options, expected, isMismatch);
  if (options.isJson) {
    printRunJson(opened, compared, milliseconds);
  } else {
    printRunText(opened, compared);
    if (options.printsStatistics) {
      printStats(opened.session.get(), milliseconds);
    }
  }
  return isMismatch ? kMismatch : kOk;
}

namespace {

struct Verified {
  std::string output;
  trt_comparison comparison;
};

/// Only collects: it is called from C.
void collect(const trt_comparison *comparison, void *user) {
  static_cast<std::vector<Verified> *>(user)->push_back({comparison->name, *comparison});
}

void report(const Verified &verified, const std::string &file, const std::string &section,
            const Options &options, JsonWriter &json) {
  const trt_comparison &comparison = verified.comparison;
  if (!options.isJson) {
    bool isGood = comparison.has_same_type && comparison.mismatch_count == 0;
    printLine(file + " " + section + " vector " + std::to_string(comparison.vector) + " " +
              verified.output + ": " + (isGood ? "ok" : "MISMATCH") + ": " +
              comparisonText(comparison));
    return;
  }
  json.beginObject();
  json.field("file", file);
  json.field("section", section);
  json.field("vector", comparison.vector);
  json.field("output", verified.output);
  addComparison(json, comparison);
  json.endObject();
}

/// Without --section: portable and every native section that this machine can run.
std::vector<std::string> sectionsToVerify(const trt_model *model, const Options &options) {
  if (!options.sections.empty()) {
    return options.sections;
  }
  std::vector<std::string> sections{"portable"};
  for (int32_t i = 0; i < trt_model_section_count(model); ++i) {
    sections.push_back(trt_model_section(model, i));
  }
  return sections;
}

int verifySection(const trt_model *model, const std::string &file, const std::string &section,
                  const Options &options, JsonWriter &json) {
  trt_session_options sessionOptions{sizeof sessionOptions, sectionOf(section),
                                     static_cast<int32_t>(options.threads)};
  trt_session *made = nullptr;
  trt_status status = trt_session_create(model, &sessionOptions, &made);
  std::unique_ptr<trt_session, SessionDestroy> session(made);
  if (status == TRT_UNSUPPORTED && options.sections.empty()) {
    std::fprintf(stderr, "%s: skipped: %s\n", options.tool.c_str(),
                 printable(trt_last_error()).c_str());
    return kOk;
  }
  check(status);
  std::vector<Verified> all;
  trt_tolerance tolerance = toleranceOf(options);
  status = trt_session_verify(session.get(), &tolerance, collect, &all);
  for (const Verified &verified : all) {
    report(verified, file, trt_session_section(session.get()), options, json);
  }
  if (status != TRT_MISMATCH) {
    check(status);
  }
  return status == TRT_MISMATCH ? kMismatch : kOk;
}

/// A file that fails does not keep the others from being verified.
int verifyFile(const std::string &file, const Options &options, JsonWriter &json) {
  int worst = kOk;
  try {
    auto model = loadModel(file, /*verifyAll=*/true);
    if (trt_model_vector_count(model.get()) == 0) {
      throw LibraryError(TRT_INVALID_ARGUMENT,
                         "'" + file + "' loads, but has no test vectors to compare results with");
    }
    for (const std::string &section : sectionsToVerify(model.get(), options)) {
      worst = std::max(worst, verifySection(model.get(), file, section, options, json));
    }
  } catch (const LibraryError &error) {
    if (options.isJson) {
      json.beginObject();
      json.field("file", file);
      json.field("error", std::string(trt_status_name(error.status)));
      json.field("message", std::string(error.what()));
      json.endObject();
    }
    return failWith(options.tool, trt_status_name(error.status), error.what(),
                    std::max(worst, exitCodeOf(error.status)));
  }
  return worst;
}

} // namespace

int verifyVerb(const Options &options) {
  for (const std::string &section : options.sections) {
    sectionOf(section);
  }
  JsonWriter json;
  json.beginArray();
  int worst = kOk;
  for (const std::string &file : options.files) {
    worst = std::max(worst, verifyFile(file, options, json));
  }
  json.endArray();
  if (options.isJson) {
    json.finish();
  }
  return worst;
}

namespace {

/// Microseconds of each timed run, ascending.
std::vector<double> timeRuns(trt_session *session, const Options &options) {
  for (int64_t i = 0; i < options.warmup; ++i) {
    check(trt_session_run(session));
  }
  int64_t most = options.iterations > 0 ? options.iterations : kMaxTimedRuns;
  double milliseconds = options.minTime * 1000;
  std::vector<double> microseconds;
  auto begin = std::chrono::steady_clock::now();
  do {
    auto start = std::chrono::steady_clock::now();
    check(trt_session_run(session));
    microseconds.push_back(millisecondsSince(start) * 1000);
  } while (static_cast<int64_t>(microseconds.size()) < most &&
           (options.iterations > 0 || millisecondsSince(begin) < milliseconds));
  std::sort(microseconds.begin(), microseconds.end());
  return microseconds;
}

double percentileOf(const std::vector<double> &sorted, double percent) {
  auto last = static_cast<double>(sorted.size() - 1);
  return sorted[static_cast<size_t>(std::lround(percent / 100 * last))];
}

void printTimes(const trt_session *session, const std::vector<double> &microseconds, double mean,
                const Options &options) {
  char text[200];
  std::snprintf(text, sizeof text, "section %s: %zu runs, mean %.2f us, min %.2f us",
                trt_session_section(session), microseconds.size(), mean, microseconds.front());
  std::string line = text;
  for (double percent : options.percentiles) {
    std::snprintf(text, sizeof text, ", p%s %.2f us", shortest(percent).c_str(),
                  percentileOf(microseconds, percent));
    line += text;
  }
  printLine(line);
}

void printTimesJson(const trt_session *session, const std::vector<double> &microseconds,
                    double mean, const Options &options) {
  JsonWriter json;
  json.beginObject();
  json.field("section", trt_session_section(session));
  json.field("iterations", static_cast<int64_t>(microseconds.size()));
  json.field("mean_us", mean);
  json.field("min_us", microseconds.front());
  json.key("percentiles_us");
  json.beginObject();
  for (double percent : options.percentiles) {
    json.field(shortest(percent), percentileOf(microseconds, percent));
  }
  json.endObject();
  json.key("statistics");
  json.beginObject();
  addStats(json, statsOf(session));
  json.endObject();
  json.endObject();
  json.finish();
}

} // namespace

int benchVerb(const Options &options) {
  Opened opened = openModel(options);
  Options filledOptions = options;
  if (options.fillMode.empty() && options.inputs.empty() &&
      trt_model_vector_count(opened.model.get()) == 0) {
    filledOptions.fillMode = "ones";
  }
  setInputs(opened, filledOptions);
  std::vector<double> microseconds = timeRuns(opened.session.get(), options);
  double sum = 0;
  for (double value : microseconds) {
    sum += value;
  }
  double mean = sum / static_cast<double>(microseconds.size());
  auto print = options.isJson ? printTimesJson : printTimes;
  print(opened.session.get(), microseconds, mean, options);
  return kOk;
}

} // namespace cli
