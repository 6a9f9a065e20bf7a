// Mutexes beside an interpreter's lock: neither is awaited with the other one held.

#include "tracec/InterpreterLock.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <latch>
#include <thread>
#include <vector>

using namespace tracec;

namespace {

/// Stands for Python's.
std::mutex big;
thread_local bool hasBig = false;

void takeBig() {
  big.lock();
  hasBig = true;
}
void giveBig() {
  hasBig = false;
  big.unlock();
}

class InterpreterLocks : public testing::Test {
protected:
  void SetUp() override {
    setInterpreterLock({[]() -> void * {
                          if (!hasBig) {
                            return nullptr;
                          }
                          giveBig();
                          return &big;
                        },
                        [](void *) {
                          EXPECT_FALSE(holdsScopedLock());
                          takeBig();
                        }});
  }
  void TearDown() override { setInterpreterLock({}); }
};

} // namespace

TEST_F(InterpreterLocks, AThreadThatWaitsForAMutexGivesTheInterpreterUp) {
  std::mutex mutex;
  std::latch isHeld(1);
  std::atomic<bool> hadBoth{false};
  std::thread holder([&] {
    std::unique_lock held(mutex);
    isHeld.count_down();
    // Comes through only while the other thread waits without it.
    takeBig();
    hadBoth = true;
    giveBig();
  });
  isHeld.wait();
  takeBig();
  {
    ScopedLock lock(mutex);
    EXPECT_TRUE(hasBig);
    EXPECT_TRUE(hadBoth);
  }
  giveBig();
  holder.join();
}

TEST_F(InterpreterLocks, APauseLetsOthersInAndNests) {
  takeBig();
  {
    WithoutInterpreter pause;
    EXPECT_FALSE(hasBig);
    std::thread([] {
      takeBig();
      giveBig();
    }).join();
    WithoutInterpreter again;
  }
  EXPECT_TRUE(hasBig);
  giveBig();
}

TEST_F(InterpreterLocks, ThreadsOfBothKindsComeThrough) {
  std::mutex mutexes[2];
  int64_t counts[2] = {0, 0};
  constexpr int kRounds = 3000;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, isPython = thread < 3] {
      for (int round = 0; round < kRounds; ++round) {
        if (isPython) {
          takeBig();
        }
        for (int i : {0, 1}) {
          ScopedLock lock(mutexes[i]);
          EXPECT_EQ(hasBig, isPython);
          ++counts[i];
        }
        if (isPython && round % 8 == 0) {
          WithoutInterpreter pause;
          ScopedLock lock(mutexes[round & 1]);
          ++counts[round & 1];
        }
        if (isPython) {
          giveBig();
        }
      }
    });
  }
  for (std::thread &thread : threads) {
    thread.join();
  }
  EXPECT_EQ(counts[0] + counts[1], 4 * 2 * kRounds + 3 * kRounds / 8);
}
