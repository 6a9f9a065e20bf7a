/// MatmulProblem.h: matrices with all kinds of strides for the tests of both matmul orders.
///
///   Problem problem = makeProblem(DType::Float32, 3, 5, 40, /*layouts=*/1, /*hard=*/false);
///   float left = operandElement<float>(problem.args.a, row * problem.args.aRowStride);
#pragma once

#include "Inputs.h"
#include "Variants.h"

namespace numbers {

using tracert::MatmulArgs;

/// A x B with byte strides; C is packed.
struct Problem {
  DType dtype;
  std::vector<uint8_t> a, b;
  MatmulArgs args = {};
};

enum class Layout { Plain, Transposed, Padded, Reversed };

/// Sets the strides of a rows x columns matrix in a buffer with room for twice as much.
inline const uint8_t *place(Layout layout, const std::vector<uint8_t> &bytes, int64_t size,
                            int64_t rows, int64_t columns, int64_t &rowStride,
                            int64_t &columnStride) {
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

inline Problem makeProblem(DType dtype, int64_t rows, int64_t columns, int64_t depth, int layouts,
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

template <class Value> Value operandElement(const void *base, int64_t offset) {
  return get<Value>(static_cast<const char *>(base) + offset, 0);
}

/// Narrow floats through the casts that the elementwise test proves.
inline void castOne(DType from, DType to, const void *input, void *result) {
  int64_t stride = int64_t(dtypeSize(from));
  coreVariants()[0].cores->cast[int(from)][int(to)](&input, &stride, result, int64_t(dtypeSize(to)),
                                                    1);
}

/// An operand's element as the number that is accumulated.
template <class Float> Float accumulated(DType dtype, const void *base, int64_t offset) {
  if (dtypeSize(dtype) == 2) {
    float value;
    castOne(dtype, DType::Float32, static_cast<const char *>(base) + offset, &value);
    return Float(value);
  }
  return operandElement<Float>(base, offset);
}

template <class Integer> Integer wrappedSum(const MatmulArgs &args, int64_t row, int64_t column) {
  uint64_t sum = 0;
  for (int64_t k = 0; k < args.depth; ++k) {
    auto left = operandElement<Integer>(args.a, row * args.aRowStride + k * args.aDepthStride);
    auto right =
        operandElement<Integer>(args.b, k * args.bDepthStride + column * args.bColumnStride);
    sum += uint64_t(int64_t(left)) * uint64_t(int64_t(right));
  }
  return Integer(sum);
}

/// All outputs, of the dtype. floatOutput(zero, row, column) gives the sum of one output in the
/// type of `zero`, float or double, before it is rounded to a narrow float.
template <class FloatOutput>
std::vector<uint8_t> referenceProduct(const Problem &problem, FloatOutput floatOutput) {
  const MatmulArgs &args = problem.args;
  std::vector<uint8_t> result(size_t(args.rows * args.columns) * dtypeSize(problem.dtype) + 8);
  for (int64_t row = 0; row < args.rows; ++row) {
    for (int64_t column = 0; column < args.columns; ++column) {
      int64_t index = row * args.columns + column;
      tracert::visitDType(problem.dtype, [&](auto tag) {
        using D = decltype(tag);
        using Storage = typename D::Storage;
        if constexpr (tracert::isFloatTag<D>) {
          auto sum = floatOutput(typename D::Compute(), row, column);
          if constexpr (tracert::isNarrowFloatTag<D>) {
            Storage narrow;
            castOne(DType::Float32, problem.dtype, &sum, &narrow);
            put(result, index, narrow);
          } else {
            put(result, index, sum);
          }
        } else if constexpr (tracert::isBoolTag<D>) {
          bool any = false;
          for (int64_t k = 0; k < args.depth; ++k) {
            any = any ||
                  (operandElement<uint8_t>(args.a, row * args.aRowStride + k * args.aDepthStride) &&
                   operandElement<uint8_t>(args.b,
                                           k * args.bDepthStride + column * args.bColumnStride));
          }
          put(result, index, uint8_t(any));
        } else {
          put(result, index, wrappedSum<Storage>(args, row, column));
        }
      });
    }
  }
  return result;
}

} // namespace numbers
