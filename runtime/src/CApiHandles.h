/// What is behind the C API's handles, and the wall that no exception passes.
///
///   return guarded([&] { ...; return Status(); });
///
/// Only the CApi*.cpp files are compiled with exceptions, to turn std::bad_alloc into a status.
#pragma once

#include "tracert/Executor.h"
#include "tracert/ThreadPool.h"
#include "tracert/tracert.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <new>
#include <optional>

/// Shared by sessions: released when the caller and all sessions have let go.
struct trt_model {
  std::atomic<int64_t> count{1};
  std::shared_ptr<const tracert::Program> program;
  std::vector<std::vector<trt_dim>> inputDims;
  std::vector<std::vector<trt_dim>> outputDims;

  void retain() { count.fetch_add(1, std::memory_order_relaxed); }
  void release() {
    if (count.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      delete this;
    }
  }
};

struct trt_session {
  trt_model *model = nullptr;
  trt_session_options options{};
  std::unique_ptr<tracert::ThreadPool> pool;
  std::unique_ptr<tracert::Executor> executor;
  std::string sectionName;
  uint64_t codeBytes = 0;
  /// As set by the caller; null data: not set.
  std::vector<tracert::TensorView> inputs;
  std::vector<bool> isInputSet;
  /// What the executor gets: an aligned copy where the caller's memory is misaligned.
  std::vector<tracert::TensorView> taken;
  std::vector<tracert::BufferRef> alignedCopies;
  std::vector<std::optional<tracert::TensorView>> places;
  std::vector<tracert::OwnedTensor> outputs;
  bool hasRun = false;

  trt_session() = default;
  trt_session(const trt_session &) = delete;
  ~trt_session() {
    executor.reset();
    if (model) {
      model->release();
    }
  }
};

namespace tracert::capi {

/// Keeps the message for trt_last_error.
trt_status report(const Status &status);
trt_status reportOutOfMemory() noexcept;

template <class F> trt_status guarded(F &&body) noexcept {
  try {
    Status status = body();
    return status.ok() ? TRT_OK : report(status);
  } catch (const std::bad_alloc &) {
    return reportOutOfMemory();
  } catch (...) {
    return TRT_INTERNAL;
  }
}

/// The caller's struct as a view; checks dtype, rank, sizes and that its extent fits in memory.
Result<TensorView> viewOfTensor(const trt_tensor *tensor, const char *what);

/// The caller's options as this build's struct: fields that the caller does not know are zero.
template <class T> T optionsOf(const T *given) {
  T options{};
  if (given) {
    std::memcpy(&options, given, std::min(given->struct_size, sizeof(T)));
  }
  return options;
}

/// Fills the fields that the caller knows.
template <class T> Status fill(T *out, T filled) {
  if (!out || out->struct_size < sizeof(size_t)) {
    return Status::invalidArgument("the struct to fill is null or has no struct_size");
  }
  filled.struct_size = out->struct_size;
  std::memcpy(out, &filled, std::min(out->struct_size, sizeof(T)));
  return {};
}

/// A contiguous view as the C struct; points into `view`.
trt_tensor tensorOf(const TensorView &view);

/// Makes the executor that the session's options ask for.
Status makeExecutor(trt_session &session, std::unique_ptr<Executor> &executor);

} // namespace tracert::capi
