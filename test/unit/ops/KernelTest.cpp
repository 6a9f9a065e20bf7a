// Library kernels of every family but indexing, at every ISA level, against tiny references.

#include "TestTensors.h"
#include "tracert/Element.h"

#include <gtest/gtest.h>

using namespace tracert;
using namespace tracert::test;

namespace {

constexpr auto &kDTypes = kAllDTypes;

Dims randomShape(Random &random, int64_t largest) {
  Dims shape;
  for (int64_t rank = below(random, 5); rank > 0; --rank) {
    shape.push_back(random() % 10 == 0 ? 0 : 1 + below(random, largest));
  }
  return shape;
}

/// `shape` with leading axes dropped and some sizes 1.
Dims broadcastable(Random &random, const Dims &shape) {
  Dims result;
  size_t dropped = static_cast<size_t>(below(random, static_cast<int64_t>(shape.size()) + 1));
  for (size_t axis = dropped; axis < shape.size(); ++axis) {
    result.push_back(random() % 3 == 0 ? 1 : shape[axis]);
  }
  return result;
}

double broadcastAt(const TestTensor &x, const Dims &shape, int64_t flat) {
  std::vector<int64_t> at = coordinatesOf(shape, flat);
  at.erase(at.begin(), at.end() - static_cast<int64_t>(x.view.rank()));
  for (size_t axis = 0; axis < at.size(); ++axis) {
    at[axis] = x.view.shape[axis] == 1 ? 0 : at[axis];
  }
  return loadElement(addressOf(x.view, at), x.view.dtype);
}

TestTensor smallIntegers(Random &random, DType dtype, const Dims &shape) {
  TestTensor x = anyStrides(random, dtype, shape);
  x.fill([&](int64_t) { return double(below(random, dtype == DType::Bool ? 2 : 9)); });
  return x;
}

TEST(Pointwise, broadcastsAnyStrides) {
  Random random(1);
  ThreadPool pool(2);
  for (int trial = 0; trial < 600; ++trial) {
    Target target = supportedTargets()[random() % supportedTargets().size()];
    DType dtype = kDTypes[random() % std::size(kDTypes)];
    Dims shape = randomShape(random, 6);
    TestTensor a = smallIntegers(random, dtype, shape);
    TestTensor b = smallIntegers(random, dtype, broadcastable(random, shape));
    TestTensor condition = smallIntegers(random, DType::Bool, broadcastable(random, shape));
    KernelContext context = contextFor(target, &pool);
    auto maximum = runOp(context, {OpKind::maximum, {}}, {a.view, b.view});
    auto less = runOp(context, {OpKind::lt, {}}, {b.view, a.view});
    auto chosen = runOp(context, {OpKind::where, {}}, {condition.view, a.view, b.view});
    auto cast = runOp(context, {OpKind::cast, {AttrValue::dtype(DType::Float64)}}, {b.view});
    ASSERT_TRUE(maximum.ok() && less.ok() && chosen.ok() && cast.ok());
    for (int64_t i = 0; i < countOf(shape); ++i) {
      double x = a.at(i);
      double y = broadcastAt(b, shape, i);
      ASSERT_EQ((*maximum)[0].at(i), std::max(x, y));
      ASSERT_EQ((*less)[0].at(i), double(y < x));
      ASSERT_EQ((*chosen)[0].at(i), broadcastAt(condition, shape, i) != 0 ? x : y);
    }
    ASSERT_EQ((*cast)[0].values(), b.values());
  }
}

TEST(Pointwise, everyOpOfEveryDTypeHasALoop) {
  for (Target target : supportedTargets()) {
    for (int number = 0; number < opCount(); ++number) {
      const OpInfo &info = opInfo(static_cast<OpKind>(number));
      if (!info.isPointwise()) {
        continue;
      }
      for (DType dtype : kDTypes) {
        if (((info.dtypes >> static_cast<unsigned>(dtype)) & 1u) == 0) {
          continue;
        }
        std::vector<TestTensor> operands;
        std::vector<TensorView> views;
        for (int i = 0; i < info.operandCount; ++i) {
          bool isCondition = info.family == OpFamily::Select && i == 0;
          operands.push_back(contiguous(isCondition ? DType::Bool : dtype, {3}));
          operands.back().fill([](int64_t) { return 1.0; });
        }
        for (TestTensor &operand : operands) {
          views.push_back(operand.view);
        }
        std::vector<AttrList> attrLists = {{}};
        if (info.family == OpFamily::Cast) {
          attrLists.clear();
          for (DType to : kDTypes) {
            attrLists.push_back({AttrValue::dtype(to)});
          }
        }
        for (const AttrList &attrs : attrLists) {
          auto results = runOp(contextFor(target), {static_cast<OpKind>(number), attrs}, views);
          ASSERT_TRUE(results.ok()) << info.name << ": " << results.status().message();
        }
      }
    }
  }
}

TEST(Pointwise, largeTensorsWithThreads) {
  ThreadPool pool(2);
  for (Target target : supportedTargets()) {
    TestTensor a = contiguous(DType::Int32, {701, 401});
    a.fill([](int64_t i) { return double(i % 1000); });
    TensorView turned = a.view;
    std::swap(turned.shape[0], turned.shape[1]);
    std::swap(turned.strides[0], turned.strides[1]);
    TestTensor b = contiguous(DType::Int32, {401, 1});
    b.fill([](int64_t i) { return double(i); });
    auto sum = runOp(contextFor(target, &pool), {OpKind::add, {}}, {turned, b.view});
    ASSERT_TRUE(sum.ok());
    for (int64_t i = 0; i < 401 * 701; ++i) {
      int64_t row = i / 701;
      ASSERT_EQ((*sum)[0].at(i), a.at(i % 701 * 401 + row) + double(row));
    }
  }
}

TEST(Copy, anyStridesBothSides) {
  Random random(2);
  ThreadPool pool(2);
  for (int trial = 0; trial < 400; ++trial) {
    Dims shape = randomShape(random, trial % 20 == 0 ? 40 : 7);
    DType dtype = kDTypes[random() % std::size(kDTypes)];
    TestTensor from = smallIntegers(random, dtype, shape);
    TestTensor to = anyStrides(random, dtype, shape);
    copyView(contextFor(bestTarget(), &pool), from.view, to.view);
    ASSERT_EQ(to.values(), from.values()) << shapeString(shape);
  }
}

/// A sum as Numbers.md orders it, for float32.
float orderedSum(const std::vector<float> &sequence, bool isInner) {
  constexpr size_t kBlock = 4096;
  constexpr size_t kLanes = 128;
  std::vector<float> blocks;
  for (size_t begin = 0; begin < sequence.size(); begin += kBlock) {
    std::vector<float> lanes(isInner ? kLanes : 1, -0.0f);
    for (size_t i = begin; i < std::min(sequence.size(), begin + kBlock); ++i) {
      float &lane = lanes[(i - begin) % lanes.size()];
      lane = lane + sequence[i];
    }
    for (size_t half = lanes.size() / 2; half > 0; half /= 2) {
      for (size_t i = 0; i < half; ++i) {
        lanes[i] = lanes[i] + lanes[i + half];
      }
    }
    blocks.push_back(lanes[0]);
  }
  std::function<float(size_t, size_t)> tree = [&](size_t begin, size_t count) -> float {
    if (count == 1) {
      return blocks[begin];
    }
    size_t left = 1;
    while (left * 2 < count) {
      left *= 2;
    }
    return tree(begin, left) + tree(begin + left, count - left);
  };
  return blocks.empty() ? 0.0f : tree(0, blocks.size());
}

void checkReduce(Random &random, const KernelContext &context, DType dtype, const Dims &shape) {
  TestTensor x = anyStrides(random, dtype, shape);
  x.fill([&](int64_t) {
    return dtype == DType::Float32 ? std::ldexp(double(below(random, 1 << 20)), -14) - 20
           : dtype == DType::Bool  ? double(random() % 2)
                                   : double(below(random, 9));
  });
  Dims axes;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    if (random() % 2 == 0) {
      axes.push_back(static_cast<int64_t>(axis));
    }
  }
  bool keepdims = random() % 2 == 0;
  AttrList attrs = {AttrValue::ints(axes), AttrValue::boolean(keepdims)};
  auto sum = runOp(context, {OpKind::sum, attrs}, {x.view});
  ASSERT_TRUE(sum.ok()) << sum.status().message();
  auto max = runOp(context, {OpKind::max, attrs}, {x.view});
  bool isInner = false;
  Dims keptShape;
  int64_t sequenceLength = 1;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    bool isReduced = std::find(axes.begin(), axes.end(), int64_t(axis)) != axes.end();
    isInner = shape[axis] == 1 ? isInner : isReduced;
    if (isReduced) {
      sequenceLength *= shape[axis];
    } else {
      keptShape.push_back(shape[axis]);
    }
  }
  bool maxHasNoValue = sequenceLength == 0 && countOf(keptShape) > 0;
  ASSERT_EQ(max.ok(), !maxHasNoValue);
  std::vector<std::vector<float>> sequences(static_cast<size_t>(countOf(keptShape)));
  for (int64_t i = 0; i < countOf(shape); ++i) {
    std::vector<int64_t> at = coordinatesOf(shape, i);
    size_t output = 0;
    for (size_t axis = 0; axis < shape.size(); ++axis) {
      if (std::find(axes.begin(), axes.end(), int64_t(axis)) == axes.end()) {
        output = output * static_cast<size_t>(shape[axis]) + static_cast<size_t>(at[axis]);
      }
    }
    sequences[output].push_back(static_cast<float>(x.at(i)));
  }
  ASSERT_EQ((*sum)[0].size(), countOf(keptShape));
  for (size_t output = 0; output < sequences.size(); ++output) {
    const std::vector<float> &sequence = sequences[output];
    auto expected = double(orderedSum(sequence, isInner));
    if (isFloat(dtype)) {
      uint64_t bits = floatBits(expected, dtype);
      expected = floatAt(&bits, dtype);
    }
    ASSERT_EQ((*sum)[0].at(int64_t(output)), expected)
        << x.view.type().str() << " axes " << shapeString(axes);
    if (max.ok()) {
      ASSERT_EQ((*max)[0].at(int64_t(output)),
                double(*std::max_element(sequence.begin(), sequence.end())));
    }
  }
}

TEST(Reduce, anyAxesAnyStrides) {
  Random random(3);
  ThreadPool pool(2);
  for (int trial = 0; trial < 600; ++trial) {
    Target target = supportedTargets()[random() % supportedTargets().size()];
    DType dtype = kDTypes[random() % std::size(kDTypes)];
    checkReduce(random, contextFor(target, &pool), dtype, randomShape(random, 7));
    ASSERT_FALSE(HasFailure()) << "trial " << trial;
  }
}

TEST(Reduce, longSequencesKeepTheirOrderWithThreads) {
  Random random(4);
  ThreadPool pool(2);
  for (Target target : supportedTargets()) {
    for (const Dims &shape :
         {Dims{100'001}, Dims{3, 40'000}, Dims{9000, 5}, Dims{70, 3, 200}, Dims{40'000, 1, 3}}) {
      for (int trial = 0; trial < 4; ++trial) {
        checkReduce(random, contextFor(target, trial % 2 ? &pool : nullptr), DType::Float32, shape);
        ASSERT_FALSE(HasFailure()) << shapeString(shape);
      }
    }
  }
}

TEST(Create, fullAndArange) {
  for (Target target : supportedTargets()) {
    KernelContext context = contextFor(target);
    auto full =
        runOp(context,
              {OpKind::full,
               {AttrValue::ints({2, 3}), AttrValue::scalar(Scalar::of(DType::Int32, int32_t(-7)))}},
              {});
    ASSERT_TRUE(full.ok());
    EXPECT_EQ((*full)[0].values(), std::vector<double>(6, -7));
    for (DType dtype : kDTypes) {
      if (dtype == DType::Bool) {
        continue;
      }
      Scalar start{dtype, 0};
      Scalar step{dtype, 0};
      storeElement(&start.bits, dtype, 3);
      storeElement(&step.bits, dtype, 2);
      // No element beyond what every bit of the dtype holds exactly.
      int64_t count = dtypeSize(dtype) == 1 ? 60 : dtype == DType::BFloat16 ? 120 : 1000;
      auto arange =
          runOp(context,
                {OpKind::arange,
                 {AttrValue::ints({count}), AttrValue::scalar(start), AttrValue::scalar(step)}},
                {});
      ASSERT_TRUE(arange.ok()) << dtypeName(dtype);
      for (int64_t i = 0; i < count; ++i) {
        ASSERT_EQ((*arange)[0].at(i), double(3 + 2 * i)) << dtypeName(dtype);
      }
    }
  }
}

TEST(Join, concatAlongEachAxis) {
  Random random(5);
  for (int64_t axis = 0; axis < 3; ++axis) {
    std::vector<TestTensor> parts;
    std::vector<TensorView> views;
    for (int64_t size : {2, 0, 1, 3}) {
      Dims shape = {2, 3, 2};
      shape[static_cast<size_t>(axis)] = size;
      parts.push_back(smallIntegers(random, DType::Float16, shape));
      views.push_back(parts.back().view);
    }
    auto joined =
        runOp(contextFor(bestTarget()), {OpKind::concat, {AttrValue::integer(axis)}}, views);
    ASSERT_TRUE(joined.ok());
    const TestTensor &result = (*joined)[0];
    EXPECT_EQ(result.view.shape[static_cast<size_t>(axis)], 6);
    for (int64_t i = 0; i < result.size(); ++i) {
      std::vector<int64_t> at = coordinatesOf(result.view.shape, i);
      int64_t &along = at[static_cast<size_t>(axis)];
      size_t part = 0;
      while (along >= views[part].shape[static_cast<size_t>(axis)]) {
        along -= views[part++].shape[static_cast<size_t>(axis)];
      }
      ASSERT_EQ(result.at(i), loadElement(addressOf(views[part], at), DType::Float16));
    }
  }
}

TEST(Matmul, batchesRanksAndStrides) {
  Random random(6);
  ThreadPool pool(2);
  std::vector<std::pair<Dims, Dims>> cases = {{{3}, {3}},
                                              {{2, 3}, {3}},
                                              {{3}, {3, 4}},
                                              {{5, 7}, {7, 6}},
                                              {{2, 0}, {0, 3}},
                                              {{0, 2}, {2, 3}},
                                              {{4, 1, 2, 3}, {5, 3, 2}},
                                              {{1, 3}, {4, 3, 1}},
                                              {{3}, {2, 3, 4}},
                                              {{2, 2, 3}, {3}},
                                              {{70, 33}, {33, 50}},
                                              {{2, 33, 150}, {150, 25}}};
  for (Target target : supportedTargets()) {
    for (DType dtype : kDTypes) {
      for (const auto &[shapeA, shapeB] : cases) {
        TestTensor a = smallIntegers(random, dtype, shapeA);
        TestTensor b = smallIntegers(random, dtype, shapeB);
        auto product = runOp(contextFor(target, &pool), {OpKind::matmul, {}}, {a.view, b.view});
        ASSERT_TRUE(product.ok()) << product.status().message();
        const TestTensor &c = (*product)[0];
        // Put back the axes that rank-1 operands do not have.
        Dims full = c.view.shape;
        if (shapeB.size() == 1) {
          full.push_back(1);
        }
        if (shapeA.size() == 1) {
          full.insert(full.size() - 1, 1);
        }
        for (int64_t i = 0; i < c.size(); ++i) {
          std::vector<int64_t> at = coordinatesOf(full, i);
          int64_t row = at[at.size() - 2];
          int64_t column = at.back();
          double sum = 0;
          auto element = [&](const TestTensor &x, bool isRight, int64_t k) {
            std::vector<int64_t> place(x.view.rank());
            size_t rank = x.view.rank();
            if (rank == 1) {
              place[0] = k;
            } else {
              place[rank - 2] = isRight ? k : row;
              place[rank - 1] = isRight ? column : k;
              for (size_t axis = 0; axis + 2 < rank; ++axis) {
                place[axis] = x.view.shape[axis] == 1 ? 0 : at[at.size() - rank + axis];
              }
            }
            return loadElement(addressOf(x.view, place), dtype);
          };
          for (int64_t k = 0; k < shapeA.back(); ++k) {
            sum += element(a, false, k) * element(b, true, k);
          }
          double expected = dtype == DType::Bool    ? double(sum > 0)
                            : dtype == DType::UInt8 ? double(uint8_t(int64_t(sum)))
                            : dtype == DType::Int8  ? double(int8_t(int64_t(sum)))
                                                    : sum;
          // Exact in a narrow float up to this; above it only multiples of the spacing exist.
          double exact = dtype == DType::Float16 ? 2048 : dtype == DType::BFloat16 ? 256 : 0x1p53;
          double spacing = sum > exact ? sum / exact : 0;
          ASSERT_LE(std::fabs(c.at(i) - expected), spacing)
              << dtypeName(dtype) << shapeString(shapeA) << shapeString(shapeB);
        }
      }
    }
  }
}

TEST(Compress, valuesAndPositions) {
  Random random(7);
  for (Target target : supportedTargets()) {
    for (int trial = 0; trial < 100; ++trial) {
      Dims shape = randomShape(random, 12);
      TestTensor mask = smallIntegers(random, DType::Bool, shape);
      DType dtype = kDTypes[random() % std::size(kDTypes)];
      TestTensor x = smallIntegers(random, dtype, shape);
      auto results = runOp(contextFor(target), {OpKind::cond_take, {}}, {mask.view, x.view});
      ASSERT_TRUE(results.ok());
      std::vector<double> values;
      std::vector<double> positions;
      for (int64_t i = 0; i < x.size(); ++i) {
        if (mask.at(i) != 0) {
          values.push_back(x.at(i));
          positions.push_back(double(i));
        }
      }
      ASSERT_EQ((*results)[0].values(), values);
      ASSERT_EQ((*results)[1].values(), positions);
    }
  }
}

TEST(Composite, hasNoKernel) {
  TestTensor x = contiguous(DType::Float32, {2});
  TestTensor result = contiguous(DType::Float32, {});
  OpCall mean{OpKind::mean, {AttrValue::ints({0}), AttrValue::boolean(false)}};
  EXPECT_EQ(runKernel(contextFor(bestTarget()), mean, {&x.view, 1}, {&result.view, 1}).code(),
            StatusCode::Internal);
}

/// The check of elements that a record asks for: all of them, and of several bad ones the first.
TEST(ElementCheck, NamesTheFirstElementThatTheRecordRefuses) {
  Random random(7);
  OpCall fits{OpKind::guard_fits, {AttrValue::dtype(DType::Int8)}};
  TestTensor result = contiguous(DType::Int64, {});
  for (DType dtype : {DType::Int16, DType::UInt16, DType::Int64, DType::UInt64, DType::Int32}) {
    for (const Dims &shape : {Dims{}, Dims{1}, Dims{0}, Dims{0, 3}, Dims{7}, Dims{3, 4, 5}}) {
      TestTensor x = anyStrides(random, dtype, shape);
      x.fill([](int64_t i) { return double(i % 128); });
      auto run = [&] {
        return runKernel(contextFor(bestTarget()), fits, {&x.view, 1}, {&result.view, 1});
      };
      EXPECT_TRUE(run().ok()) << x.view.type().str();
      for (int64_t bad : {x.size() - 1, x.size() / 2}) {
        if (bad >= 0 && bad < x.size()) {
          x.set(bad, 200 + double(bad));
          Status status = run();
          EXPECT_EQ(status.code(), StatusCode::Overflow);
          EXPECT_NE(status.message().find(std::to_string(200 + bad)), std::string::npos)
              << status.message();
        }
      }
    }
  }
}

} // namespace
