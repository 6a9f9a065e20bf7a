// Which order a product takes, from its shape alone: one column takes the inner order of sums, all
// others a chain; for every rank, batches, strides and threads.
#include "TestTensors.h"

#include "gtest/gtest.h"

namespace tracert::test {
namespace {

template <class Float> using Terms = std::vector<std::pair<Float, Float>>;

template <class Float> Float chain(const Terms<Float> &terms) {
  Float sum = 0;
  for (auto [left, right] : terms) {
    sum = std::fma(left, right, sum);
  }
  return sum;
}

/// Numbers.md's inner order of the terms [begin, end), products added by fma.
template <class Float> Float innerOrder(const Terms<Float> &terms, size_t begin, size_t end) {
  if (end - begin > 4096) {
    size_t first = 4096;
    while (first * 2 < end - begin) {
      first *= 2;
    }
    return innerOrder(terms, begin, begin + first) + innerOrder(terms, begin + first, end);
  }
  std::vector<Float> lanes(sizeof(Float) == 4 ? 128 : 64, Float(-0.0));
  for (size_t i = begin; i < end; ++i) {
    Float &lane = lanes[(i - begin) % lanes.size()];
    lane = std::fma(terms[i].first, terms[i].second, lane);
  }
  while (lanes.size() > 1) {
    for (size_t i = 0; i < lanes.size() / 2; ++i) {
      lanes[i] += lanes[i + lanes.size() / 2];
    }
    lanes.resize(lanes.size() / 2);
  }
  return lanes[0];
}

/// The product of two operands that both have a matrix's rank or more, as NumPy sees them.
template <class Float>
double outputAt(const TestTensor &a, const TestTensor &b, const std::vector<int64_t> &at) {
  const Dims &shapeA = a.view.shape, &shapeB = b.view.shape;
  auto element = [&](const TestTensor &x, bool isRight, int64_t k) {
    size_t rank = x.view.rank();
    std::vector<int64_t> place(rank, k);
    if (rank > 1) {
      place[rank - 2] = isRight ? k : at[at.size() - 2];
      place[rank - 1] = isRight ? at.back() : k;
      for (size_t axis = 0; axis + 2 < rank; ++axis) {
        place[axis] = x.view.shape[axis] == 1 ? 0 : at[at.size() - rank + axis];
      }
    }
    return static_cast<Float>(loadElement(addressOf(x.view, place), x.view.dtype));
  };
  Terms<Float> terms;
  for (int64_t k = 0; k < shapeA.back(); ++k) {
    terms.emplace_back(element(a, false, k), element(b, true, k));
  }
  bool hasOneColumn = shapeB.size() == 1 || shapeB.back() == 1;
  return hasOneColumn && !terms.empty() ? innerOrder(terms, 0, terms.size()) : chain(terms);
}

template <class Float> void checkOrder(DType dtype, const Dims &shapeA, const Dims &shapeB) {
  Random random(static_cast<unsigned>(countOf(shapeA) + countOf(shapeB)));
  std::normal_distribution<double> normal;
  auto values = [&](int64_t) { return normal(random); };
  for (int layout = 0; layout < 3; ++layout) {
    TestTensor a = layout == 0 ? contiguous(dtype, shapeA) : strided(random, dtype, shapeA);
    TestTensor b = layout == 0 ? contiguous(dtype, shapeB) : strided(random, dtype, shapeB);
    a.fill(values);
    b.fill(values);
    std::vector<double> expected;
    ThreadPool one(1), two(2);
    for (Target target : supportedTargets()) {
      for (ThreadPool *pool : {&one, &two}) {
        auto product = runOp(contextFor(target, pool), {OpKind::matmul, {}}, {a.view, b.view});
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
          if (expected.size() <= static_cast<size_t>(i)) {
            expected.push_back(outputAt<Float>(a, b, coordinatesOf(full, i)));
          }
          ASSERT_EQ(c.at(i), expected[static_cast<size_t>(i)])
              << dtypeName(dtype) << shapeString(shapeA) << shapeString(shapeB) << " at " << i
              << " on " << targetName(target) << ", layout " << layout;
        }
      }
    }
  }
}

void checkOrders(const Dims &shapeA, const Dims &shapeB) {
  checkOrder<float>(DType::Float32, shapeA, shapeB);
  checkOrder<double>(DType::Float64, shapeA, shapeB);
}

TEST(MatmulOrder, oneColumnIsTheInnerOrder) {
  checkOrders({500}, {500});
  checkOrders({1, 300}, {300, 1});
  checkOrders({300}, {300, 1});
  checkOrders({70, 300}, {300});
  checkOrders({70, 5000}, {5000, 1});
  checkOrders({3, 33, 150}, {150});
  checkOrders({3, 33, 150}, {150, 1});
  checkOrders({3, 1, 200}, {3, 200, 1});
  checkOrders({2, 1, 9, 130}, {3, 130, 1});
  checkOrders({0}, {0});
}

TEST(MatmulOrder, longDotsAreSharedByThreads) {
  checkOrders({200003}, {200003});
  checkOrders({3, 70000}, {70000});
}

TEST(MatmulOrder, everythingElseIsAChain) {
  checkOrders({500}, {500, 2});
  checkOrders({1, 500}, {500, 7});
  checkOrders({70, 500}, {500, 2});
  checkOrders({2, 9, 300}, {2, 300, 3});
}

} // namespace
} // namespace tracert::test
