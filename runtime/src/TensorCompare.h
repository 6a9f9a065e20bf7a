/// Element-by-element comparison of two tensors of one type.
///
///   Comparison result = compareTensors(expected, actual, {.rtol = 1e-5});
///
/// An element matches when its bits are equal, both are NaN, |a - e| <= atol + rtol * |e|, or at
/// most `ulp` representable values lie between them. All zero means bit for bit: then -0.0 is not
/// +0.0. Any strides.
#pragma once

#include "tracert/Tensor.h"

namespace tracert {

struct Tolerance {
  double rtol = 0;
  double atol = 0;
  uint64_t ulp = 0;

  bool isExact() const { return rtol == 0 && atol == 0 && ulp == 0; }
};

struct Comparison {
  int64_t elementCount = 0;
  int64_t mismatchCount = 0;
  int64_t firstBad = -1;
  double maxAbs = 0;
  double meanAbs = 0;
  uint64_t maxUlp = 0;
};

/// Types must be equal.
Comparison compareTensors(const TensorView &expected, const TensorView &actual,
                          const Tolerance &tolerance);

} // namespace tracert
