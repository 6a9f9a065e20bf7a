/// What the verbs share: options, opening a model, setting its inputs.
///
///   Opened opened = openModel(options); setInputs(opened, options);
///
/// Failures of the library are thrown as LibraryError with the status, others as UserError.
#pragma once

#include "Tensors.h"

#include <memory>
#include <optional>

namespace cli {

/// A status that is not TRT_OK, with its text.
struct LibraryError : std::runtime_error {
  LibraryError(trt_status status, const std::string &message)
      : std::runtime_error(message), status(status) {}
  trt_status status;
};
/// Throws unless the status is TRT_OK.
void check(trt_status status);

enum ExitCode { kOk = 0, kUserError = 1, kMismatch = 2, kCorrupt = 3, kUnsupported = 4 };
int exitCodeOf(trt_status status);

/// Timed runs of bench: their times are kept.
inline constexpr int64_t kMaxTimedRuns = 10'000'000;

struct Options {
  /// For messages.
  std::string tool;
  std::vector<std::string> files;
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  std::vector<std::string> expected;
  std::vector<std::string> sizes; // name=size
  std::string fillMode;           // "": inputs must be given
  std::vector<std::string> sections;
  int64_t threads = 0;
  double rtol = 0;
  double atol = 0;
  uint64_t ulp = 0;
  bool verifyAll = false;
  bool isJson = false;
  bool printsStatistics = false;
  int64_t warmup = 3;
  int64_t iterations = 0; // 0: as many as minTime takes
  double minTime = 0.5;
  std::vector<double> percentiles{50, 90, 99};
};

trt_section sectionOf(const std::string &name);
trt_tolerance toleranceOf(const Options &options);

struct ModelRelease {
  void operator()(trt_model *model) const { trt_model_release(model); }
};
struct SessionDestroy {
  void operator()(trt_session *session) const { trt_session_destroy(session); }
};

struct Opened {
  std::unique_ptr<trt_model, ModelRelease> model;
  std::unique_ptr<trt_session, SessionDestroy> session;
  /// Memory of the inputs that were set.
  std::vector<OwnedArray> arrays;
};

std::unique_ptr<trt_model, ModelRelease> loadModel(const std::string &path, bool verifyAll);
std::unique_ptr<trt_session, SessionDestroy> makeSession(trt_model *model, trt_section section,
                                                         int64_t threads);
Opened openModel(const Options &options);
/// From --input, else from --fill-mode, else from the file's first test vector.
void setInputs(Opened &opened, const Options &options);

trt_tensor outputOf(trt_session *session, int32_t index);
trt_tensor_info inputInfo(const trt_model *model, int32_t index);
trt_tensor_info outputInfo(const trt_model *model, int32_t index);

int runVerb(const Options &options);
int verifyVerb(const Options &options);
int benchVerb(const Options &options);

} // namespace cli
