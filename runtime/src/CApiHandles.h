/// What is behind the C API's handles, the wall that no exception passes, and the structs that
/// grow.
///
///   return guarded([&]() -> Status { TRACERT_ASSIGN(auto known, optionsOf(given)); ... });
#pragma once

#include "Guard.h"
#include "tracert/Executor.h"
#include "tracert/RunControl.h"
#include "tracert/ThreadPool.h"
#include "tracert/tracert.h"

#include <algorithm>
#include <atomic>
#include <cstring>
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
  /// Of the last run that succeeded.
  std::vector<tracert::OwnedTensor> outputs;
  bool hasRun = false;
  tracert::RunControl control;

  trt_session() = default;
  trt_session(const trt_session &) = delete;
  ~trt_session() {
    // The executor's allocator counts them.
    alignedCopies.clear();
    executor.reset();
    if (model) {
      model->release();
    }
  }
};

namespace tracert::capi {

/// Keeps the message for trt_last_error.
trt_status report(const Status &status);

template <class F> trt_status guarded(F &&body) noexcept {
  Status status = guardedCall([&]() -> Status { return body(); });
  return status.ok() ? TRT_OK : report(status);
}

/// The caller's struct as a view; checks dtype, rank, sizes and that its extent fits in memory.
Result<TensorView> viewOfTensor(const trt_tensor *tensor, const char *what);

/// Name and size in its first release (the end of its then last field) of each struct with a
/// struct_size. Fields may be added behind; these sizes never change.
template <class T> struct StructHistory;
#define TRACERT_FIRST_RELEASE(T, lastField)                                                        \
  template <> struct StructHistory<T> {                                                            \
    static constexpr const char *name = #T;                                                        \
    static constexpr size_t firstSize = offsetof(T, lastField) + sizeof(T::lastField);             \
  }
TRACERT_FIRST_RELEASE(trt_tensor, data);
TRACERT_FIRST_RELEASE(trt_tensor_info, is_state);
TRACERT_FIRST_RELEASE(trt_load_options, flags);
TRACERT_FIRST_RELEASE(trt_session_options, thread_count);
TRACERT_FIRST_RELEASE(trt_session_stats, code_bytes);
TRACERT_FIRST_RELEASE(trt_tolerance, ulp);
TRACERT_FIRST_RELEASE(trt_comparison, has_same_type);
#undef TRACERT_FIRST_RELEASE

/// No struct will be larger; a number beyond was never set.
inline constexpr size_t kMaxStructSize = 4096;

/// What is wrong with the struct_size `size` of the struct `name`, which has `here` bytes here.
Status badStructSize(const char *name, size_t size, size_t here);

/// InvalidArgument unless `size`, a caller's struct_size, can be that of a T.
template <class T> Status checkStructSize(size_t size) {
  bool isGood = size >= StructHistory<T>::firstSize && size <= kMaxStructSize;
  return isGood ? Status() : badStructSize(StructHistory<T>::name, size, sizeof(T));
}

/// The caller's options as this build's struct: fields that the caller does not know are zero, as
/// is all of it for null. What the caller knows and this build does not must be zero.
template <class T> Result<T> optionsOf(const T *given) {
  T options{};
  if (!given) {
    return options;
  }
  TRACERT_TRY(checkStructSize<T>(given->struct_size));
  std::memcpy(&options, given, std::min(given->struct_size, sizeof(T)));
  const auto *bytes = reinterpret_cast<const unsigned char *>(given);
  for (size_t i = sizeof(T); i < given->struct_size; ++i) {
    if (bytes[i] != 0) {
      return Status::invalidArgument(std::string(StructHistory<T>::name) +
                                     " sets a field that this library does not know; leave it 0 or "
                                     "use a newer libtracert");
    }
  }
  return options;
}

/// Fills the fields that the caller knows; those that this build does not know become zero.
template <class T> Status fill(T *out, T filled) {
  if (!out) {
    return Status::invalidArgument(std::string("the ") + StructHistory<T>::name +
                                   " to fill is null");
  }
  size_t size = out->struct_size;
  TRACERT_TRY(checkStructSize<T>(size));
  filled.struct_size = size;
  std::memcpy(out, &filled, std::min(size, sizeof(T)));
  if (size > sizeof(T)) {
    std::memset(reinterpret_cast<unsigned char *>(out) + sizeof(T), 0, size - sizeof(T));
  }
  return {};
}

/// A contiguous view as the C struct; points into `view`.
trt_tensor tensorOf(const TensorView &view);

/// Makes the executor that the session's options ask for.
Status makeExecutor(trt_session &session, std::unique_ptr<Executor> &executor);

} // namespace tracert::capi
