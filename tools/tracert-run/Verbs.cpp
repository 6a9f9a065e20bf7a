// The verbs run, verify and bench.
#include "Json.h"
#include "Npy.h"
#include "Session.h"

#include <algorithm>
#include <chrono>
#include <cinttypes>
#include <cstdio>

namespace cli {
namespace {

/// Elements shown of one output; all of them are in the .npy file that --output writes.
constexpr int64_t kShownElements = 1000;

double millisecondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
      .count();
}

int32_t outputIndex(const trt_model *model, const std::string &name, int32_t &nextUnnamed) {
  int32_t index = name.empty() ? nextUnnamed++ : trt_model_find_output(model, name.c_str());
  if (index < 0 || index >= trt_model_output_count(model)) {
    throw UserError(name.empty() ? "more outputs are named than the model has"
                                 : "the model has no output '" + name + "'");
  }
  return index;
}

void saveOutputs(const Opened &opened, const Options &options) {
  int32_t nextUnnamed = 0;
  for (const std::string &text : options.outputs) {
    NamedValue named = splitName(text);
    if (named.value.empty() || named.value[0] != '@') {
      throw UserError("--output takes [name=]@file.npy, got '" + text + "'");
    }
    int32_t index = outputIndex(opened.model.get(), named.name, nextUnnamed);
    writeNpy(named.value.substr(1), outputOf(opened.session.get(), index));
  }
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
  std::snprintf(text, sizeof text,
                "%" PRId64 " of %" PRId64 " differ, max abs %g, max ulp %" PRIu64
                ", first bad %" PRId64,
                comparison.mismatch_count, comparison.element_count, comparison.max_abs,
                comparison.max_ulp, comparison.first_bad);
  return text;
}

std::vector<Compared> compareExpected(const Opened &opened, const Options &options,
                                      bool &isMismatch) {
  std::vector<Compared> all;
  int32_t nextUnnamed = 0;
  for (const std::string &text : options.expected) {
    NamedValue named = splitName(text);
    int32_t index = outputIndex(opened.model.get(), named.name, nextUnnamed);
    OwnedArray expected = parseValue(named.value);
    trt_tensor expectedTensor = expected.tensor();
    trt_tensor actual = outputOf(opened.session.get(), index);
    trt_tolerance tolerance = toleranceOf(options);
    Compared compared;
    compared.name = outputInfo(opened.model.get(), index).name;
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
    std::printf("%s: %s = %s\n", outputInfo(opened.model.get(), i).name, typeText(tensor).c_str(),
                valuesText(tensor).c_str());
  }
  for (const Compared &entry : compared) {
    std::printf("%s against expected: %s\n", entry.name.c_str(),
                comparisonText(entry.comparison).c_str());
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
    json.field("values", valuesText(tensor));
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
  std::printf("%s\n", json.text().c_str());
}

void printStats(const trt_session *session, double milliseconds) {
  trt_session_stats stats = statsOf(session);
  std::printf("section %s, %.3f ms, arena %" PRIu64 " bytes, outputs %" PRIu64
              " bytes, weights %" PRIu64 " bytes, code %" PRIu64 " bytes, launches run %" PRIu64
              ", launches replaced %" PRIu64 ", library kernels run %" PRIu64 "\n",
              trt_session_section(session), milliseconds, stats.arena_bytes, stats.output_bytes,
              stats.weight_bytes, stats.code_bytes, stats.launches_run, stats.launches_replaced,
              stats.library_kernels_run);
}

} // namespace

int runVerb(const Options &options) {
  Opened opened = openModel(options);
  setInputs(opened, options);
  auto start = std::chrono::steady_clock::now();
  check(trt_session_run(opened.session.get()));
  double milliseconds = millisecondsSince(start);
  saveOutputs(opened, options);
  bool isMismatch = false;
  std::vector<Compared> compared = compareExpected(opened, options, isMismatch);
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

struct VerifyReport {
  const Options &options;
  JsonWriter &json;
  std::string file;
  std::string section;
};

void reportComparison(const trt_comparison *comparison, void *user) {
  auto &report = *static_cast<VerifyReport *>(user);
  if (!report.options.isJson) {
    bool isGood = comparison->has_same_type && comparison->mismatch_count == 0;
    std::printf("%s %s vector %d %s: %s: %s\n", report.file.c_str(), report.section.c_str(),
                comparison->vector, comparison->name, isGood ? "ok" : "MISMATCH",
                comparisonText(*comparison).c_str());
    return;
  }
  report.json.beginObject();
  report.json.field("file", report.file);
  report.json.field("section", report.section);
  report.json.field("vector", comparison->vector);
  report.json.field("output", comparison->name);
  addComparison(report.json, *comparison);
  report.json.endObject();
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

int verifyFile(const std::string &file, const Options &options, JsonWriter &json) {
  int worst = kOk;
  auto model = loadModel(file, /*verifyAll=*/true);
  for (const std::string &name : sectionsToVerify(model.get(), options)) {
    trt_session_options sessionOptions{sizeof sessionOptions, sectionOf(name), options.threads};
    trt_session *made = nullptr;
    trt_status status = trt_session_create(model.get(), &sessionOptions, &made);
    std::unique_ptr<trt_session, SessionDestroy> session(made);
    if (status == TRT_UNSUPPORTED && options.sections.empty()) {
      std::fprintf(stderr, "tracert-run: skipped: %s\n", trt_last_error());
      continue;
    }
    check(status);
    VerifyReport report{options, json, file, trt_session_section(session.get())};
    trt_tolerance tolerance = toleranceOf(options);
    status = trt_session_verify(session.get(), &tolerance, reportComparison, &report);
    if (status != TRT_MISMATCH) {
      check(status);
    } else {
      worst = kMismatch;
    }
  }
  return worst;
}

} // namespace

int verifyVerb(const Options &options) {
  JsonWriter json;
  json.beginArray();
  int worst = kOk;
  for (const std::string &file : options.files) {
    worst = std::max(worst, verifyFile(file, options, json));
  }
  json.endArray();
  if (options.isJson) {
    std::printf("%s\n", json.text().c_str());
  }
  return worst;
}

int benchVerb(const Options &options) {
  Opened opened = openModel(options);
  Options filledOptions = options;
  if (options.fillMode.empty() && options.inputs.empty() &&
      trt_model_vector_count(opened.model.get()) == 0) {
    filledOptions.fillMode = "ones";
  }
  setInputs(opened, filledOptions);
  for (int i = 0; i < std::max(options.warmup, 1); ++i) {
    check(trt_session_run(opened.session.get()));
  }
  std::vector<double> microseconds;
  auto begin = std::chrono::steady_clock::now();
  for (;;) {
    bool isDone = options.iterations > 0
                      ? static_cast<int>(microseconds.size()) >= options.iterations
                      : !microseconds.empty() && millisecondsSince(begin) >= options.minTime * 1000;
    if (isDone) {
      break;
    }
    auto start = std::chrono::steady_clock::now();
    check(trt_session_run(opened.session.get()));
    microseconds.push_back(millisecondsSince(start) * 1000);
  }
  std::sort(microseconds.begin(), microseconds.end());
  double sum = 0;
  for (double value : microseconds) {
    sum += value;
  }
  double mean = sum / static_cast<double>(microseconds.size());
  auto percentile = [&](double percent) {
    auto last = static_cast<double>(microseconds.size() - 1);
    return microseconds[static_cast<size_t>(percent / 100 * last + 0.5)];
  };
  const char *section = trt_session_section(opened.session.get());
  if (options.isJson) {
    JsonWriter json;
    json.beginObject();
    json.field("section", section);
    json.field("iterations", static_cast<int64_t>(microseconds.size()));
    json.field("mean_us", mean);
    json.field("min_us", microseconds.front());
    json.key("percentiles_us");
    json.beginObject();
    for (double percent : options.percentiles) {
      char name[32];
      std::snprintf(name, sizeof name, "%g", percent);
      json.field(name, percentile(percent));
    }
    json.endObject();
    json.key("statistics");
    json.beginObject();
    addStats(json, statsOf(opened.session.get()));
    json.endObject();
    json.endObject();
    std::printf("%s\n", json.text().c_str());
    return kOk;
  }
  std::printf("section %s: %zu runs, mean %.2f us, min %.2f us", section, microseconds.size(), mean,
              microseconds.front());
  for (double percent : options.percentiles) {
    std::printf(", p%g %.2f us", percent, percentile(percent));
  }
  std::printf("\n");
  return kOk;
}

} // namespace cli
