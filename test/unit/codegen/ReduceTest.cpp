// Reductions in both orders, every dtype, lengths around vectors and blocks.
#include "KernelHarness.h"

using namespace tracec::test;
using namespace tracert;

namespace {

class Reduce : public AtEachTarget {};
TRACEC_AT_EACH_ISA(Reduce);

DType sumDType(DType dtype) {
  return isFloat(dtype) ? dtype : isUnsigned(dtype) ? DType::UInt64 : DType::Int64;
}

/// sum and max of the same input in one kernel.
std::string reduceKernel(DType dtype, const std::string &header, const std::string &loadStride,
                         const std::string &storeStride, DType sumOutput) {
  std::string load = "!kernel.access<load " + typeText(dtype) + " " + loadStride + ">";
  std::string sum = "!kernel.access<reduce_store " + typeText(sumOutput) + " " + storeStride + ">";
  std::string max = "!kernel.access<reduce_store " + typeText(dtype) + " " + storeStride + ">";
  return "kernel.func @k " + header + " (%x: " + load + ", %s: " + sum + ", %m: " + max + ") {\n" +
         "%0 = kernel.load %x : " + load + "\n" + "kernel.reduce \"sum\"(%0) to %s : " + sum +
         ", " + typeText(dtype) + "\n" + "kernel.reduce \"max\"(%0) to %m : " + max + ", " +
         typeText(dtype) + "\n}";
}

/// Elements of `x` at `first`, then with `counts` and element `steps`, in C order.
Array sequence(const Array &x, int64_t first, std::vector<int64_t> counts,
               std::vector<int64_t> steps) {
  int64_t total = 1;
  for (int64_t count : counts) {
    total *= count;
  }
  Array result(x.dtype, total);
  for (int64_t i = 0; i < total; ++i) {
    int64_t rest = i, at = first;
    for (size_t axis = counts.size(); axis-- > 0;) {
      at += rest % counts[axis] * steps[axis];
      rest /= counts[axis];
    }
    std::memcpy(result.at(i), x.at(at), x.elementSize());
  }
  return result;
}

TEST_P(Reduce, InnerAxis) {
  for (DType dtype : kAllDTypes) {
    for (const char *stride : {"contiguous", "any"}) {
      const int64_t step = stride[0] == 'a' ? 3 : 1;
      RunnableKernel kernel(reduceKernel(dtype, "domain 2 reduced [1] split outer_axis", stride,
                                         "zero", sumDType(dtype)),
                            GetParam());
      std::vector<int64_t> lengths = {63,  64,   65,   127,  128,  129,
                                      300, 4095, 4096, 4097, 9000, 13000};
      for (int64_t n = 1; n <= 40; ++n) {
        lengths.push_back(n);
      }
      for (int64_t n : lengths) {
        const int64_t rows = 3;
        Array x = Array::randomTerms(dtype, rows * n * step, n);
        Array sum(sumDType(dtype), rows), max(dtype, rows), wantedSum = sum, wantedMax = max;
        for (int64_t row = 0; row < rows; ++row) {
          Array terms = sequence(x, row * n * step, {n}, {step});
          referenceSum(terms, Order::Inner, sum.dtype, wantedSum.at(row));
          referenceMax(terms, wantedMax.at(row));
        }
        KernelCall call{.domain = {rows, n}, .begin = 0, .end = rows};
        call.add(x.at(), {x.elementSize() * n * step, x.elementSize() * step});
        call.add(sum.at(), {sum.elementSize(), 0});
        call.add(max.at(), {max.elementSize(), 0});
        ASSERT_EQ(kernel.run(call), kKernelOk);
        ASSERT_TRUE(sameElements(sum, wantedSum)) << dtypeName(dtype) << " " << stride << " " << n;
        ASSERT_TRUE(sameElements(max, wantedMax)) << dtypeName(dtype) << " " << stride << " " << n;
      }
    }
  }
}

TEST_P(Reduce, EmptySumIsZero) {
  RunnableKernel inner(
      reduceKernel(DType::Float32, "domain 2 reduced [1]", "contiguous", "zero", DType::Float32),
      GetParam());
  RunnableKernel outer(reduceKernel(DType::Float32, "domain 2 reduced [0]", "contiguous",
                                    "contiguous", DType::Float32),
                       GetParam());
  for (bool isInner : {true, false}) {
    const int64_t kept = 19;
    Array x(DType::Float32, 1), sum(DType::Float32, kept), max(DType::Float32, kept), zeros = sum;
    for (int64_t i = 0; i < kept; ++i) {
      zeros.set(i, 0.0f);
    }
    KernelCall call{.domain =
                        isInner ? std::vector<int64_t>{kept, 0} : std::vector<int64_t>{0, kept}};
    call.add(x.at(), {4, 4});
    std::vector<int64_t> strides =
        isInner ? std::vector<int64_t>{4, 0} : std::vector<int64_t>{0, 4};
    call.add(sum.at(), strides);
    call.add(max.at(), strides);
    ASSERT_EQ((isInner ? inner : outer).run(call), kKernelOk);
    ASSERT_TRUE(sameElements(sum, zeros)) << isInner;
  }
}

TEST_P(Reduce, OuterAxis) {
  for (DType dtype : kAllDTypes) {
    RunnableKernel kernel(
        reduceKernel(dtype, "domain 2 reduced [0]", "contiguous", "contiguous", sumDType(dtype)),
        GetParam());
    for (int64_t rows : {1, 2, 100, 4096, 4097, 8192, 13000}) {
      for (int64_t n : {1, 5, 8, 16, 17, 40}) {
        if (rows > 100 && n > 17) {
          continue;
        }
        Array x = Array::randomTerms(dtype, rows * n, rows + n);
        Array sum(sumDType(dtype), n), max(dtype, n), wantedSum = sum, wantedMax = max;
        for (int64_t column = 0; column < n; ++column) {
          Array terms = sequence(x, column, {rows}, {n});
          referenceSum(terms, Order::Outer, sum.dtype, wantedSum.at(column));
          referenceMax(terms, wantedMax.at(column));
        }
        KernelCall call{.domain = {rows, n}};
        call.add(x.at(), {x.elementSize() * n, x.elementSize()});
        call.add(sum.at(), {0, sum.elementSize()});
        call.add(max.at(), {0, max.elementSize()});
        ASSERT_EQ(kernel.run(call), kKernelOk);
        ASSERT_TRUE(sameElements(sum, wantedSum)) << dtypeName(dtype) << " " << rows << "x" << n;
        ASSERT_TRUE(sameElements(max, wantedMax)) << dtypeName(dtype) << " " << rows << "x" << n;
      }
    }
  }
}

TEST_P(Reduce, SeveralAxes) {
  struct Case {
    std::vector<int64_t> reduced;
    Order order;
  };
  for (const Case &test :
       {Case{{0, 2}, Order::Inner}, Case{{1, 2}, Order::Inner}, Case{{0, 1, 2}, Order::Inner},
        Case{{0, 1}, Order::Outer}, Case{{1}, Order::Outer}}) {
    const std::vector<int64_t> shape = {5, 1100, 7}, steps = {7700, 7, 1};
    std::vector<int64_t> counts, countSteps, keptCounts, keptSteps;
    std::vector<int64_t> outStrides(3, 0);
    std::string axes;
    int64_t outStep = 1;
    for (int64_t axis = 2; axis >= 0; --axis) {
      if (std::find(test.reduced.begin(), test.reduced.end(), axis) == test.reduced.end()) {
        outStrides[axis] = outStep * 4;
        outStep *= shape[axis];
      }
    }
    for (int64_t axis = 0; axis < 3; ++axis) {
      bool isReduced = outStrides[axis] == 0;
      (isReduced ? counts : keptCounts).push_back(shape[axis]);
      (isReduced ? countSteps : keptSteps).push_back(steps[axis]);
      if (isReduced) {
        axes += (axes.empty() ? "" : ", ") + std::to_string(axis);
      }
    }
    RunnableKernel kernel(reduceKernel(DType::Float32, "domain 3 reduced [" + axes + "]",
                                       "contiguous", outStrides[2] ? "contiguous" : "zero",
                                       DType::Float32),
                          GetParam());
    Array x = Array::randomTerms(DType::Float32, 5 * 1100 * 7, 4);
    Array sum(DType::Float32, outStep), max = sum, wantedSum = sum, wantedMax = sum;
    for (int64_t i = 0; i < outStep; ++i) {
      int64_t rest = i, first = 0;
      for (size_t axis = keptCounts.size(); axis-- > 0;) {
        first += rest % keptCounts[axis] * keptSteps[axis];
        rest /= keptCounts[axis];
      }
      Array terms = sequence(x, first, counts, countSteps);
      referenceSum(terms, test.order, DType::Float32, wantedSum.at(i));
      referenceMax(terms, wantedMax.at(i));
    }
    KernelCall call{.domain = shape};
    call.add(x.at(), {4 * 7700, 4 * 7, 4});
    call.add(sum.at(), outStrides);
    call.add(max.at(), outStrides);
    ASSERT_EQ(kernel.run(call), kKernelOk);
    ASSERT_TRUE(sameElements(sum, wantedSum)) << "axes " << axes;
    ASSERT_TRUE(sameElements(max, wantedMax)) << "axes " << axes;
  }
}

TEST_P(Reduce, TrailingUnitAxisKeepsTheInnerOrder) {
  RunnableKernel kernel(reduceKernel(DType::Float32, "domain 3 reduced [1] unit [2]", "contiguous",
                                     "zero", DType::Float32),
                        GetParam());
  const int64_t rows = 4, n = 5000;
  Array x = Array::randomTerms(DType::Float32, rows * n, 8);
  Array sum(DType::Float32, rows), max = sum, wantedSum = sum, wantedMax = sum;
  for (int64_t row = 0; row < rows; ++row) {
    Array terms = sequence(x, row * n, {n}, {1});
    referenceSum(terms, Order::Inner, DType::Float32, wantedSum.at(row));
    referenceMax(terms, wantedMax.at(row));
  }
  KernelCall call{.domain = {rows, n, 1}};
  call.add(x.at(), {4 * n, 4, 0});
  call.add(sum.at(), {4, 0, 0});
  call.add(max.at(), {4, 0, 0});
  ASSERT_EQ(kernel.run(call), kKernelOk);
  ASSERT_TRUE(sameElements(sum, wantedSum));
  ASSERT_TRUE(sameElements(max, wantedMax));
}

TEST_P(Reduce, BlocksWriteOnePartialEach) {
  for (DType dtype : kAllDTypes) {
    DType partial = accumulateDType(dtype);
    RunnableKernel kernel(reduceKernel(dtype, "domain 1 reduced [0] flat split sequence_blocks",
                                       "contiguous", "zero", partial),
                          GetParam());
    for (int64_t n : {1, 15, 4096, 4097, 20001}) {
      const int64_t blocks = (n + 4095) / 4096;
      Array x = Array::randomTerms(dtype, n, n);
      Array sum(partial, blocks), max(dtype, blocks), wantedSum = sum, wantedMax = max;
      for (int64_t block = 0; block < blocks; ++block) {
        Array terms = sequence(x, block * 4096, {std::min<int64_t>(4096, n - block * 4096)}, {1});
        referenceSum(terms, Order::Inner, partial, wantedSum.at(block));
        referenceMax(terms, wantedMax.at(block));
      }
      const int64_t middle = blocks / 2;
      for (auto [begin, end] : {std::pair<int64_t, int64_t>{middle, blocks}, {0, middle}}) {
        KernelCall call{.domain = {n}, .begin = begin, .end = end};
        call.add(x.at(), {x.elementSize()});
        call.add(sum.at(), {0});
        call.add(max.at(), {0});
        ASSERT_EQ(kernel.run(call), kKernelOk);
      }
      ASSERT_TRUE(sameElements(sum, wantedSum)) << dtypeName(dtype) << " " << n;
      ASSERT_TRUE(sameElements(max, wantedMax)) << dtypeName(dtype) << " " << n;
    }
  }
}

} // namespace
