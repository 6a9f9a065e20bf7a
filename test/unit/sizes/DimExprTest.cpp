// Expressions of sizes: one object for equal ones, and what is known of them.

#include "trace/Transforms/DimExpr.h"

#include <gtest/gtest.h>

using namespace tracert;
using rules::Truth;

namespace tracec::trace {
namespace {

struct Sizes : testing::Test {
  DimTable table;
  DimExpr n = table.symbol({}), m = table.symbol({});

  DimExpr num(int64_t value) { return table.number(value); }
  DimExpr plus(DimExpr a, int64_t b) { return table.add(a, num(b)); }
  DimExpr slice(DimExpr size, std::optional<int64_t> begin, std::optional<int64_t> end,
                int64_t step = 1) {
    IndexItem item;
    item.hasBegin = begin.has_value();
    item.hasEnd = end.has_value();
    item.step = step;
    return table.sliced(item, num(begin.value_or(0)), num(end.value_or(0)), size);
  }
};

TEST_F(Sizes, SumsAndProductsAreOneObject) {
  EXPECT_EQ(table.add(n, m), table.add(m, n));
  EXPECT_EQ(table.multiply(plus(n, 1), m), table.add(table.multiply(m, n), m));
  EXPECT_EQ(table.subtract(table.add(n, m), n), m);
  EXPECT_EQ(table.subtract(n, n), num(0));
  EXPECT_NE(table.add(n, m), table.multiply(n, m));
}

TEST_F(Sizes, SlicesKeepTheClamp) {
  DimExpr tail = slice(n, 2, std::nullopt);
  EXPECT_EQ(tail, table.clamp(plus(n, -2)));
  EXPECT_NE(tail, plus(n, -2));
  EXPECT_EQ(slice(tail, 1, std::nullopt), slice(n, 3, std::nullopt));
  EXPECT_EQ(slice(n, 1, -1), slice(n, 2, std::nullopt));
  EXPECT_EQ(slice(n, std::nullopt, -2), tail);
  EXPECT_EQ(slice(plus(n, 2), 2, std::nullopt), n);
  EXPECT_EQ(slice(n, std::nullopt, 3), slice(n, -3, std::nullopt));
  EXPECT_EQ(slice(n, std::nullopt, std::nullopt, -1), n);
  EXPECT_EQ(slice(table.multiply(n, num(4)), std::nullopt, std::nullopt, 2),
            table.multiply(n, num(2)));
  EXPECT_NE(slice(n, std::nullopt, std::nullopt, 2), n);
}

TEST_F(Sizes, QuotientsAreExactWhereTheyCanBe) {
  DimExpr product = table.multiply(n, m);
  EXPECT_EQ(table.quotient(product, n), m);
  EXPECT_EQ(table.quotient(table.multiply(n, num(6)), num(3)), table.multiply(n, num(2)));
  DimExpr half = table.quotient(n, num(2));
  EXPECT_EQ(half, table.quotient(n, num(2)));
  EXPECT_EQ(table.multiply(half, num(2)), n);
}

TEST_F(Sizes, EqualKnowsWhatHoldsForEverySize) {
  EXPECT_EQ(table.equal(n, m), Truth::Undecided);
  EXPECT_EQ(table.equal(n, plus(n, 1)), Truth::No);
  EXPECT_EQ(table.equal(plus(n, 2), num(1)), Truth::No);
  EXPECT_EQ(table.equal(plus(n, 2), num(2)), Truth::Undecided);
  EXPECT_EQ(table.equal(table.multiply(n, num(2)), plus(table.multiply(m, num(2)), 1)), Truth::No);
  EXPECT_EQ(table.equal(slice(n, 2, std::nullopt), n), Truth::Undecided);
}

TEST_F(Sizes, BroadcastsAreSets) {
  DimExpr both = table.broadcast(n, m);
  EXPECT_EQ(both, table.broadcast(m, n));
  EXPECT_EQ(table.broadcast(both, n), both);
  EXPECT_NE(both, n);
}

TEST_F(Sizes, HintsFollowTheSizes) {
  DimExpr k = table.symbol({.hint = 10});
  EXPECT_EQ(slice(k, 2, std::nullopt).hint(), 8);
  EXPECT_EQ(table.multiply(k, k).hint(), 100);
  EXPECT_EQ(table.add(k, n).hint(), std::nullopt);
}

TEST_F(Sizes, LongSumsStayCheap) {
  DimExpr sum = n;
  for (int i = 0; i < 2000; ++i) {
    sum = table.add(sum, table.symbol({}));
  }
  // Nodes, not terms: what each sum adds has a bound.
  EXPECT_LT(table.size(), 9000u);
  EXPECT_EQ(table.isAtLeast(sum, 0), Truth::Yes);
}

} // namespace
} // namespace tracec::trace
