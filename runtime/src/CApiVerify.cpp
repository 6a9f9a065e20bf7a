// Test vectors and comparison in the C API.
#include "CApiHandles.h"
#include "TensorCompare.h"

namespace tracert::capi {
namespace {

Result<Tolerance> toleranceOf(const trt_tolerance *given) {
  TRACERT_ASSIGN(trt_tolerance options, optionsOf(given));
  return Tolerance{options.rtol, options.atol, options.ulp};
}

trt_comparison comparisonOf(const TensorView &expected, const TensorView &actual,
                            const Tolerance &tolerance) {
  trt_comparison filled{};
  filled.struct_size = sizeof filled;
  filled.first_bad = -1;
  filled.has_same_type = expected.type() == actual.type();
  if (!filled.has_same_type) {
    return filled;
  }
  Comparison found = compareTensors(expected, actual, tolerance);
  filled.element_count = found.elementCount;
  filled.mismatch_count = found.mismatchCount;
  filled.first_bad = found.firstBad;
  filled.max_abs = found.maxAbs;
  filled.mean_abs = found.meanAbs;
  filled.max_ulp = found.maxUlp;
  return filled;
}

bool isMatch(const trt_comparison &comparison) {
  return comparison.has_same_type && comparison.mismatch_count == 0;
}

TensorView viewOfStored(const TestTensor &tensor) {
  return TensorView::contiguous(const_cast<void *>(tensor.data), tensor.type);
}

struct VerifyRequest {
  trt_session &session;
  Tolerance tolerance;
  trt_comparison_callback callback;
  void *user;
};

/// Each vector starts from the file's state, as it was recorded.
Status verifyVector(const VerifyRequest &request, size_t number, int64_t &mismatches) {
  const Program &program = *request.session.model->program;
  const TestVector &vector = program.testVectors[number];
  std::unique_ptr<Executor> executor;
  TRACERT_TRY(makeExecutor(request.session, executor));
  std::vector<TensorView> inputs;
  for (const TestTensor &tensor : vector.inputs) {
    inputs.push_back(viewOfStored(tensor));
  }
  std::vector<OwnedTensor> outputs;
  TRACERT_TRY(executor->run(inputs, outputs));
  for (size_t i = 0; i < outputs.size(); ++i) {
    trt_comparison comparison =
        comparisonOf(viewOfStored(vector.outputs[i]), outputs[i].view, request.tolerance);
    comparison.vector = static_cast<int32_t>(number);
    comparison.output = static_cast<int32_t>(i);
    comparison.name = program.outputs[i].name.c_str();
    mismatches += !isMatch(comparison);
    if (request.callback) {
      request.callback(&comparison, request.user);
    }
  }
  return {};
}

} // namespace
} // namespace tracert::capi

using namespace tracert;
using namespace tracert::capi;

extern "C" {

trt_status trt_session_verify(trt_session *session, const trt_tolerance *tolerance,
                              trt_comparison_callback callback, void *user) {
  return guarded([&]() -> Status {
    if (!session) {
      return Status::invalidArgument("session is null");
    }
    TRACERT_ASSIGN(Tolerance allowed, toleranceOf(tolerance));
    VerifyRequest request{*session, allowed, callback, user};
    size_t count = session->model->program->testVectors.size();
    if (count == 0) {
      return Status::invalidArgument("the model has no test vectors");
    }
    int64_t mismatches = 0;
    RunScope scope(session->control, session->options.time_limit_ms);
    for (size_t i = 0; i < count; ++i) {
      scope.restartClock();
      TRACERT_TRY(verifyVector(request, i, mismatches));
    }
    if (mismatches == 0) {
      return {};
    }
    return Status(StatusCode::TraceMismatch,
                  std::to_string(mismatches) + " outputs differ from the test vectors");
  });
}

trt_status trt_compare(const trt_tensor *expected, const trt_tensor *actual,
                       const trt_tolerance *tolerance, trt_comparison *comparison) {
  return guarded([&]() -> Status {
    TRACERT_ASSIGN(TensorView expectedView, viewOfTensor(expected, "expected"));
    TRACERT_ASSIGN(TensorView actualView, viewOfTensor(actual, "actual"));
    TRACERT_ASSIGN(Tolerance allowed, toleranceOf(tolerance));
    trt_comparison found = comparisonOf(expectedView, actualView, allowed);
    if (comparison) {
      TRACERT_TRY(fill(comparison, found));
    }
    if (isMatch(found)) {
      return {};
    }
    return Status(StatusCode::TraceMismatch,
                  found.has_same_type
                      ? std::to_string(found.mismatch_count) + " of " +
                            std::to_string(found.element_count) + " elements differ"
                      : "the tensors have different types: " + expectedView.type().str() + " and " +
                            actualView.type().str());
  });
}

} // extern "C"
