#include "TensorCompare.h"

#include "tracert/scalar/Dtypes.h"

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

/// Floats as integers in order: neighbours differ by one, -0.0 lies just below +0.0.
template <class Bits> int64_t ordered(Bits bits) {
  using Signed = std::make_signed_t<Bits>;
  auto value = static_cast<Signed>(bits);
  constexpr auto mask = static_cast<Signed>(~Bits(0) >> 1);
  return value < 0 ? ~static_cast<int64_t>(value & mask) : static_cast<int64_t>(value);
}

template <class Bits>
ElementDistance floatDistance(Bits expected, Bits actual, double expectedValue,
                              double actualValue) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  bool expectedNaN = std::isnan(expectedValue);
  bool actualNaN = std::isnan(actualValue);
  if (expected == actual || (expectedNaN && actualNaN)) {
    return {true, 0, 0};
  }
  if (expectedNaN || actualNaN) {
    return {false, infinity, UINT64_MAX};
  }
  auto a = static_cast<uint64_t>(ordered(expected));
  auto b = static_cast<uint64_t>(ordered(actual));
  uint64_t ulp = ordered(expected) > ordered(actual) ? a - b : b - a;
  return {false, std::abs(actualValue - expectedValue), ulp};
}

template <class T> T load(const char *data) {
  T value;
  std::memcpy(&value, data, sizeof value);
  return value;
}

template <class T> ElementDistance integerDistance(const char *expected, const char *actual) {
  T e = load<T>(expected);
  T a = load<T>(actual);
  uint64_t distance = e > a ? static_cast<uint64_t>(e) - static_cast<uint64_t>(a)
                            : static_cast<uint64_t>(a) - static_cast<uint64_t>(e);
  return {e == a, static_cast<double>(distance), distance};
}

ElementDistance distance(DType dtype, const char *expected, const char *actual, double &magnitude) {
  switch (dtype) {
  case DType::Float64: {
    auto e = load<double>(expected);
    magnitude = std::abs(e);
    return floatDistance(load<uint64_t>(expected), load<uint64_t>(actual), e, load<double>(actual));
  }
  case DType::Float32: {
    auto e = load<float>(expected);
    magnitude = std::abs(static_cast<double>(e));
    return floatDistance(load<uint32_t>(expected), load<uint32_t>(actual), static_cast<double>(e),
                         static_cast<double>(load<float>(actual)));
  }
  case DType::Float16: {
    auto e = static_cast<double>(scalar::widenHalf(load<uint16_t>(expected)));
    auto a = static_cast<double>(scalar::widenHalf(load<uint16_t>(actual)));
    magnitude = std::abs(e);
    return floatDistance(load<uint16_t>(expected), load<uint16_t>(actual), e, a);
  }
  case DType::Int64:
    magnitude = std::abs(static_cast<double>(load<int64_t>(expected)));
    return integerDistance<int64_t>(expected, actual);
  case DType::Int32:
    magnitude = std::abs(static_cast<double>(load<int32_t>(expected)));
    return integerDistance<int32_t>(expected, actual);
  case DType::Bool:
  case DType::UInt8:
    magnitude = load<uint8_t>(expected);
    return integerDistance<uint8_t>(expected, actual);
  }
  return {false, 0, 0};
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
