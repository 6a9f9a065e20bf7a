/// TensorType (dtype and shape) and TensorView (a type over memory that someone else owns).
///
///   TensorType type{DType::Float32, {2, 3}}; TensorView view = TensorView::contiguous(data, type);
///
/// Sizes are in elements, strides in BYTES (zero and negative allowed). A dimension is
/// kUnknownDim while it depends on data that has not been computed yet (the count of a mask).
#pragma once

#include "tracert/DType.h"
#include "tracert/Export.h"
#include "tracert/InlineVector.h"

#include <cstdint>
#include <string>

namespace tracert {

using Dims = InlineVector<int64_t, 6>;

inline constexpr int64_t kUnknownDim = -1;
inline constexpr size_t kMaxRank = 64;

struct TRACERT_API TensorType {
  DType dtype = DType::Float32;
  Dims shape;

  size_t rank() const { return shape.size(); }
  bool isFullyKnown() const {
    for (int64_t dim : shape) {
      if (dim == kUnknownDim) {
        return false;
      }
    }
    return true;
  }
  /// Product of the dims; 1 for rank 0. Only for fully known types; constructors and type rules
  /// guarantee that the product of the non-zero dims times the element size fits int64.
  int64_t elementCount() const {
    int64_t product = 1;
    for (int64_t dim : shape) {
      product *= dim;
    }
    return product;
  }
  int64_t byteCount() const { return elementCount() * static_cast<int64_t>(dtypeSize(dtype)); }
  /// "float32[2,3]", with "?" for an unknown dim.
  std::string str() const;

  friend bool operator==(const TensorType &a, const TensorType &b) {
    return a.dtype == b.dtype && a.shape == b.shape;
  }
};

/// "(2, 3)", as Python prints a shape.
TRACERT_API std::string shapeString(const Dims &shape);

/// Row-major strides in bytes.
inline Dims contiguousStrides(const Dims &shape, DType dtype) {
  Dims strides(shape.size());
  int64_t step = static_cast<int64_t>(dtypeSize(dtype));
  for (size_t i = shape.size(); i-- > 0;) {
    strides[i] = step;
    step *= shape[i] > 0 ? shape[i] : 1;
  }
  return strides;
}

struct TensorView {
  void *data = nullptr;
  DType dtype = DType::Float32;
  Dims shape;
  /// Bytes between neighbours along each axis; same size as shape.
  Dims strides;

  static TensorView contiguous(void *data, const TensorType &type) {
    return {data, type.dtype, type.shape, contiguousStrides(type.shape, type.dtype)};
  }
  TensorType type() const { return {dtype, shape}; }
  size_t rank() const { return shape.size(); }
  int64_t elementCount() const {
    int64_t product = 1;
    for (int64_t dim : shape) {
      product *= dim;
    }
    return product;
  }
  /// True when the elements lie in row-major order without gaps (axes of size 1 do not matter).
  bool isContiguous() const {
    int64_t step = static_cast<int64_t>(dtypeSize(dtype));
    for (size_t i = shape.size(); i-- > 0;) {
      if (shape[i] == 0) {
        return true;
      }
      if (shape[i] != 1 && strides[i] != step) {
        return false;
      }
      step *= shape[i];
    }
    return true;
  }
};

} // namespace tracert
