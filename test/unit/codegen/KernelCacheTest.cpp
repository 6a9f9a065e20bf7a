#include "Codegen/CPU/KernelCache.h"

#include <gtest/gtest.h>

using namespace tracec;

namespace {

FlatBlob blob(size_t bytes, uint8_t fill) { return {std::vector<uint8_t>(bytes, fill), 3}; }

TEST(KernelCache, FindsWhatWasAdded) {
  KernelCache cache(1 << 20);
  EXPECT_EQ(cache.find("a"), nullptr);
  EXPECT_EQ(cache.add("a", blob(100, 1)).bytes.size(), 100u);
  cache.add("b", blob(200, 2));
  ASSERT_NE(cache.find("a"), nullptr);
  EXPECT_EQ(cache.find("a")->bytes, blob(100, 1).bytes);
  EXPECT_EQ(cache.find("a")->entry, 3u);
  EXPECT_EQ(cache.find("b")->bytes.size(), 200u);
  EXPECT_GE(cache.bytes(), 302u);
}

TEST(KernelCache, BytesStayBelowTheBoundAndTheLeastRecentlyUsedGoes) {
  const size_t bound = 100'000;
  KernelCache cache(bound);
  for (int i = 0; i < 1000; ++i) {
    cache.add("kernel" + std::to_string(i), blob(1000 + i, static_cast<uint8_t>(i)));
    ASSERT_LE(cache.bytes(), bound);
    // The first one is used all the time, so it stays.
    ASSERT_NE(cache.find("kernel0"), nullptr) << i;
  }
  EXPECT_GE(cache.size(), 40u);
  EXPECT_LE(cache.size(), 100u);
  EXPECT_EQ(cache.find("kernel1"), nullptr);
  EXPECT_EQ(cache.find("kernel800"), nullptr);
  ASSERT_NE(cache.find("kernel999"), nullptr);
  EXPECT_EQ(cache.find("kernel999")->bytes, blob(1999, static_cast<uint8_t>(999)).bytes);
}

TEST(KernelCache, LongKeysCount) {
  KernelCache cache(100'000);
  for (int i = 0; i < 50; ++i) {
    cache.add(std::string(10'000, 'x') + std::to_string(i), blob(10, 0));
  }
  EXPECT_LE(cache.bytes(), 100'000u);
  EXPECT_LE(cache.size(), 9u);
}

TEST(KernelCache, TheNewestStaysHoweverLarge) {
  KernelCache cache(1000);
  cache.add("small", blob(10, 1));
  const FlatBlob &large = cache.add("large", blob(5000, 7));
  EXPECT_EQ(large.bytes, blob(5000, 7).bytes);
  EXPECT_EQ(cache.size(), 1u);
  EXPECT_NE(cache.find("large"), nullptr);
  cache.add("small", blob(10, 1));
  EXPECT_EQ(cache.find("large"), nullptr);
  EXPECT_LE(cache.bytes(), 1000u);
}

} // namespace
