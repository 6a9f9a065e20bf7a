// The structural half of the index normaliser, and slices against every bound.

#include "IndexReference.h"
#include "tracert/IndexMath.h"

#include <gtest/gtest.h>

using namespace tracert;
using namespace tracert::test;

namespace {

std::string normalized(std::vector<RawIndex> raw, size_t rank) {
  Result<IndexItems> items = normalizeIndex(raw, rank);
  if (!items.ok()) {
    return items.status().message();
  }
  std::string text = opCallString(
      {OpKind::subtensor, {AttrValue::index(std::make_shared<IndexItems>(std::move(*items)))}});
  // subtensor(items=...)
  return text.substr(16, text.size() - 17);
}

const RawIndex all = RawIndex::slice(std::nullopt, std::nullopt);
const RawIndex array = RawIndex::intArray();
const RawIndex one = RawIndex::integer(1);
const RawIndex none = RawIndex::newAxis();
const RawIndex dots = RawIndex::ellipsis();

TEST(IndexNormalizer, expandsAndPads) {
  EXPECT_EQ(normalized({}, 2), "[:, :]");
  EXPECT_EQ(normalized({}, 0), "[]");
  EXPECT_EQ(normalized({dots}, 2), "[:, :]");
  EXPECT_EQ(normalized({one}, 3), "[1, :, :]");
  EXPECT_EQ(normalized({one, dots, one}, 4), "[1, :, :, 1]");
  EXPECT_EQ(normalized({one, dots, one}, 2), "[1, 1]");
  EXPECT_EQ(normalized({none, dots, none}, 1), "[None, :, None]");
  EXPECT_EQ(normalized({RawIndex::mask(2)}, 3), "[mask2, :]");
  EXPECT_EQ(normalized({RawIndex::mask(0)}, 1), "[mask0, :]");
  RawIndex bound = RawIndex::slice(std::nullopt, 4);
  bound.beginIsOperand = true;
  EXPECT_EQ(normalized({bound}, 1), "[operand:4]");
}

TEST(IndexNormalizer, placesAdvancedItems) {
  EXPECT_EQ(normalized({all, array, array}, 3), "[:, array, array]");
  EXPECT_EQ(normalized({array, all, array}, 3), "[array, :, array] first");
  EXPECT_EQ(normalized({array, none, array}, 2), "[array, None, array] first");
  EXPECT_EQ(normalized({one, all, array}, 3), "[1, :, array] first");
  EXPECT_EQ(normalized({one, array}, 2), "[1, array]");
  // An Ellipsis that expands to nothing separates as well.
  EXPECT_EQ(normalized({array, dots, array}, 2), "[array, array] first");
  EXPECT_EQ(normalized({dots, array, array}, 2), "[array, array]");
  EXPECT_EQ(normalized({RawIndex::mask(0), all, array}, 2), "[mask0, :, array] first");
  // Without an array there is nothing to place.
  EXPECT_EQ(normalized({one, all, one}, 3), "[1, :, 1]");
}

TEST(IndexNormalizer, errors) {
  EXPECT_EQ(normalized({one, one, one}, 2),
            "too many indices: tensor has 2 axes, but 3 were indexed");
  EXPECT_EQ(normalized({one, RawIndex::mask(2)}, 2),
            "too many indices: tensor has 2 axes, but 3 were indexed");
  EXPECT_EQ(normalized({dots, dots}, 2), "an index may have one Ellipsis ('...'), got 2");
  EXPECT_EQ(normalized({RawIndex::slice(0, 1, 0)}, 2), "slice step must not be 0");
  EXPECT_EQ(normalizeIndex(std::vector{one}, 0).status().code(), StatusCode::IndexOutOfRange);
  EXPECT_EQ(normalizeIndex(std::vector{RawIndex::slice(0, 1, 0)}, 1).status().code(),
            StatusCode::InvalidArgument);
}

TEST(Slices, matchWalkingForAllSmallBounds) {
  for (int64_t size = 0; size <= 5; ++size) {
    for (int64_t step : {-6, -3, -2, -1, 1, 2, 3, 6}) {
      for (int64_t begin = -8; begin <= 8; ++begin) {
        for (int64_t end = -8; end <= 8; ++end) {
          // 8 stands for "absent".
          RawIndex raw = RawIndex::slice(begin == 8 ? std::nullopt : std::optional(begin),
                                         end == 8 ? std::nullopt : std::optional(end), step);
          std::vector<int64_t> expected = slicedRange(raw, size);
          IndexItem item = (*normalizeIndex(std::vector{raw}, 1)).items[0];
          ResolvedSlice slice = resolveSlice(item, item.begin, item.end, size);
          ASSERT_EQ(slice.count, static_cast<int64_t>(expected.size()))
              << begin << ":" << end << ":" << step << " of " << size;
          for (int64_t i = 0; i < slice.count; ++i) {
            ASSERT_EQ(slice.begin + i * slice.step, expected[static_cast<size_t>(i)]);
          }
        }
      }
    }
  }
}

TEST(Slices, hugeBoundsAndSteps) {
  auto resolved = [](int64_t begin, int64_t end, int64_t step, int64_t size) {
    IndexItem item;
    item.hasBegin = item.hasEnd = true;
    item.step = step;
    return resolveSlice(item, begin, end, size);
  };
  EXPECT_EQ(resolved(INT64_MIN, INT64_MAX, 1, 5).count, 5);
  EXPECT_EQ(resolved(INT64_MAX, INT64_MIN, -1, 5).count, 5);
  EXPECT_EQ(resolved(INT64_MIN, INT64_MAX, INT64_MAX, 5).count, 1);
  EXPECT_EQ(resolved(INT64_MAX, INT64_MIN, INT64_MIN, 5).count, 1);
  EXPECT_EQ(resolved(INT64_MAX, INT64_MIN, INT64_MIN, 5).begin, 4);
  EXPECT_EQ(resolved(0, INT64_MAX, 1, INT64_MAX).count, INT64_MAX);
}

} // namespace
