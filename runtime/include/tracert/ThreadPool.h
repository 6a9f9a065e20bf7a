/// A small fork-join pool: workers spin briefly, then sleep.
///
///   pool.parallelFor(blockCount, [&](int64_t begin, int64_t end) { ... });
///
/// Results never depend on the number of threads: callers split work at fixed places only.
#pragma once

#include "tracert/Export.h"

#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

namespace tracert {

class TRACERT_API ThreadPool {
public:
  /// `threadCount` counts the calling thread; 1 makes no thread. Threads start at the first
  /// parallel loop, run in the default numeric mode (see scalar/FloatMode.h) and survive fork
  /// in the parent only (a child runs everything on its own thread).
  explicit ThreadPool(int threadCount);
  ~ThreadPool();
  int threadCount() const;
  /// Parallel loops that were given to the threads, not run by the caller alone.
  uint64_t sharedLoops() const;

  using RangeFn = void (*)(void *context, int64_t begin, int64_t end);
  /// Splits [0, count) into contiguous ranges and waits for all. Nested calls, and calls while
  /// another thread is using the pool, run on the calling thread.
  void parallelFor(int64_t count, RangeFn fn, void *context);
  template <class F> void parallelFor(int64_t count, F &&body) {
    parallelFor(
        count,
        [](void *context, int64_t begin, int64_t end) {
          (*static_cast<std::remove_reference_t<F> *>(context))(begin, end);
        },
        &body);
  }

private:
  struct Impl;
  std::unique_ptr<Impl> impl;
};

/// Shared by eager and by sessions that name no pool of their own; as many threads as the process
/// may use (TRACERT_THREADS overrides).
TRACERT_API ThreadPool &processThreadPool();

/// Work below this many nanoseconds (by a kernel's own estimate) is not split.
inline constexpr int64_t kMinParallelNanoseconds = 10'000;

} // namespace tracert
