/// Calls compiled kernels: frames, scratch memory, threads, joins.
///
///   TRACERT_TRY(runner.reserve(pool));            // once, before the first launch
///   LaunchOutcome outcome = runner.run(bound, partials, pool);
///
/// Results never depend on the number of threads. One runner belongs to one executor.
#pragma once

#include "LaunchBinding.h"
#include "tracert/RunControl.h"
#include "tracert/ThreadPool.h"

namespace tracert {

struct LaunchOutcome {
  bool isIndexError = false;
  /// Selected elements of masked kernels.
  int64_t count = 0;
};

class LaunchRunner {
public:
  /// Scratch for every thread of the pool; OutOfMemory.
  Status reserve(Allocator &allocator, int threadCount);
  /// Of no use when the run's control has stopped.
  LaunchOutcome run(const BoundLaunch &bound, void *partials, ThreadPool *pool);

private:
  BufferRef scratch;
  int slotCount = 0;
};

} // namespace tracert
