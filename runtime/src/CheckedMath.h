/// Sizes from outside (files, callers) are multiplied only through these.
///
///   int64_t bytes; if (!checkedByteCount(type, bytes)) { return Status::corruptFile(...); }
///
/// All return false instead of overflowing int64; a negative or unknown dim is refused too.
#pragma once

#include "tracert/Tensor.h"

namespace tracert {

inline bool checkedMultiply(int64_t a, int64_t b, int64_t &product) {
  return !__builtin_mul_overflow(a, b, &product);
}

/// Elements times element size. The product of the non-zero dims must fit too, as Tensor.h promises
/// to everything that computes strides.
inline bool checkedByteCount(const TensorType &type, int64_t &bytes) {
  int64_t product = static_cast<int64_t>(dtypeSize(type.dtype));
  bool isEmpty = false;
  for (int64_t dim : type.shape) {
    if (dim < 0) {
      return false;
    }
    isEmpty = isEmpty || dim == 0;
    if (dim > 0 && !checkedMultiply(product, dim, product)) {
      return false;
    }
  }
  bytes = isEmpty ? 0 : product;
  return true;
}

/// [offset, offset + length) lies in [0, size).
inline bool isRangeInside(uint64_t offset, uint64_t length, uint64_t size) {
  return offset <= size && length <= size - offset;
}

} // namespace tracert
