// Expressions of several ops in one compiled kernel, against the same ops one after the other in
// gcc's portable lanes: nothing is contracted, reordered or kept wider between ops.
#include "Loops.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace numbers {
namespace {

const Loop &loopOf(const Expression &expression, const Step &step) {
  for (const Loop &loop : allLoops()) {
    if (loop.op == step.op && loop.result == step.result &&
        loop.operands.back() == expression.dtypeOf(step.operands.back())) {
      return loop;
    }
  }
  ADD_FAILURE() << "no loop for " << expression.text();
  return allLoops().front();
}

/// Compares the compiled kernels' results with the ops one by one.
void checkExpression(const Expression &expression, int64_t count, uint64_t seed) {
  std::vector<std::vector<uint8_t>> values;
  for (DType dtype : expression.operands) {
    values.push_back(seed % 2 ? hardValues(dtype, count, seed + values.size())
                              : summable(dtype, count, seed + values.size()));
  }
  for (const Step &step : expression.steps) {
    const Loop &loop = loopOf(expression, step);
    std::vector<const void *> inputs;
    std::vector<int64_t> strides;
    for (int operand : step.operands) {
      inputs.push_back(values[size_t(operand)].data());
      strides.push_back(int64_t(dtypeSize(expression.dtypeOf(operand))));
    }
    int64_t size = int64_t(dtypeSize(step.result));
    std::vector<uint8_t> result(size_t(count * size) + 64);
    loop.find (*coreVariants()[0].cores)(inputs.data(), strides.data(), result.data(), size, count);
    values.push_back(std::move(result));
  }
  std::vector<const void *> operands;
  for (size_t i = 0; i < expression.operands.size(); ++i) {
    operands.push_back(values[i].data());
  }
  std::vector<uint8_t> actual(values.back().size());
  compareCompiled(expression, operands, actual.data(), count, [&](const std::string &name) {
    int64_t first = 0;
    EXPECT_EQ(
        countDifferent(expression.result(), values.back().data(), actual.data(), count, &first), 0)
        << name << ": " << expression.text() << " at element " << first << ", seed " << seed;
  });
}

/// A step of `loop` on values that the expression has; none if it lacks one of the dtypes.
bool addStep(Expression &expression, const Loop &loop, std::mt19937_64 &random) {
  int count = int(expression.operands.size() + expression.steps.size());
  Step step{loop.op, {}, loop.result};
  for (DType dtype : loop.operands) {
    std::vector<int> candidates;
    for (int value = 0; value < count; ++value) {
      if (expression.dtypeOf(value) == dtype) {
        candidates.push_back(value);
        // Late values more often, so that chains grow.
        candidates.insert(candidates.end(), size_t(value), value);
      }
    }
    if (candidates.empty()) {
      return false;
    }
    step.operands.push_back(candidates[random() % candidates.size()]);
  }
  expression.steps.push_back(step);
  return true;
}

TEST(Expressions, everyPairOfArithmeticOpsOfEveryDtype) {
  const std::set<std::string> arithmetic = {"add", "sub", "mul", "div", "square", "sqrt"};
  int pairs = 0;
  for (const Loop &first : allLoops()) {
    for (const Loop &second : allLoops()) {
      if (!arithmetic.contains(first.op) || !arithmetic.contains(second.op) ||
          first.result != second.result) {
        continue;
      }
      // second(first(0, 1), 2) and second(2, first(0, 1)); a unary op takes the first operand.
      for (bool isLeft : {true, false}) {
        if (second.operands.size() == 1 && !isLeft) {
          continue;
        }
        Expression expression;
        expression.operands.assign(3, first.result);
        Step one{first.op, {0, 1}, first.result}, two{second.op, {3, 2}, second.result};
        if (!isLeft) {
          std::swap(two.operands[0], two.operands[1]);
        }
        one.operands.resize(first.operands.size());
        two.operands.resize(second.operands.size());
        expression.steps = {one, two};
        checkExpression(expression, 7 * 300, uint64_t(++pairs));
      }
    }
  }
  EXPECT_GT(pairs, 200);
}

/// How many of `count` elements change if a * b + c is rounded once.
template <class Float> int64_t contractionsSeen(DType dtype, int64_t count, uint64_t seed) {
  std::vector<uint8_t> a = summable(dtype, count, seed), b = summable(dtype, count, seed + 1),
                       c = summable(dtype, count, seed + 2);
  int64_t seen = 0;
  for (int64_t i = 0; i < count; ++i) {
    auto x = get<Float>(a.data(), i), y = get<Float>(b.data(), i), z = get<Float>(c.data(), i);
    Float product = x * y;
    seen += std::fma(x, y, z) != product + z;
  }
  return seen;
}

TEST(Expressions, theInputsWouldShowAContraction) {
  EXPECT_GT(contractionsSeen<float>(DType::Float32, 7 * 300, 2), 100);
  EXPECT_GT(contractionsSeen<double>(DType::Float64, 7 * 300, 2), 100);
}

TEST(Expressions, randomOnesOfAllOpsAndDtypes) {
  std::mt19937_64 random(4);
  std::set<std::string> used;
  for (int number = 0; number < 120; ++number) {
    Expression expression;
    DType main = kAllDTypes[random() % std::size(kAllDTypes)];
    DType other = kAllDTypes[random() % std::size(kAllDTypes)];
    expression.operands = {main, main, other, DType::Bool};
    while (expression.steps.size() < 8) {
      const Loop &loop = allLoops()[random() % allLoops().size()];
      // Casts are many and would drown the rest.
      if (loop.op != "cast" || random() % 4 == 0) {
        if (addStep(expression, loop, random)) {
          used.insert(loop.op);
        }
      }
    }
    checkExpression(expression, 7 * 300, uint64_t(number));
  }
  EXPECT_GE(used.size(), 20u);
}

} // namespace
} // namespace numbers
