// The fork-join pool: every element once, nesting, several callers, fork, numeric mode.

#include "tracert/ThreadPool.h"
#include "tracert/scalar/FloatMode.h"

#include <atomic>
#include <gtest/gtest.h>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

using namespace tracert;

namespace {

TEST(ThreadPool, visitsEachElementOnce) {
  for (int threads : {1, 2, 3, 8}) {
    ThreadPool pool(threads);
    EXPECT_EQ(pool.threadCount(), threads);
    for (int64_t count : {0, 1, 2, 3, 7, 8, 9, 31, 1000, 100'003}) {
      std::vector<std::atomic<int>> visits(static_cast<size_t>(count));
      pool.parallelFor(count, [&](int64_t begin, int64_t end) {
        ASSERT_LE(0, begin);
        ASSERT_LT(begin, end);
        ASSERT_LE(end, count);
        for (int64_t i = begin; i < end; ++i) {
          ++visits[static_cast<size_t>(i)];
        }
      });
      for (const std::atomic<int> &visit : visits) {
        ASSERT_EQ(visit, 1);
      }
    }
  }
}

TEST(ThreadPool, hugeCountsDoNotOverflow) {
  ThreadPool pool(2);
  std::atomic<int64_t> total{0};
  pool.parallelFor(INT64_MAX, [&](int64_t begin, int64_t end) { total += end - begin; });
  EXPECT_EQ(total, INT64_MAX);
}

TEST(ThreadPool, manySmallLoops) {
  ThreadPool pool(3);
  int64_t total = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::atomic<int64_t> sum{0};
    pool.parallelFor(16, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        sum += i;
      }
    });
    total += sum;
    if (round % 5000 == 0) {
      // Long enough for the workers to fall asleep.
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  }
  EXPECT_EQ(total, 20'000 * 120);
}

TEST(ThreadPool, usesOtherThreads) {
  ThreadPool pool(2);
  std::mutex mutex;
  std::set<std::thread::id> seen;
  // The other thread gets a range sooner or later.
  for (int round = 0; round < 1000 && seen.size() < 2; ++round) {
    pool.parallelFor(8, [&](int64_t, int64_t) {
      std::this_thread::sleep_for(std::chrono::microseconds(200));
      std::lock_guard lock(mutex);
      seen.insert(std::this_thread::get_id());
    });
  }
  EXPECT_EQ(seen.size(), 2u);
}

TEST(ThreadPool, nestedLoopsRunInPlace) {
  ThreadPool pool(2);
  std::atomic<int64_t> total{0};
  pool.parallelFor(10, [&](int64_t begin, int64_t end) {
    std::thread::id outer = std::this_thread::get_id();
    for (int64_t i = begin; i < end; ++i) {
      pool.parallelFor(10, [&](int64_t innerBegin, int64_t innerEnd) {
        EXPECT_EQ(std::this_thread::get_id(), outer);
        total += innerEnd - innerBegin;
      });
    }
  });
  EXPECT_EQ(total, 100);
}

TEST(ThreadPool, severalCallersAtOnce) {
  ThreadPool pool(2);
  std::vector<std::thread> callers;
  std::atomic<int64_t> total{0};
  for (int caller = 0; caller < 3; ++caller) {
    callers.emplace_back([&] {
      for (int round = 0; round < 500; ++round) {
        pool.parallelFor(64, [&](int64_t begin, int64_t end) { total += end - begin; });
      }
    });
  }
  for (std::thread &caller : callers) {
    caller.join();
  }
  EXPECT_EQ(total, 3 * 500 * 64);
}

TEST(ThreadPool, workersAreInTheDefaultNumericMode) {
  // A fast-math library has switched this thread, and so the threads that it starts.
  using Mode = scalar::FloatModeRegister;
  Mode::Bits before = Mode::read();
  Mode::write(before | Mode::flushBits);
  std::atomic<Mode::Bits> worst{0};
  {
    ThreadPool pool(2);
    std::thread::id caller = std::this_thread::get_id();
    std::atomic<bool> sawWorker{false};
    for (int round = 0; round < 1000 && !sawWorker; ++round) {
      pool.parallelFor(8, [&](int64_t, int64_t) {
        std::this_thread::sleep_for(std::chrono::microseconds(100));
        if (std::this_thread::get_id() != caller) {
          sawWorker = true;
          worst |= Mode::read() & Mode::flushBits;
        }
      });
    }
    EXPECT_TRUE(sawWorker);
  }
  Mode::write(before);
  EXPECT_EQ(worst, Mode::Bits(0));
}

TEST(ThreadPool, aForkedChildRunsOnItsOwnThread) {
  ThreadPool pool(2);
  auto sum = [&] {
    std::atomic<int64_t> total{0};
    pool.parallelFor(1000, [&](int64_t begin, int64_t end) { total += end - begin; });
    return total.load();
  };
  EXPECT_EQ(sum(), 1000);
  pid_t child = fork();
  if (child == 0) {
    alarm(10);
    bool isRight = sum() == 1000;
    {
      // Pools made in the child have threads again.
      ThreadPool own(2);
      std::atomic<int64_t> total{0};
      own.parallelFor(10, [&](int64_t begin, int64_t end) { total += end - begin; });
      isRight = isRight && total == 10;
    }
    _exit(isRight ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(sum(), 1000);
}

} // namespace
