// The rules of guards: refused exactly where the view rule, or the size, is another one.
#include "tracert/OpRules.h"
#include "tracert/generated/OpAttrs.h"

#include <gtest/gtest.h>

#include <random>

using namespace tracert;

namespace {

OpCall guardOne(int64_t axis, bool isOne) {
  return {OpKind::guard_one, {AttrValue::integer(axis), AttrValue::boolean(isOne)}};
}

OpCall guardView(Dims layout, bool isView, bool ofInput = false) {
  return {OpKind::guard_view,
          {AttrValue::ints(std::move(layout)), AttrValue::boolean(ofInput),
           AttrValue::boolean(isView)}};
}

StatusCode check(const OpCall &call, std::vector<Dims> shapes, const Dims *strides = nullptr) {
  std::vector<OperandInfo> operands;
  for (Dims &shape : shapes) {
    operands.push_back({{DType::Float32, std::move(shape)}});
  }
  operands[0].strides = strides;
  return inferTypes(call, operands).status().code();
}

} // namespace

TEST(Guard, OneIsRefusedWhenItChanges) {
  EXPECT_EQ(check(guardOne(0, true), {{1, 3}}), StatusCode::Ok);
  EXPECT_EQ(check(guardOne(0, true), {{0, 3}}), StatusCode::GuardFailed);
  EXPECT_EQ(check(guardOne(0, true), {{2, 3}}), StatusCode::GuardFailed);
  EXPECT_EQ(check(guardOne(1, false), {{1, 1}}), StatusCode::GuardFailed);
  EXPECT_EQ(check(guardOne(1, false), {{1, 0}}), StatusCode::Ok);
  EXPECT_EQ(check(guardOne(0, true), {{kUnknownDim}}), StatusCode::Ok);
  EXPECT_EQ(check(guardOne(2, true), {{1, 1}}), StatusCode::AxisOutOfRange);
}

TEST(Guard, ShapesMustBeEqualOnceKnown) {
  OpCall call{OpKind::guard_same_shape, {}};
  EXPECT_EQ(check(call, {{4}, {4}}), StatusCode::Ok);
  EXPECT_EQ(check(call, {{1}, {4}}), StatusCode::InvalidArgument);
  EXPECT_EQ(check(call, {{kUnknownDim}, {4}}), StatusCode::Ok);
}

TEST(Guard, ViewFollowsSizesAndStrides) {
  Dims flattenSlice{1, 0, 1, 1, 1, 0};
  EXPECT_EQ(check(guardView(flattenSlice, true), {{4, 3}, {4, 3}, {12}}), StatusCode::Ok);
  EXPECT_EQ(check(guardView(flattenSlice, true), {{4, 3}, {4, 2}, {8}}), StatusCode::GuardFailed);
  EXPECT_EQ(check(guardView(flattenSlice, false), {{4, 3}, {4, 2}, {8}}), StatusCode::Ok);
  EXPECT_EQ(check(guardView(flattenSlice, false), {{1, 3}, {1, 2}, {2}}), StatusCode::GuardFailed);
  // Every second column of an even number of them lies like one row.
  Dims flattenStep{1, 0, 1, 1, 2, 0};
  EXPECT_EQ(check(guardView(flattenStep, true), {{3, 4}, {3, 2}, {6}}), StatusCode::Ok);
  EXPECT_EQ(check(guardView(flattenStep, true), {{3, 5}, {3, 3}, {9}}), StatusCode::GuardFailed);
  // An input as the caller gave it; without its strides nothing can be said.
  Dims rows{12, 4}, columns{4, 12};
  EXPECT_EQ(check(guardView({0}, true, true), {{3, 3}, {9}}, &rows), StatusCode::Ok);
  EXPECT_EQ(check(guardView({0}, true, true), {{3, 3}, {9}}, &columns), StatusCode::GuardFailed);
  EXPECT_EQ(check(guardView({0}, true, true), {{3, 3}, {9}}), StatusCode::Ok);
  EXPECT_EQ(check(guardView({0}, true), {{3, 3}, {9}}, &columns), StatusCode::Ok);
  // A broadcast and a view that is reshaped again.
  EXPECT_EQ(check(guardView({2, 0}, false), {{3, 1}, {3, 4}, {12}}), StatusCode::Ok);
  EXPECT_EQ(check(guardView({2, 0}, false), {{3, 4}, {3, 4}, {12}}), StatusCode::GuardFailed);
  EXPECT_EQ(
      check(guardView({1, 0, 1, 1, 1, 0, 1, 0, 1, 0}, false), {{4, 3}, {4, 2}, {8}, {4}, {2, 2}}),
      StatusCode::GuardFailed);
}

/// Layouts may come from a file.
TEST(Guard, MalformedLayoutsAreErrors) {
  EXPECT_EQ(check(guardView({}, true), {{3}}), StatusCode::InvalidArgument);
  EXPECT_EQ(check(guardView({}, true), {{3}, {3}}), StatusCode::InvalidArgument);
  EXPECT_EQ(check(guardView({7}, true), {{3}, {3}}), StatusCode::InvalidArgument);
  EXPECT_EQ(check(guardView({0, 0}, true), {{3}, {3}}), StatusCode::InvalidArgument);
  EXPECT_EQ(check(guardView({0}, true), {{3}, {4}}), StatusCode::InvalidArgument);
  EXPECT_EQ(check(guardView({1, 5, 1, 0}, true), {{3}, {3}, {3}}), StatusCode::InvalidArgument);
  EXPECT_EQ(check(guardView({1, 0, INT64_MAX, 0}, true), {{3}, {3}, {3}}),
            StatusCode::InvalidArgument);
  EXPECT_EQ(check(guardView({2, 0}, true), {{3}, {4}, {4}}), StatusCode::InvalidArgument);
  std::mt19937 random(7);
  for (int i = 0; i < 20000; ++i) {
    std::vector<Dims> shapes(1 + random() % 4);
    for (Dims &shape : shapes) {
      for (unsigned axis = random() % 4; axis > 0; --axis) {
        shape.push_back(int64_t(random() % 5) - (random() % 9 == 0));
      }
      for (int64_t &dim : shape) {
        dim = dim < 0 ? kUnknownDim : dim;
      }
    }
    Dims layout;
    for (unsigned entry = random() % 12; entry > 0; --entry) {
      layout.push_back(random() % 7 == 0 ? INT64_MIN : int64_t(random() % 5) - 1);
    }
    (void)check(guardView(layout, random() % 2), shapes);
  }
}

/// The layout that a view op appends gives the strides of its view rule.
TEST(Guard, LayoutOfViewsMatchesTheirViewRule) {
  auto items = std::make_shared<IndexItems>();
  items->items.resize(4);
  items->items[0].kind = IndexItemKind::NewAxis;
  items->items[1] = {.kind = IndexItemKind::Slice, .step = -2};
  items->items[2] = {.kind = IndexItemKind::Int, .begin = 1};
  OpCall subtensor{OpKind::subtensor, {AttrValue::index(items)}};
  float memory[60] = {};
  TensorView source = TensorView::contiguous(memory, {DType::Float32, {5, 3, 4}});
  auto view = viewOf(subtensor, source, {});
  ASSERT_TRUE(view.ok() && view->has_value());
  Dims layout;
  appendViewLayout(subtensor, 3, layout);
  EXPECT_EQ(layout, (Dims{1, -1, 0, 0, -2, 2, 1}));
  EXPECT_EQ((*view)->strides[1], -2 * source.strides[0]);
  EXPECT_EQ((*view)->strides[2], source.strides[2]);
}
