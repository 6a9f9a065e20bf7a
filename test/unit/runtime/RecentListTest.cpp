#include "tracert/RecentList.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

using tracert::RecentList;

namespace {

std::string text(const RecentList<int> &list) {
  std::string joined;
  for (int item : list) {
    joined += std::to_string(item) + " ";
  }
  return joined;
}

auto is(int wanted) {
  return [wanted](int item) { return item == wanted; };
}

TEST(RecentList, TheLeastRecentlyUsedGoes) {
  RecentList<int> list(3);
  EXPECT_FALSE(list.add(1));
  EXPECT_FALSE(list.add(2));
  EXPECT_FALSE(list.add(3));
  ASSERT_TRUE(list.find(is(1)));
  EXPECT_EQ(list.add(4), 2);
  EXPECT_EQ(text(list), "3 1 4 ");
  EXPECT_EQ(list.size(), 3u);
  EXPECT_FALSE(list.find(is(2)));
  EXPECT_EQ(text(list), "3 1 4 ");
}

TEST(RecentList, FindPrefersTheMostRecent) {
  RecentList<int> list(4);
  for (int item : {10, 11, 12, 13}) {
    list.add(item);
  }
  EXPECT_EQ(*list.find([](int item) { return item < 13; }), 12);
  EXPECT_EQ(list.latest(), 12);
  EXPECT_EQ(text(list), "10 11 13 12 ");
}

TEST(RecentList, TakeRemoves) {
  RecentList<std::unique_ptr<int>> list(2);
  list.add(std::make_unique<int>(1));
  list.add(std::make_unique<int>(2));
  auto taken = list.take([](const std::unique_ptr<int> &item) { return *item == 1; });
  ASSERT_TRUE(taken);
  EXPECT_EQ(**taken, 1);
  EXPECT_EQ(list.size(), 1u);
  EXPECT_FALSE(list.take([](const std::unique_ptr<int> &item) { return *item == 1; }));
  EXPECT_FALSE(list.add(std::make_unique<int>(3)));
}

TEST(RecentList, TakeAllKeepsTheOrderOfTheRest) {
  RecentList<int> list(5);
  for (int item : {1, 2, 3, 4, 5}) {
    list.add(item);
  }
  EXPECT_EQ(list.takeAll([](int item) { return item % 2 == 0; }), (std::vector<int>{2, 4}));
  EXPECT_EQ(text(list), "1 3 5 ");
  EXPECT_TRUE(list.takeAll(is(7)).empty());
}

} // namespace
