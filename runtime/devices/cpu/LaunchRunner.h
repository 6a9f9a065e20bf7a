/// Calls compiled kernels on the processor: frames, scratch memory, threads, joins.
///
///   TRACERT_ASSIGN(auto launcher, LaunchRunner::make(allocator, pool.threadCount()));
///   TRACERT_TRY(launcher->run(bound, partials, pool, outcome));
///
/// Results never depend on the number of threads. One runner belongs to one executor.
#pragma once

#include "tracert/Device.h"
#include "tracert/ThreadPool.h"

namespace tracert {

class LaunchRunner final : public Launcher {
public:
  /// With scratch for every thread of the pool; OutOfMemory.
  static Result<std::unique_ptr<Launcher>> make(Allocator &allocator, int threadCount);
  Status run(const BoundLaunch &bound, void *partials, ThreadPool *pool,
             LaunchOutcome &outcome) override;

private:
  LaunchRunner() = default;

  BufferRef scratch;
  int slotCount = 0;
};

} // namespace tracert
