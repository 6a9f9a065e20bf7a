// Views: reshape is one exactly when the addresses allow it; permute and broadcast_to always are.

#include "TestTensors.h"

#include <gtest/gtest.h>

using namespace tracert;
using namespace tracert::test;

namespace {

OpCall shapeCall(OpKind kind, Dims shape) { return {kind, {AttrValue::ints(std::move(shape))}}; }

/// All factorings of `count` into `rank` sizes, by recursion.
void factorings(int64_t count, size_t rank, const Dims &prefix, std::vector<Dims> &out) {
  if (rank == 0) {
    if (count == 1) {
      out.push_back(prefix);
    }
    return;
  }
  for (int64_t size = 1; size <= count; ++size) {
    if (count % size == 0) {
      Dims longer = prefix;
      longer.push_back(size);
      factorings(count / size, rank - 1, longer, out);
    }
  }
}

/// Whether one stride per axis of `shape` reaches `addresses` (C order): then they are a view.
bool isWalkable(const std::vector<char *> &addresses, const Dims &shape) {
  std::vector<int64_t> strides(shape.size(), 0);
  int64_t step = 1;
  for (size_t axis = shape.size(); axis-- > 0;) {
    if (shape[axis] > 1) {
      strides[axis] = addresses[static_cast<size_t>(step)] - addresses[0];
    }
    step *= shape[axis];
  }
  for (size_t flat = 0; flat < addresses.size(); ++flat) {
    std::vector<int64_t> at = coordinatesOf(shape, static_cast<int64_t>(flat));
    int64_t offset = 0;
    for (size_t axis = 0; axis < at.size(); ++axis) {
      offset += at[axis] * strides[axis];
    }
    if (addresses[0] + offset != addresses[flat]) {
      return false;
    }
  }
  return true;
}

std::vector<char *> addressesOf(const TensorView &view) {
  std::vector<char *> addresses;
  for (int64_t i = 0; i < view.elementCount(); ++i) {
    addresses.push_back(addressOf(view, coordinatesOf(view.shape, i)));
  }
  return addresses;
}

TEST(Reshape, isAViewExactlyWhenTheAddressesAllow) {
  Random random(1);
  int views = 0;
  int copies = 0;
  for (int64_t count : {1, 2, 6, 8, 12, 24}) {
    std::vector<Dims> shapes;
    for (size_t rank = 0; rank <= 4; ++rank) {
      factorings(count, rank, {}, shapes);
    }
    for (int trial = 0; trial < 400; ++trial) {
      const Dims &from = shapes[random() % shapes.size()];
      const Dims &to = shapes[random() % shapes.size()];
      TestTensor x = anyStrides(random, DType::Int32, from);
      if (random() % 8 == 0 && !from.empty()) {
        x.view.strides[random() % from.size()] = 0;
      }
      std::vector<char *> addresses = addressesOf(x.view);
      Result<std::optional<TensorView>> view = viewOf(shapeCall(OpKind::reshape, to), x.view, {});
      ASSERT_TRUE(view.ok()) << view.status().message();
      ASSERT_EQ(view->has_value(), isWalkable(addresses, to))
          << shapeString(from) << " strides " << shapeString(x.view.strides) << " to "
          << shapeString(to);
      if (!view->has_value()) {
        ++copies;
        continue;
      }
      ++views;
      EXPECT_EQ((*view)->shape, to);
      EXPECT_EQ(addressesOf(**view), addresses);
    }
  }
  EXPECT_GT(views, 500);
  EXPECT_GT(copies, 200);
}

TEST(Reshape, kernelCopiesWhatIsNoView) {
  Random random(2);
  for (Target target : supportedTargets()) {
    TestTensor x = strided(random, DType::Float64, {3, 4, 5});
    x.fill([](int64_t i) { return double(i); });
    auto results = runOp(contextFor(target), shapeCall(OpKind::reshape, {-1, 6}), {x.view});
    ASSERT_TRUE(results.ok());
    EXPECT_EQ((*results)[0].view.shape, (Dims{10, 6}));
    EXPECT_EQ((*results)[0].values(), x.values());
  }
}

TEST(Reshape, emptyTensorsAreViews) {
  Random random(3);
  TestTensor x = strided(random, DType::Float32, {2, 0, 3});
  Result<std::optional<TensorView>> view = viewOf(shapeCall(OpKind::reshape, {0, 7}), x.view, {});
  ASSERT_TRUE(view.ok() && view->has_value());
  EXPECT_EQ((*view)->shape, (Dims{0, 7}));
}

TEST(Reshape, sizesFromOperands) {
  TestTensor x = contiguous(DType::Float32, {6});
  int64_t sizes[] = {2};
  Result<std::optional<TensorView>> view =
      viewOf(shapeCall(OpKind::reshape, {kFromOperand, -1}), x.view, sizes);
  ASSERT_TRUE(view.ok() && view->has_value());
  EXPECT_EQ((*view)->shape, (Dims{2, 3}));
}

TEST(Permute, reordersAxes) {
  Random random(4);
  TestTensor x = strided(random, DType::Int64, {2, 3, 4});
  TensorView view = **viewOf(shapeCall(OpKind::permute, {2, 0, 1}), x.view, {});
  ASSERT_EQ(view.shape, (Dims{4, 2, 3}));
  for (int64_t i = 0; i < 24; ++i) {
    std::vector<int64_t> at = coordinatesOf(view.shape, i);
    EXPECT_EQ(addressOf(view, at), addressOf(x.view, {at[1], at[2], at[0]}));
  }
}

TEST(BroadcastTo, repeatsWithoutMemory) {
  Random random(5);
  TestTensor x = strided(random, DType::Int64, {3, 1});
  TensorView view = **viewOf(shapeCall(OpKind::broadcast_to, {2, 3, 4}), x.view, {});
  for (int64_t i = 0; i < 24; ++i) {
    std::vector<int64_t> at = coordinatesOf(view.shape, i);
    EXPECT_EQ(addressOf(view, at), addressOf(x.view, {at[1], 0}));
  }
}

TEST(Views, intPositionsAreChecked) {
  TestTensor x = contiguous(DType::Int64, {3});
  auto items = std::make_shared<IndexItems>();
  IndexItem item;
  item.kind = IndexItemKind::Int;
  item.begin = 3;
  items->items = {item};
  OpCall call{OpKind::subtensor, {AttrValue::index(items)}};
  Result<std::optional<TensorView>> view = viewOf(call, x.view, {});
  EXPECT_EQ(view.status().code(), StatusCode::IndexOutOfRange);
  EXPECT_EQ(view.status().message(), "index 3 is out of range for axis 0 of size 3");
}

} // namespace
