#include "src/ArenaLayout.h"

#include <gtest/gtest.h>
#include <random>

using namespace tracert;

namespace {

void checkLayout(const std::vector<ArenaRequest> &requests, size_t total) {
  for (size_t i = 0; i < requests.size(); ++i) {
    const ArenaRequest &a = requests[i];
    EXPECT_EQ(a.offset % kBufferAlignment, 0u);
    EXPECT_LE(a.offset + arenaBlockSize(a.bytes), total);
    for (size_t j = 0; j < i; ++j) {
      const ArenaRequest &b = requests[j];
      bool areAliveTogether = a.firstStep <= b.lastStep && b.firstStep <= a.lastStep;
      bool areApart = a.offset + arenaBlockSize(a.bytes) <= b.offset ||
                      b.offset + arenaBlockSize(b.bytes) <= a.offset;
      ASSERT_TRUE(!areAliveTogether || areApart) << "buffers " << i << " and " << j;
    }
  }
}

TEST(ArenaLayout, BuffersAliveTogetherNeverOverlap) {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    std::vector<ArenaRequest> requests(random() % 60);
    for (ArenaRequest &request : requests) {
      request.bytes = static_cast<int64_t>(random() % 5 == 0 ? random() % 100000 : random() % 500);
      request.firstStep = static_cast<int32_t>(random() % 40);
      request.lastStep = request.firstStep + static_cast<int32_t>(random() % 10);
    }
    checkLayout(requests, layOutArena(requests));
  }
}

TEST(ArenaLayout, MemoryIsUsedAgain) {
  // A chain: each buffer dies when the next one has been made.
  std::vector<ArenaRequest> requests;
  for (int32_t i = 0; i < 100; ++i) {
    requests.push_back({1000, i, i + 1, 0});
  }
  size_t total = layOutArena(requests);
  checkLayout(requests, total);
  EXPECT_EQ(total, 2 * arenaBlockSize(1000));
}

TEST(ArenaLayout, TheSmallestBlockThatFitsIsTaken) {
  // Two free blocks, kept apart by buffers that live on.
  std::vector<ArenaRequest> requests{
      {4096, 0, 2, 0}, {64, 0, 9, 0}, {512, 1, 2, 0}, {64, 1, 9, 0}, {400, 3, 9, 0}};
  layOutArena(requests);
  EXPECT_EQ(requests[4].offset, requests[2].offset);
}

TEST(ArenaLayout, MoreThanTheAddressSpaceIsRefused) {
  std::vector<ArenaRequest> requests{
      {INT64_MAX - 64, 0, 1, 0}, {INT64_MAX - 64, 0, 1, 0}, {INT64_MAX - 64, 0, 1, 0}};
  EXPECT_EQ(layOutArena(requests), SIZE_MAX);
}

} // namespace
