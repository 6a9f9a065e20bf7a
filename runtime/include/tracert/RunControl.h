/// How another thread, or a clock, ends a run: kernels and the executor look here now and then.
///
///   RunControl control;                       // one per session
///   { RunScope scope(control, /*timeLimitMs=*/100); status = executor->run(inputs, outputs); }
///   control.cancel();                         // any thread; no effect outside a scope
///
/// The control of a scope is the current one of its thread, and of a pool's threads while they work
/// for it; without a scope there is none, and kernels run to their end.
///
/// A loop that sees shouldStop() returns early with results of no use; its caller asks status()
/// before anything relies on them. Where and how often loops look is in docs/limits.md.
#pragma once

#include "tracert/Export.h"
#include "tracert/Status.h"

#include <atomic>
#include <chrono>
#include <cstdint>

namespace tracert {

/// Numbers of StatusCode that only runs and loads with limits give. Another thread ended the run;
/// a stated limit would have been passed (MemoryError); the time limit was (TimeoutError).
inline constexpr StatusCode kCancelled{14};
inline constexpr StatusCode kResourceExhausted{15};
inline constexpr StatusCode kDeadlineExceeded{16};

class RunControl {
public:
  /// Ends the run in progress.
  void cancel() {
    State expected = State::Running;
    state.compare_exchange_strong(expected, State::Cancelled, std::memory_order_relaxed);
  }

  /// A load when there is no time limit, else also a look at the clock (25 ns).
  bool shouldStop() const {
    if (isStopped()) {
      return true;
    }
    if (!hasDeadline || Clock::now() < deadline) {
      return false;
    }
    State expected = State::Running;
    state.compare_exchange_strong(expected, State::TimedOut, std::memory_order_relaxed);
    return isStopped();
  }
  /// Ends the run now if work of that length, which cannot be ended, would certainly end too late.
  bool endsBefore(double nanoseconds) const {
    if (!isStopped() && hasDeadline &&
        nanoseconds >
            static_cast<double>(std::chrono::nanoseconds(deadline - Clock::now()).count())) {
      State expected = State::Running;
      state.compare_exchange_strong(expected, State::TimedOut, std::memory_order_relaxed);
    }
    return isStopped();
  }
  /// Whether some loop may have returned early.
  bool isStopped() const {
    State now = state.load(std::memory_order_relaxed);
    return now == State::Cancelled || now == State::TimedOut;
  }
  /// Ok, Cancelled or DeadlineExceeded.
  Status status() const {
    switch (state.load(std::memory_order_relaxed)) {
    case State::Cancelled:
      return {kCancelled, "the run was cancelled"};
    case State::TimedOut:
      return {kDeadlineExceeded,
              "the run took longer than its limit of " + std::to_string(timeLimitMs) + " ms"};
    case State::Idle:
    case State::Running:
      break;
    }
    return {};
  }

private:
  friend class RunScope;
  using Clock = std::chrono::steady_clock;
  enum class State : uint32_t { Idle, Running, Cancelled, TimedOut };

  void startClock(uint64_t limitMs) {
    timeLimitMs = limitMs;
    hasDeadline = limitMs != 0;
    if (hasDeadline) {
      // Longer than a year is no limit, and would overflow the clock.
      constexpr uint64_t kYear = uint64_t(366) * 24 * 3600 * 1000;
      deadline = Clock::now() + std::chrono::milliseconds(limitMs < kYear ? limitMs : kYear);
    }
  }

  mutable std::atomic<State> state{State::Idle};
  bool hasDeadline = false;
  uint64_t timeLimitMs = 0;
  Clock::time_point deadline;
};

/// Of the calling thread; null outside of every scope.
TRACERT_API const RunControl *currentRunControl();
/// For threads that work for another one; returns the one before.
TRACERT_API const RunControl *setCurrentRunControl(const RunControl *control);

/// The time of one run, or of several that are cancelled together.
class RunScope {
public:
  /// 0: no time limit.
  RunScope(RunControl &control, uint64_t timeLimitMs) : control(control) {
    control.startClock(timeLimitMs);
    control.state.store(RunControl::State::Running, std::memory_order_release);
    outer = setCurrentRunControl(&control);
  }
  ~RunScope() {
    setCurrentRunControl(outer);
    control.state.store(RunControl::State::Idle, std::memory_order_release);
  }
  RunScope(const RunScope &) = delete;
  RunScope &operator=(const RunScope &) = delete;

  /// The next run of the scope gets the whole time; a cancellation stays.
  void restartClock() { control.startClock(control.timeLimitMs); }

private:
  RunControl &control;
  const RunControl *outer;
};

} // namespace tracert
