// The caching allocator and buffers.

#include "tracert/Allocator.h"

#include <cstring>
#include <gtest/gtest.h>
#include <thread>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

using namespace tracert;

namespace {

uintptr_t addressOf(const void *data) { return reinterpret_cast<uintptr_t>(data); }

TEST(CachingAllocator, blocksAreAlignedAndHaveSlack) {
  std::unique_ptr<Allocator> allocator = makeCachingAllocator();
  for (size_t size : {0, 1, 63, 64, 65, 191, 192, 193, 255, 256, 257, 1000, 4096, 100'000,
                      (1 << 21) - 65, (1 << 21) - 64, 1 << 21, 5'000'000}) {
    void *data = allocator->allocate(size);
    ASSERT_NE(data, nullptr);
    EXPECT_EQ(addressOf(data) % kBufferAlignment, 0u);
    if (size >= (1u << 21)) {
      EXPECT_EQ(addressOf(data) % (1u << 21), 0u);
    }
    // Under the address sanitizer this finds a block that is too small.
    std::memset(data, 1, size + kBufferSlack);
    EXPECT_GE(allocator->usage().bytesInUse, size + kBufferSlack);
    // At most a quarter is wasted, beyond the grain of small and huge blocks.
    EXPECT_LE(allocator->usage().bytesInUse, std::max<size_t>(256, (size + kBufferSlack) * 5 / 4) +
                                                 (size > 1'900'000 ? 1u << 21 : 0));
    allocator->release(data, size);
    EXPECT_EQ(allocator->usage().bytesInUse, 0u);
  }
}

TEST(CachingAllocator, blocksAreReusedWithinTheirClass) {
  std::unique_ptr<Allocator> allocator = makeCachingAllocator();
  void *first = allocator->allocate(1000);
  allocator->release(first, 1000);
  EXPECT_GT(allocator->usage().bytesCached, 0u);
  void *again = allocator->allocate(1010);
  EXPECT_EQ(again, first);
  EXPECT_EQ(allocator->usage().bytesCached, 0u);
  void *other = allocator->allocate(1010);
  EXPECT_NE(other, first);
  allocator->release(again, 1010);
  allocator->release(other, 1010);
  size_t peak = allocator->usage().peakBytesInUse;
  EXPECT_GE(peak, 2 * 1010u);
  allocator->trim();
  EXPECT_EQ(allocator->usage().bytesCached, 0u);
  EXPECT_EQ(allocator->usage().peakBytesInUse, peak);
}

TEST(CachingAllocator, classesNeverMixSizes) {
  std::unique_ptr<Allocator> allocator = makeCachingAllocator();
  // Every block is released and asked for again with a neighbouring size; a class that mixed sizes
  // would hand out a block that is too small.
  for (size_t size = 1; size < 20'000; size += 37) {
    void *data = allocator->allocate(size);
    std::memset(data, 2, size + kBufferSlack);
    allocator->release(data, size);
  }
  EXPECT_EQ(allocator->usage().bytesInUse, 0u);
}

TEST(CachingAllocator, refusesWhatNoSystemHas) {
  std::unique_ptr<Allocator> allocator = makeCachingAllocator();
  EXPECT_EQ(allocator->allocate(SIZE_MAX), nullptr);
  EXPECT_EQ(allocator->allocate(SIZE_MAX / 2), nullptr);
  EXPECT_EQ(allocator->usage().bytesInUse, 0u);
}

TEST(CachingAllocator, servesThreadsAtOnce) {
  std::unique_ptr<Allocator> allocator = makeCachingAllocator();
  std::vector<std::thread> threads;
  for (int number = 0; number < 4; ++number) {
    threads.emplace_back([&, number] {
      for (size_t i = 0; i < 2000; ++i) {
        size_t size = (i * 97) % 5000;
        char *data = static_cast<char *>(allocator->allocate(size));
        std::memset(data, number, size);
        for (size_t at = 0; at < size; at += 511) {
          ASSERT_EQ(data[at], number);
        }
        allocator->release(data, size);
      }
    });
  }
  for (std::thread &thread : threads) {
    thread.join();
  }
  EXPECT_EQ(allocator->usage().bytesInUse, 0u);
}

TEST(ProcessAllocator, worksInAForkedChild) {
  Allocator &allocator = processAllocator();
  std::atomic<bool> stop{false};
  std::thread busy([&] {
    while (!stop) {
      allocator.release(allocator.allocate(100), 100);
    }
  });
  for (int i = 0; i < 20; ++i) {
    pid_t child = fork();
    if (child == 0) {
      alarm(10);
      allocator.release(allocator.allocate(100), 100);
      _exit(0);
    }
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  stop = true;
  busy.join();
}

TEST(Buffer, countsReferences) {
  std::unique_ptr<Allocator> allocator = makeCachingAllocator();
  {
    BufferRef first(Buffer::allocate(*allocator, 10));
    EXPECT_TRUE(first->isUnique());
    EXPECT_FALSE(first->isForeign());
    EXPECT_EQ(first->size(), 10u);
    BufferRef second = first;
    EXPECT_FALSE(first->isUnique());
    EXPECT_EQ(second.get(), first.get());
    BufferRef moved = std::move(second);
    EXPECT_FALSE(second);
    moved = BufferRef();
    EXPECT_TRUE(first->isUnique());
  }
  EXPECT_EQ(allocator->usage().bytesInUse, 0u);
}

TEST(Buffer, releasesItsForeignOwnerOnce) {
  int released = 0;
  char memory[4];
  {
    BufferRef buffer(
        Buffer::foreign(memory, 4, [](void *owner) { ++*static_cast<int *>(owner); }, &released));
    BufferRef copy = buffer;
    EXPECT_TRUE(buffer->isForeign());
    EXPECT_EQ(released, 0);
  }
  EXPECT_EQ(released, 1);
}

TEST(Buffer, isNullWithoutMemory) {
  EXPECT_EQ(Buffer::allocate(processAllocator(), SIZE_MAX), nullptr);
}

} // namespace
