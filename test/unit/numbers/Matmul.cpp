// Matmul: every variant against the chain of Numbers.md, for all strides, edges and splits.
#include "MatmulProblem.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <thread>

namespace numbers {
namespace {

using namespace tracert;

std::vector<uint8_t> reference(const Problem &problem) {
  const MatmulArgs &args = problem.args;
  return referenceProduct(problem, [&](auto sum, int64_t row, int64_t column) {
    using Float = decltype(sum);
    for (int64_t k = 0; k < args.depth; ++k) {
      int64_t left = row * args.aRowStride + k * args.aDepthStride;
      int64_t right = k * args.bDepthStride + column * args.bColumnStride;
      sum = std::fma(accumulated<Float>(problem.dtype, args.a, left),
                     accumulated<Float>(problem.dtype, args.b, right), sum);
    }
    return sum;
  });
}

struct Scratch {
  explicit Scratch(int64_t bytes)
      : memory(std::aligned_alloc(64, size_t(bytes + 63) / 64 * 64 + 64), std::free) {}
  std::unique_ptr<void, void (*)(void *)> memory;
};

void check(const Problem &problem) {
  std::vector<uint8_t> expected = reference(problem);
  MatmulArgs args = problem.args;
  int64_t count = args.rows * args.columns;
  for (const CoreVariant &variant : coreVariants()) {
    const MatmulCores &cores = variant.cores->matmul[int(problem.dtype)];
    for (int split : {0, 1, 2}) {
      std::vector<uint8_t> actual(expected.size(), 0x33);
      args.c = actual.data();
      int64_t rowSplit = split == 1 ? args.rows * 2 / 3 : args.rows;
      int64_t columnSplit = split == 2 ? args.columns / 3 : args.columns;
      auto run = [&](int64_t rowBegin, int64_t rowEnd, int64_t columnBegin, int64_t columnEnd) {
        Scratch scratch(cores.scratchBytes(rowEnd - rowBegin, columnEnd - columnBegin, args.depth));
        cores.tile(args, rowBegin, rowEnd, columnBegin, columnEnd, scratch.memory.get());
      };
      std::thread other([&] {
        if (split == 1) {
          run(rowSplit, args.rows, 0, args.columns);
        } else if (split == 2) {
          run(0, args.rows, columnSplit, args.columns);
        }
      });
      run(0, rowSplit, 0, columnSplit);
      other.join();
      int64_t first = 0;
      ASSERT_EQ(countDifferent(problem.dtype, expected.data(), actual.data(), count, &first), 0)
          << variant.name << " " << shortName(problem.dtype) << " " << args.rows << "x"
          << args.depth << "x" << args.columns << " split " << split << " at " << first;
    }
  }
}

TEST(Matmul, everyLayoutAndEdgeIsTheReference) {
  std::mt19937_64 random(13);
  for (DType dtype : kAllDTypes) {
    for (int layouts = 0; layouts < 16; ++layouts) {
      for (int round = 0; round < 3; ++round) {
        check(makeProblem(dtype, int64_t(random() % 80), int64_t(random() % 120),
                          int64_t(random() % 60), layouts, round == 0));
      }
    }
  }
}

TEST(Matmul, everyLengthFrom0To300) {
  for (DType dtype : {DType::Float16, DType::Float32, DType::Float64, DType::Int32}) {
    for (int64_t n = 0; n <= 300; ++n) {
      check(makeProblem(dtype, 3, 5, n, int(n % 16), false));
      check(makeProblem(dtype, n, 3, 4, int(n % 16), false));
      check(makeProblem(dtype, 2, n, 3, int(n % 16), false));
    }
  }
}

TEST(Matmul, oneRowOfAnyLayoutIsTheReference) {
  for (DType dtype : kAllDTypes) {
    for (int64_t n = 1; n <= 70; ++n) {
      check(makeProblem(dtype, 1, n, 1 + n * 7 % 30, int(n % 16), n % 5 == 0));
    }
    check(makeProblem(dtype, 1, 2500, 10, 0, false));
    check(makeProblem(dtype, 1, 1100, 401, 2, false));
  }
}

TEST(Matmul, blocksOfDepthRowsAndColumns) {
  for (DType dtype : kAllDTypes) {
    check(makeProblem(dtype, 200, 60, 800, 0, false));
    check(makeProblem(dtype, 200, 60, 400, 5, false));
    check(makeProblem(dtype, 5, 1700, 390, 1, false));
  }
}

} // namespace
} // namespace numbers
