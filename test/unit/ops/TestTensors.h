/// Small tensors with awkward strides, read and written one element at a time, for tests of type
/// rules and kernels.
///
///   TestTensor x = strided(random, DType::Int32, {2, 3});   // permuted, negative, gaps
///   x.fill([&](size_t i) { return double(i); }); x.at(4);   // flat C-order position
#pragma once

#include "tracert/Allocator.h"
#include "tracert/Kernels.h"
#include "tracert/ThreadPool.h"

#include <cmath>
#include <cstring>
#include <functional>
#include <numeric>
#include <ostream>
#include <random>
#include <vector>

namespace tracert {

/// How GoogleTest prints them.
inline void PrintTo(const Dims &shape, std::ostream *out) { *out << shapeString(shape); }
inline void PrintTo(const TensorType &type, std::ostream *out) { *out << type.str(); }

namespace test {

using Random = std::mt19937;

inline int64_t below(Random &random, int64_t limit) {
  return static_cast<int64_t>(random() % static_cast<uint64_t>(limit));
}

inline int64_t countOf(const Dims &shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t(1), std::multiplies<>());
}

/// The coordinates of flat C-order position `flat`.
inline std::vector<int64_t> coordinatesOf(const Dims &shape, int64_t flat) {
  std::vector<int64_t> result(shape.size());
  for (size_t axis = shape.size(); axis-- > 0;) {
    result[axis] = flat % shape[axis];
    flat /= shape[axis];
  }
  return result;
}

inline char *addressOf(const TensorView &view, const std::vector<int64_t> &coordinates) {
  char *at = static_cast<char *>(view.data);
  for (size_t axis = 0; axis < coordinates.size(); ++axis) {
    at += coordinates[axis] * view.strides[axis];
  }
  return at;
}

/// Narrow floats hold small integers only in these tests: by plain C++.
inline double narrowToDouble(uint64_t bits, int fractionBits) {
  int exponent = static_cast<int>((bits & 0x7FFF) >> fractionBits);
  int bias = (1 << (14 - fractionBits)) - 1;
  auto fraction = static_cast<double>(bits & ((1 << fractionBits) - 1));
  double hidden = exponent == 0 ? 0 : std::ldexp(1, fractionBits);
  double magnitude = std::ldexp(fraction + hidden, std::max(exponent, 1) - bias - fractionBits);
  return (bits & 0x8000) ? -magnitude : magnitude;
}
inline uint16_t narrowOfInteger(double value, int fractionBits) {
  if (value == 0) {
    return 0;
  }
  int exponent;
  double fraction = std::frexp(std::fabs(value), &exponent);
  int bits = static_cast<int>(std::ldexp(fraction, fractionBits + 1));
  int bias = (1 << (14 - fractionBits)) - 1;
  return static_cast<uint16_t>((value < 0 ? 0x8000 : 0) | ((exponent - 1 + bias) << fractionBits) |
                               (bits & ((1 << fractionBits) - 1)));
}

inline double loadElement(const void *at, DType dtype) {
  return visitDType(dtype, [&](auto tag) {
    using D = decltype(tag);
    typename D::Storage value;
    std::memcpy(&value, at, sizeof(value));
    if constexpr (isNarrowFloatTag<D>) {
      return narrowToDouble(value, dtypeRecord(D::dtype).fractionBits);
    } else {
      return static_cast<double>(value);
    }
  });
}

inline void storeElement(void *at, DType dtype, double value) {
  visitDType(dtype, [&](auto tag) {
    using D = decltype(tag);
    typename D::Storage element;
    if constexpr (isBoolTag<D>) {
      element = value != 0;
    } else if constexpr (isNarrowFloatTag<D>) {
      element = narrowOfInteger(value, dtypeRecord(D::dtype).fractionBits);
    } else {
      element = static_cast<typename D::Storage>(value);
    }
    std::memcpy(at, &element, sizeof(element));
  });
}

/// A view and its memory. Memory outside the view holds a pattern that kernels must not change.
struct TestTensor {
  std::vector<char> memory;
  TensorView view;

  TestTensor() = default;
  // A copy's view would point at the memory of the original.
  TestTensor(const TestTensor &) = delete;
  TestTensor(TestTensor &&) = default;
  TestTensor &operator=(TestTensor &&) = default;

  int64_t size() const { return view.elementCount(); }
  double at(int64_t flat) const {
    return loadElement(addressOf(view, coordinatesOf(view.shape, flat)), view.dtype);
  }
  void set(int64_t flat, double value) {
    storeElement(addressOf(view, coordinatesOf(view.shape, flat)), view.dtype, value);
  }
  template <class F> TestTensor &fill(F &&valueAt) {
    for (int64_t i = 0; i < size(); ++i) {
      set(i, valueAt(i));
    }
    return *this;
  }
  std::vector<double> values() const {
    std::vector<double> result;
    for (int64_t i = 0; i < size(); ++i) {
      result.push_back(at(i));
    }
    return result;
  }
};

inline TestTensor contiguous(DType dtype, const Dims &shape) {
  TestTensor tensor;
  TensorType type{dtype, shape};
  // Slack on both sides; 64 is the alignment of the largest element several times over.
  tensor.memory.assign(static_cast<size_t>(type.byteCount()) + 192, char(0x5A));
  uintptr_t start = reinterpret_cast<uintptr_t>(tensor.memory.data());
  size_t shift = 64 + (64 - start % 64) % 64;
  tensor.view = TensorView::contiguous(tensor.memory.data() + shift, type);
  return tensor;
}

/// Axes permuted, some reversed, some with gaps.
inline TestTensor strided(Random &random, DType dtype, const Dims &shape) {
  size_t rank = shape.size();
  std::vector<size_t> order(rank);
  std::iota(order.begin(), order.end(), size_t(0));
  std::shuffle(order.begin(), order.end(), random);
  Dims spread(rank);
  Dims gaps(rank);
  for (size_t i = 0; i < rank; ++i) {
    gaps[i] = 1 + below(random, 2);
    spread[i] = shape[order[i]] * gaps[i];
  }
  TestTensor tensor = contiguous(dtype, spread);
  TensorView base = tensor.view;
  tensor.view.shape = shape;
  tensor.view.strides.assign(rank, 0);
  for (size_t i = 0; i < rank; ++i) {
    int64_t stride = base.strides[i] * gaps[i];
    if (random() % 3 == 0 && shape[order[i]] > 0) {
      tensor.view.data = static_cast<char *>(tensor.view.data) + stride * (shape[order[i]] - 1);
      stride = -stride;
    }
    tensor.view.strides[order[i]] = stride;
  }
  return tensor;
}

inline TestTensor anyStrides(Random &random, DType dtype, const Dims &shape) {
  return random() % 2 == 0 ? contiguous(dtype, shape) : strided(random, dtype, shape);
}

inline std::vector<OperandInfo> infosOf(const std::vector<TensorView> &views) {
  std::vector<OperandInfo> infos;
  for (const TensorView &view : views) {
    infos.push_back({view.type()});
  }
  return infos;
}

inline std::vector<Target> supportedTargets() {
  std::vector<Target> targets;
  for (Target target : {kPortable, kX86V3, kX86V4}) {
    if (supports(target)) {
      targets.push_back(target);
    }
  }
  return targets;
}

inline KernelContext contextFor(Target target, ThreadPool *pool = nullptr) {
  return {.pool = pool, .target = target, .allocator = &processAllocator()};
}

/// Infers the types and runs the op into fresh contiguous results.
inline Result<std::vector<TestTensor>> runOp(const KernelContext &context, const OpCall &call,
                                             const std::vector<TensorView> &operands) {
  std::vector<OperandInfo> infos = infosOf(operands);
  Result<ResultTypes> types = inferTypes(call, infos);
  if (!types.ok()) {
    return types.status();
  }
  if (call.info().has(kTraitDataDependentShape)) {
    TRACERT_ASSIGN(std::vector<int64_t> counts, readCounts(context, call, operands));
    types = inferTypesWithCounts(call, infos, counts);
    if (!types.ok()) {
      return types.status();
    }
  }
  std::vector<TestTensor> results;
  std::vector<TensorView> views;
  for (const TensorType &type : *types) {
    results.push_back(contiguous(type.dtype, type.shape));
    views.push_back(results.back().view);
  }
  TRACERT_TRY(runKernel(context, call, operands, views));
  return results;
}

} // namespace test
} // namespace tracert
