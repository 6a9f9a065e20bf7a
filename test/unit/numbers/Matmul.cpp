// Matmul: every variant against the chain of Numbers.md, for all strides, edges and splits.
#include "Inputs.h"
#include "Variants.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <thread>

namespace numbers {
namespace {

using namespace tracert;

/// A x B with byte strides; C is packed.
struct Problem {
  DType dtype;
  std::vector<uint8_t> a, b;
  MatmulArgs args = {};
};

enum class Layout { Plain, Transposed, Padded, Reversed };

/// Sets the strides of a rows x columns matrix in a buffer with room for twice as much.
const uint8_t *place(Layout layout, const std::vector<uint8_t> &bytes, int64_t size, int64_t rows,
                     int64_t columns, int64_t &rowStride, int64_t &columnStride) {
  rowStride = columns * size;
  columnStride = size;
  switch (layout) {
  case Layout::Plain:
    return bytes.data();
  case Layout::Transposed:
    rowStride = size;
    columnStride = rows * size;
    return bytes.data();
  case Layout::Padded:
    rowStride = 2 * columns * size;
    columnStride = 2 * size;
    return bytes.data();
  case Layout::Reversed:
    rowStride = -columns * size;
    return bytes.data() + (rows > 0 ? rows - 1 : 0) * columns * size;
  }
  return nullptr;
}

Problem makeProblem(DType dtype, int64_t rows, int64_t columns, int64_t depth, int layouts,
                    bool hard) {
  Problem problem{dtype, {}, {}, {}};
  auto values = hard ? hardValues : summable;
  problem.a = values(dtype, 2 * rows * depth + 8, 21);
  problem.b = values(dtype, 2 * depth * columns + 8, 22);
  int64_t size = int64_t(dtypeSize(dtype));
  MatmulArgs &args = problem.args;
  args.rows = rows;
  args.columns = columns;
  args.depth = depth;
  args.a =
      place(Layout(layouts % 4), problem.a, size, rows, depth, args.aRowStride, args.aDepthStride);
  args.b = place(Layout(layouts / 4), problem.b, size, depth, columns, args.bDepthStride,
                 args.bColumnStride);
  args.cRowStride = columns * size;
  args.cColumnStride = size;
  return problem;
}

template <class Value> Value element(const void *base, int64_t offset) {
  return get<Value>(static_cast<const char *>(base) + offset, 0);
}

/// float16 through the casts that the elementwise test proves.
void castOne(DType from, DType to, const void *input, void *result) {
  int64_t stride = int64_t(dtypeSize(from));
  coreVariants()[0].cores->cast[int(from)][int(to)](&input, &stride, result, int64_t(dtypeSize(to)),
                                                    1);
}

template <class Float, class Load>
Float chain(const MatmulArgs &args, int64_t row, int64_t column, Load load) {
  Float sum = Float(0);
  for (int64_t k = 0; k < args.depth; ++k) {
    Float left = load(args.a, row * args.aRowStride + k * args.aDepthStride);
    Float right = load(args.b, k * args.bDepthStride + column * args.bColumnStride);
    sum = std::fma(left, right, sum);
  }
  return sum;
}

template <class Integer> Integer wrappedSum(const MatmulArgs &args, int64_t row, int64_t column) {
  uint64_t sum = 0;
  for (int64_t k = 0; k < args.depth; ++k) {
    auto left = element<Integer>(args.a, row * args.aRowStride + k * args.aDepthStride);
    auto right = element<Integer>(args.b, k * args.bDepthStride + column * args.bColumnStride);
    sum += uint64_t(int64_t(left)) * uint64_t(int64_t(right));
  }
  return Integer(sum);
}

std::vector<uint8_t> reference(const Problem &problem) {
  const MatmulArgs &args = problem.args;
  std::vector<uint8_t> result(size_t(args.rows * args.columns) * dtypeSize(problem.dtype) + 8);
  for (int64_t row = 0; row < args.rows; ++row) {
    for (int64_t column = 0; column < args.columns; ++column) {
      int64_t index = row * args.columns + column;
      switch (problem.dtype) {
      case DType::Float64:
        put(result, index, chain<double>(args, row, column, element<double>));
        break;
      case DType::Float32:
        put(result, index, chain<float>(args, row, column, element<float>));
        break;
      case DType::Float16: {
        float sum = chain<float>(args, row, column, [](const void *base, int64_t offset) {
          float value;
          castOne(DType::Float16, DType::Float32, static_cast<const char *>(base) + offset, &value);
          return value;
        });
        uint16_t half;
        castOne(DType::Float32, DType::Float16, &sum, &half);
        put(result, index, half);
        break;
      }
      case DType::Int32:
        put(result, index, wrappedSum<int32_t>(args, row, column));
        break;
      case DType::Int64:
        put(result, index, wrappedSum<int64_t>(args, row, column));
        break;
      case DType::UInt8:
        put(result, index, wrappedSum<uint8_t>(args, row, column));
        break;
      case DType::Bool: {
        bool any = false;
        for (int64_t k = 0; k < args.depth; ++k) {
          any = any ||
                (element<uint8_t>(args.a, row * args.aRowStride + k * args.aDepthStride) &&
                 element<uint8_t>(args.b, k * args.bDepthStride + column * args.bColumnStride));
        }
        put(result, index, uint8_t(any));
        break;
      }
      }
    }
  }
  return result;
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

TEST(Matmul, blocksOfDepthRowsAndColumns) {
  for (DType dtype : kAllDTypes) {
    check(makeProblem(dtype, 200, 60, 800, 0, false));
    check(makeProblem(dtype, 200, 60, 400, 5, false));
    check(makeProblem(dtype, 5, 1700, 390, 1, false));
  }
}

} // namespace
} // namespace numbers
