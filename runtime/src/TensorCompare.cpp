#include "TensorCompare.h"

#include "tracert/Element.h"

#include <cmath>
#include <cstring>
#include <limits>

namespace tracert {
namespace {

struct ElementDistance {
  bool isSame;
  double abs;
  uint64_t ulp;
};

uint64_t bitsAt(const char *data, DType dtype) {
  uint64_t bits = 0;
  std::memcpy(&bits, data, dtypeSize(dtype));
  return bits;
}

/// Floats as integers in order: neighbours differ by one, -0.0 lies just below +0.0.
int64_t ordered(uint64_t bits, DType dtype) {
  uint64_t signBit = uint64_t(1) << (8 * dtypeSize(dtype) - 1);
  auto magnitude = static_cast<int64_t>(bits & ~signBit);
  return bits & signBit ? ~magnitude : magnitude;
}

uint64_t difference(int64_t a, int64_t b) {
  return a > b ? static_cast<uint64_t>(a) - static_cast<uint64_t>(b)
               : static_cast<uint64_t>(b) - static_cast<uint64_t>(a);
}

ElementDistance floatDistance(DType dtype, const char *expected, const char *actual,
                              double &magnitude) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  uint64_t e = bitsAt(expected, dtype);
  uint64_t a = bitsAt(actual, dtype);
  double expectedValue = floatAt(expected, dtype);
  magnitude = std::abs(expectedValue);
  bool expectedNaN = isNaNAt(expected, dtype);
  bool actualNaN = isNaNAt(actual, dtype);
  if (e == a || (expectedNaN && actualNaN)) {
    return {true, 0, 0};
  }
  if (expectedNaN || actualNaN) {
    return {false, infinity, UINT64_MAX};
  }
  return {false, std::abs(floatAt(actual, dtype) - expectedValue),
          difference(ordered(e, dtype), ordered(a, dtype))};
}

ElementDistance distance(DType dtype, const char *expected, const char *actual, double &magnitude) {
  if (isFloat(dtype)) {
    return floatDistance(dtype, expected, actual, magnitude);
  }
  if (isSigned(dtype)) {
    int64_t e = integerAt(expected, dtype);
    int64_t a = integerAt(actual, dtype);
    magnitude = std::abs(static_cast<double>(e));
    return {e == a, static_cast<double>(difference(e, a)), difference(e, a)};
  }
  uint64_t e = bitsAt(expected, dtype);
  uint64_t a = bitsAt(actual, dtype);
  uint64_t between = e > a ? e - a : a - e;
  magnitude = static_cast<double>(e);
  return {e == a, static_cast<double>(between), between};
}

/// Walks both tensors in row-major order.
class Cursor {
public:
  explicit Cursor(const TensorView &view)
      : view(view), data(static_cast<const char *>(view.data)), index(view.rank(), 0) {}
  const char *get() const { return data; }
  void advance() {
    for (size_t axis = view.rank(); axis-- > 0;) {
      data += view.strides[axis];
      if (++index[axis] < view.shape[axis]) {
        return;
      }
      data -= view.strides[axis] * view.shape[axis];
      index[axis] = 0;
    }
  }

private:
  const TensorView &view;
  const char *data;
  Dims index;
};

} // namespace

Comparison compareTensors(const TensorView &expected, const TensorView &actual,
                          const Tolerance &tolerance) {
  Comparison result;
  result.elementCount = expected.elementCount();
  Cursor e(expected);
  Cursor a(actual);
  double sum = 0;
  for (int64_t i = 0; i < result.elementCount; ++i, e.advance(), a.advance()) {
    double magnitude = 0;
    ElementDistance found = distance(expected.dtype, e.get(), a.get(), magnitude);
    if (found.isSame) {
      continue;
    }
    sum += found.abs;
    result.maxAbs = std::fmax(result.maxAbs, found.abs);
    result.maxUlp = std::max(result.maxUlp, found.ulp);
    bool isClose =
        !tolerance.isExact() && std::isfinite(found.abs) &&
        (found.abs <= tolerance.atol + tolerance.rtol * magnitude || found.ulp <= tolerance.ulp);
    if (!isClose) {
      result.firstBad = result.mismatchCount == 0 ? i : result.firstBad;
      ++result.mismatchCount;
    }
  }
  result.meanAbs = result.elementCount > 0 ? sum / static_cast<double>(result.elementCount) : 0;
  return result;
}

} // namespace tracert
