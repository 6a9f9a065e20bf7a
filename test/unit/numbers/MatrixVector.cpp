// Products of one column: every variant against the inner order of Numbers.md, for all strides,
// lengths and splits.
#include "MatmulProblem.h"

#include <gtest/gtest.h>

#include <thread>

namespace numbers {
namespace {

using tracert::MatrixVectorCores;

// ---- the reference: no shared code with the kernels ----

template <class Float> Float treeOf(const std::vector<Float> &blocks, size_t begin, size_t end) {
  if (end - begin == 1) {
    return blocks[begin];
  }
  size_t power = 1;
  while (power * 2 < end - begin) {
    power *= 2;
  }
  return treeOf(blocks, begin, begin + power) + treeOf(blocks, begin + power, end);
}

template <class Float>
Float innerDot(const std::vector<Float> &left, const std::vector<Float> &right) {
  const size_t lanes = sizeof(Float) == 4 ? 128 : 64;
  std::vector<Float> blocks;
  for (size_t begin = 0; begin < left.size(); begin += 4096) {
    std::vector<Float> lane(lanes, Float(-0.0));
    for (size_t i = begin; i < std::min(begin + 4096, left.size()); ++i) {
      Float &chain = lane[(i - begin) % lanes];
      chain = std::fma(left[i], right[i], chain);
    }
    for (size_t half = lanes / 2; half > 0; half /= 2) {
      for (size_t l = 0; l < half; ++l) {
        lane[l] += lane[l + half];
      }
    }
    blocks.push_back(lane[0]);
  }
  return blocks.empty() ? Float(0) : treeOf(blocks, 0, blocks.size()) + Float(0);
}

std::vector<uint8_t> reference(const Problem &problem) {
  const MatmulArgs &args = problem.args;
  return referenceProduct(problem, [&](auto zero, int64_t row, int64_t) {
    using Float = decltype(zero);
    std::vector<Float> left, right;
    for (int64_t k = 0; k < args.depth; ++k) {
      left.push_back(
          accumulated<Float>(problem.dtype, args.a, row * args.aRowStride + k * args.aDepthStride));
      right.push_back(accumulated<Float>(problem.dtype, args.b, k * args.bDepthStride));
    }
    return innerDot(left, right);
  });
}

// ---- the variants ----

/// Rows of one variant by two threads, and each row from its blocks by two threads.
void checkVariant(const CoreVariant &variant, const Problem &problem,
                  const std::vector<uint8_t> &expected) {
  const MatrixVectorCores &cores = variant.cores->matrixVector[int(problem.dtype)];
  MatmulArgs args = problem.args;
  std::string where = variant.name + " " + shortName(problem.dtype) + " " +
                      std::to_string(args.rows) + "x" + std::to_string(args.depth);
  auto compare = [&](const std::vector<uint8_t> &actual, const char *how) {
    int64_t first = 0;
    ASSERT_EQ(countDifferent(problem.dtype, expected.data(), actual.data(), args.rows, &first), 0)
        << where << ", " << how << ", at " << first;
  };
  for (int64_t split : {args.rows, args.rows * 2 / 3}) {
    std::vector<uint8_t> actual(expected.size(), 0x33);
    args.c = actual.data();
    std::thread other([&] { cores.rows(args, split, args.rows); });
    cores.rows(args, 0, split);
    other.join();
    compare(actual, "by rows");
  }
  std::vector<uint8_t> actual(expected.size(), 0x33);
  int64_t blockCount = (args.depth + 4095) / 4096;
  for (int64_t row = 0; row < args.rows; ++row) {
    std::vector<uint8_t> partials(size_t(blockCount * cores.partialSize) + 8);
    int64_t half = blockCount / 2;
    std::thread other([&] {
      cores.blocks(args, row, half, blockCount, partials.data() + half * cores.partialSize);
    });
    cores.blocks(args, row, 0, half, partials.data());
    other.join();
    cores.combine(partials.data(), blockCount,
                  actual.data() + row * int64_t(dtypeSize(problem.dtype)));
  }
  compare(actual, "by blocks");
}

void check(const Problem &problem) {
  std::vector<uint8_t> expected = reference(problem);
  for (const CoreVariant &variant : coreVariants()) {
    checkVariant(variant, problem, expected);
  }
}

TEST(MatrixVector, everyDepthFrom0To300) {
  for (DType dtype : kAllDTypes) {
    for (int64_t depth = 0; depth <= 300; ++depth) {
      check(makeProblem(dtype, 1 + depth % 4, 1, depth, int(depth % 16), depth % 7 == 0));
    }
  }
}

TEST(MatrixVector, everyCountOfRowsAndLayout) {
  std::mt19937_64 random(17);
  for (DType dtype : kAllDTypes) {
    for (int64_t rows = 0; rows <= 70; ++rows) {
      check(makeProblem(dtype, rows, 1, int64_t(random() % 200), int(rows % 16), rows % 5 == 0));
    }
  }
}

TEST(MatrixVector, depthsOfManyBlocks) {
  for (DType dtype : kAllDTypes) {
    for (int64_t depth : {4095, 4096, 4097, 8192, 12289, 50001}) {
      for (int layouts : {0, 1, 2, 11}) {
        check(makeProblem(dtype, depth < 10000 ? 5 : 1, 1, depth, layouts, depth == 8192));
      }
    }
  }
}

TEST(MatrixVector, productsOfMinusZeroAndOfNothing) {
  std::vector<float> minus(300, -0.0f), one(300, 1.0f);
  for (const CoreVariant &variant : coreVariants()) {
    for (int64_t depth : {0, 1, 7, 128, 300}) {
      float result = 5;
      MatmulArgs args{minus.data(), one.data(), &result, 1, 1, depth, 1200, 4, 4, 4, 4, 4};
      variant.cores->matrixVector[int(DType::Float32)].rows(args, 0, 1);
      EXPECT_EQ(result, 0.0f);
      EXPECT_FALSE(std::signbit(result)) << variant.name << " " << depth;
    }
  }
}

TEST(MatrixVector, readsNothingBeyondItsOperands) {
  // Exactly as many bytes as there are elements: a sanitizer sees every byte beyond.
  for (DType dtype : kAllDTypes) {
    for (int64_t depth : {1, 5, 17, 129}) {
      for (bool isTransposed : {false, true}) {
        const int64_t rows = 37, size = int64_t(dtypeSize(dtype));
        std::vector<uint8_t> a(size_t(rows * depth * size)), b(size_t(depth * size));
        std::vector<uint8_t> c(size_t(rows * size));
        MatmulArgs args{a.data(),     b.data(), c.data(), rows, 1,    depth,
                        depth * size, size,     size,     size, size, size};
        if (isTransposed) {
          args.aRowStride = size;
          args.aDepthStride = rows * size;
        }
        for (const CoreVariant &variant : coreVariants()) {
          variant.cores->matrixVector[int(dtype)].rows(args, 0, rows);
          EXPECT_EQ(c, std::vector<uint8_t>(size_t(rows * size))) << variant.name;
        }
      }
    }
  }
}

} // namespace
} // namespace numbers
