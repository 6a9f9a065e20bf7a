// The eager core without Python: cells, views, writes in place, promotion, dispatch.

#include "../IndexItemKit.h"
#include "tracec/Functional.h"
#include "tracec/Tensor.h"

#include <gtest/gtest.h>

using namespace tracec;
using tracert::IndexItems;
using tracert::OpKind;
using tracert::StatusCode;

namespace {

template <class T> T take(Result<T> result) {
  EXPECT_TRUE(result.ok()) << result.status().message();
  return std::move(result).value();
}

Value vectorOf(const std::vector<float> &elements) {
  Value value = take(allocateValue({DType::Float32, {static_cast<int64_t>(elements.size())}}));
  std::copy(elements.begin(), elements.end(), static_cast<float *>(value->view().data));
  return value;
}

std::vector<float> elementsOf(const Tensor &tensor) {
  Value value = take(tensor.readForHost());
  std::vector<float> out;
  const TensorView &view = value->view();
  EXPECT_EQ(view.rank(), 1u);
  for (int64_t i = 0; i < view.shape[0]; ++i) {
    out.push_back(*reinterpret_cast<const float *>(static_cast<const char *>(view.data) +
                                                   i * view.strides[0]));
  }
  return out;
}

std::shared_ptr<const IndexItems> slice(std::optional<int64_t> begin, std::optional<int64_t> end,
                                        int64_t step = 1) {
  return tracert::test::itemsOf({tracert::test::slice(begin, end, step)});
}

OpCall subtensorCall(std::shared_ptr<const IndexItems> items) {
  return {OpKind::subtensor, {tracert::AttrValue::index(std::move(items))}};
}

PythonScalar number(double value) { return {PythonScalar::Kind::Float, 0, value, false}; }
PythonScalar integer(int64_t value) { return {PythonScalar::Kind::Int, value, 0, false}; }

} // namespace

TEST(Views, WriteThroughAViewOfAViewReachesBaseAndSiblings) {
  Tensor base = Tensor::fromValue(vectorOf({0, 1, 2, 3, 4, 5}));
  Tensor tail = take(base.view(subtensorCall(slice(1, {})), {}));
  Tensor every = take(tail.view(subtensorCall(slice({}, {}, 2)), {}));
  Tensor sibling = take(base.view(subtensorCall(slice({}, {}, -1)), {}));
  EXPECT_EQ(elementsOf(every), (std::vector<float>{1, 3, 5}));
  ASSERT_TRUE(every.setItem(slice(0, 2), vectorOf({-1, -3}), {}).ok());
  EXPECT_EQ(elementsOf(base), (std::vector<float>{0, -1, 2, -3, 4, 5}));
  EXPECT_EQ(elementsOf(sibling), (std::vector<float>{5, 4, -3, 2, -1, 0}));
  EXPECT_EQ(elementsOf(tail), (std::vector<float>{-1, 2, -3, 4, 5}));
}

TEST(Views, OverlappingSelfAssignmentReadsBeforeItWrites) {
  Tensor x = Tensor::fromValue(vectorOf({0, 1, 2, 3}));
  Tensor head = take(x.view(subtensorCall(slice({}, -1)), {}));
  ASSERT_TRUE(x.setItem(slice(1, {}), take(head.read()), {}).ok());
  EXPECT_EQ(elementsOf(x), (std::vector<float>{0, 0, 1, 2}));
}

TEST(Writes, RunInPlaceWhenNothingElseSeesTheMemory) {
  Tensor x = Tensor::fromValue(vectorOf({0, 1, 2, 3}));
  const void *before = take(x.read())->view().data;
  ASSERT_TRUE(x.setItem(slice(0, 1), vectorOf({9}), {}).ok());
  EXPECT_EQ(take(x.read())->view().data, before);
  // A view with a cached value must not stop that, and must see the write.
  Tensor view = take(x.view(subtensorCall(slice(2, {})), {}));
  EXPECT_EQ(elementsOf(view), (std::vector<float>{2, 3}));
  ASSERT_TRUE(x.setItem(slice(3, 4), vectorOf({7}), {}).ok());
  EXPECT_EQ(take(x.read())->view().data, before);
  EXPECT_EQ(elementsOf(view), (std::vector<float>{2, 7}));
  ASSERT_TRUE(view.setItem(slice(0, 1), vectorOf({5}), {}).ok());
  EXPECT_EQ(take(x.read())->view().data, before);
  EXPECT_EQ(elementsOf(x), (std::vector<float>{9, 1, 5, 7}));
}

TEST(Writes, NeverShowInAValueThatSomeoneHolds) {
  Tensor x = Tensor::fromValue(vectorOf({0, 1}));
  Value held = take(x.read());
  ASSERT_TRUE(x.setItem(slice(0, 1), vectorOf({9}), {}).ok());
  EXPECT_EQ(static_cast<const float *>(held->view().data)[0], 0.0f);
  EXPECT_EQ(elementsOf(x), (std::vector<float>{9, 1}));
}

TEST(Writes, AFailedSetLeavesTheTensorAsItWas) {
  Tensor x = Tensor::fromValue(vectorOf({0, 1, 2}));
  Status status = x.setItem(slice(0, 2), vectorOf({1, 2, 3}), {});
  EXPECT_EQ(status.code(), StatusCode::InvalidArgument);
  EXPECT_EQ(elementsOf(x), (std::vector<float>{0, 1, 2}));
}

TEST(Writes, BroadcastViewsAreReadOnly) {
  Tensor x = Tensor::fromValue(vectorOf({1}));
  Tensor wide = take(x.view(broadcastToCall({3}), {}));
  EXPECT_FALSE(wide.isWritable());
  EXPECT_EQ(wide.setItem(slice(0, 1), vectorOf({9}), {}).code(), StatusCode::InvalidArgument);
}

TEST(Writes, AOneElementBroadcastValueIsNotWrittenInPlace) {
  // A cell that holds a value whose positions share memory must be copied first.
  Value wide = take(dispatch(broadcastToCall({3}), std::vector<Value>{vectorOf({1})}))[0];
  Tensor x = Tensor::fromValue(std::move(wide));
  ASSERT_TRUE(x.setItem(slice(0, 1), vectorOf({9}), {}).ok());
  EXPECT_EQ(elementsOf(x), (std::vector<float>{9, 1, 1}));
}

TEST(Promotion, FollowsTheTable) {
  auto type = [](DType tensor, PythonScalar scalar) {
    Value value = take(allocateValue({tensor, {}}));
    Operand operands[] = {Operand::of(value), Operand::of(scalar)};
    return take(promote(operands));
  };
  EXPECT_EQ(type(DType::UInt8, integer(1)), DType::UInt8);
  EXPECT_EQ(type(DType::Int32, number(1)), DType::Float32);
  EXPECT_EQ(type(DType::Float16, number(1)), DType::Float16);
  EXPECT_EQ(type(DType::Bool, integer(2)), DType::Int32);
  EXPECT_EQ(type(DType::Bool, number(1.5)), DType::Float32);
  EXPECT_EQ(type(DType::Int64, number(1)), DType::Float64);
  Operand none[] = {Operand::of(integer(1))};
  EXPECT_EQ(promote(none).status().code(), StatusCode::InvalidArgument);
}

TEST(Promotion, ComparisonsWithIntegersOutsideTheDtypeAreExact) {
  Value bytes = take(allocateValue({DType::UInt8, {1}}));
  *static_cast<uint8_t *>(bytes->view().data) = 255;
  auto compare = [&](OpKind kind, PythonScalar scalar) {
    Operand operands[] = {Operand::of(bytes), Operand::of(scalar)};
    return *static_cast<const uint8_t *>(take(pointwise(kind, operands))->view().data) != 0;
  };
  EXPECT_TRUE(compare(OpKind::lt, integer(300)));
  EXPECT_FALSE(compare(OpKind::lt, integer(-1)));
  EXPECT_TRUE(compare(OpKind::lt, {PythonScalar::Kind::Int, 0, 1e30, true}));
  EXPECT_TRUE(compare(OpKind::gt, {PythonScalar::Kind::Int, 0, -1e30, true}));
  Operand add[] = {Operand::of(bytes), Operand::of(integer(300))};
  EXPECT_EQ(pointwise(OpKind::add, add).status().code(), StatusCode::Overflow);
}

TEST(Composites, MeanIsItsDecomposition) {
  Value mean =
      take(reduce(OpKind::mean, vectorOf({1, 2, 4, 5}), std::nullopt, false, std::nullopt));
  EXPECT_EQ(*static_cast<const float *>(mean->view().data), 3.0f);
}
