#include "tracert/ThreadPool.h"

#include "OperatingSystem.h"
#include "tracert/RunControl.h"

#include "scalar/FloatMode.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <new>
#include <vector>

namespace tracert {
namespace {

/// How long a thread that waits keeps its core.
constexpr std::chrono::microseconds kSpinTime{50};
/// Ranges per thread: a thread that wakes late costs at most the range it takes.
constexpr int64_t kRangesPerThread = 4;
constexpr int64_t kMaxRanges = 0xFFFF;

/// Counts the forks that this process is a child of. Threads of a pool belong to one count.
std::atomic<uint32_t> forkCount{0};

void watchForks() {
  static const bool registered = [] {
    os::atFork(nullptr, nullptr, [] { forkCount.fetch_add(1, std::memory_order_relaxed); });
    return true;
  }();
  (void)registered;
}

/// Tells the processor that this is a loop that waits.
void pauseProcessor() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("isb");
#endif
}

/// Spins until `isDone()` or the spin time has passed; says which.
template <class Condition> bool spinUntil(Condition isDone) {
  auto deadline = std::chrono::steady_clock::now() + kSpinTime;
  do {
    for (int i = 0; i < 32; ++i) {
      if (isDone()) {
        return true;
      }
      pauseProcessor();
    }
  } while (std::chrono::steady_clock::now() < deadline);
  return false;
}

struct Job {
  ThreadPool::RangeFn fn = nullptr;
  void *context = nullptr;
  int64_t count = 0;
  int64_t rangeCount = 1;
  const RunControl *control = nullptr;

  void runRange(int64_t range) const {
    int64_t base = count / rangeCount;
    int64_t longer = count % rangeCount;
    int64_t begin = base * range + std::min(range, longer);
    fn(context, begin, begin + base + (range < longer ? 1 : 0));
  }
};

} // namespace

/// A job is published by storing a ticket: generation in the high 32 bits, then the number of
/// ranges, then the next range to take (16 bits each). A thread takes a range by adding one with
/// compare-exchange; having taken one, it may read `job`, which cannot change before that range
/// has been reported in `unfinished`. So a thread that wakes late finds a ticket without ranges.
struct ThreadPool::Impl {
  explicit Impl(int threadCount) : threadCount(std::max(1, threadCount)) { watchForks(); }

  ~Impl() {
    // The threads of the parent process do not exist in a forked child.
    if (startedAtFork != forkCount.load(std::memory_order_relaxed)) {
      return;
    }
    stopping.store(true, std::memory_order_release);
    wakeups.fetch_add(1, std::memory_order_release);
    wakeups.notify_all();
    for (os::Thread worker : workers) {
      os::joinThread(worker);
    }
  }

  bool startThreads() {
    uint32_t forks = forkCount.load(std::memory_order_relaxed);
    if (hasStarted) {
      return startedAtFork == forks && !workers.empty();
    }
    hasStarted = true;
    startedAtFork = forks;
    for (int i = 1; i < threadCount; ++i) {
      os::Thread worker;
      auto entry = [](void *impl) -> void * {
        static_cast<Impl *>(impl)->work();
        return nullptr;
      };
      if (os::startThread(worker, entry, this)) {
        workers.push_back(worker);
      }
    }
    return !workers.empty();
  }

  void work() {
    scalar::EnterNumericMode mode;
    uint32_t seen = 0;
    while (!stopping.load(std::memory_order_acquire)) {
      auto isWoken = [&] { return wakeups.load(std::memory_order_acquire) != seen; };
      if (!spinUntil(isWoken)) {
        wakeups.wait(seen, std::memory_order_acquire);
      }
      seen = wakeups.load(std::memory_order_acquire);
      takeRanges();
    }
  }

  void takeRanges() {
    uint64_t current = ticket.load(std::memory_order_acquire);
    while (true) {
      int64_t range = static_cast<int64_t>(current & 0xFFFF);
      if (range >= static_cast<int64_t>((current >> 16) & 0xFFFF)) {
        return;
      }
      if (!ticket.compare_exchange_weak(current, current + 1, std::memory_order_acq_rel,
                                        std::memory_order_acquire)) {
        continue;
      }
      runGuarded(range);
      unfinished.fetch_sub(1, std::memory_order_release);
      current = ticket.load(std::memory_order_acquire);
    }
  }

  /// An exception may not leave a thread of the pool: the caller of the loop gets it.
  void runGuarded(int64_t range) noexcept {
    const RunControl *outer = setCurrentRunControl(job.control);
    try {
      job.runRange(range);
    } catch (const std::bad_alloc &) {
      hasFailed.store(true, std::memory_order_relaxed);
    }
    setCurrentRunControl(outer);
  }

  /// Whether a range found no memory.
  bool run(const Job &newJob) {
    hasFailed.store(false, std::memory_order_relaxed);
    job = newJob;
    unfinished.store(job.rangeCount, std::memory_order_relaxed);
    ++generation;
    ticket.store(uint64_t(generation) << 32 | static_cast<uint64_t>(job.rangeCount) << 16,
                 std::memory_order_release);
    wakeups.fetch_add(1, std::memory_order_release);
    wakeups.notify_all();
    takeRanges();
    auto isDone = [&] { return unfinished.load(std::memory_order_acquire) == 0; };
    while (!spinUntil(isDone)) {
      os::yieldProcessor();
    }
    return hasFailed.load(std::memory_order_relaxed);
  }

  const int threadCount;
  std::atomic<bool> isBusy{false};
  std::atomic<bool> stopping{false};
  std::atomic<uint64_t> sharedLoops{0};
  std::atomic<uint32_t> wakeups{0};
  alignas(64) std::atomic<uint64_t> ticket{0};
  alignas(64) std::atomic<int64_t> unfinished{0};
  std::atomic<bool> hasFailed{false};
  Job job;
  uint32_t generation = 0;
  bool hasStarted = false;
  uint32_t startedAtFork = 0;
  std::vector<os::Thread> workers;
};

ThreadPool::ThreadPool(int threadCount) : impl(std::make_unique<Impl>(threadCount)) {}

ThreadPool::~ThreadPool() = default;

int ThreadPool::threadCount() const { return impl->threadCount; }

uint64_t ThreadPool::sharedLoops() const {
  return impl->sharedLoops.load(std::memory_order_relaxed);
}

void ThreadPool::parallelFor(int64_t count, RangeFn fn, void *context) {
  if (count <= 0) {
    return;
  }
  bool mayShare =
      count > 1 && impl->threadCount > 1 && !impl->isBusy.exchange(true, std::memory_order_acquire);
  if (!mayShare) {
    fn(context, 0, count);
    return;
  }
  // Released in any case: the loop of a range may throw.
  struct Release {
    std::atomic<bool> &isBusy;
    ~Release() { isBusy.store(false, std::memory_order_release); }
  } release{impl->isBusy};
  if (!impl->startThreads()) {
    fn(context, 0, count);
    return;
  }
  int64_t ranges = std::min({count, kMaxRanges, impl->threadCount * kRangesPerThread});
  impl->sharedLoops.fetch_add(1, std::memory_order_relaxed);
  if (impl->run({fn, context, count, ranges, currentRunControl()})) {
    throw std::bad_alloc();
  }
}

namespace {

int usableThreads() {
  if (const char *text = os::environment("TRACERT_THREADS")) {
    char *end = nullptr;
    long wanted = std::strtol(text, &end, 10);
    if (end != text && *end == '\0' && wanted >= 1 && wanted <= 4096) {
      return static_cast<int>(wanted);
    }
  }
  return os::usableProcessors();
}

} // namespace

ThreadPool &processThreadPool() {
  // Never destroyed: the threads must not be joined while other statics go away.
  static ThreadPool *pool = new ThreadPool(usableThreads());
  return *pool;
}

} // namespace tracert
