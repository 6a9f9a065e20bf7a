#include "tracec/Functional.h"

#include "Eager/ScalarConversion.h"

#include <cmath>

namespace tracec {

using tracert::AttrValue;
using tracert::OpKind;
using tracert::Scalar;

namespace {

/// Any int of a Python scalar that is known exactly, and sums and distances of two.
using Wide = __int128;

bool isExactInt(const PythonScalar &scalar) {
  return scalar.kind != PythonScalar::Kind::Float && (!scalar.isBigInt || scalar.isUInt64());
}

Wide wide(const PythonScalar &scalar) {
  return scalar.isBigInt ? Wide(static_cast<uint64_t>(scalar.intValue)) : Wide(scalar.intValue);
}

double asDouble(const PythonScalar &scalar) {
  return isExactInt(scalar) ? static_cast<double>(wide(scalar)) : scalar.floatValue;
}

PythonScalar integerScalar(Wide value) {
  PythonScalar scalar;
  scalar.isBigInt = value < INT64_MIN || value > INT64_MAX;
  bool isKept = value >= INT64_MIN && value <= Wide(UINT64_MAX);
  scalar.intValue = isKept ? static_cast<int64_t>(value) : 0;
  scalar.floatValue = scalar.isBigInt ? static_cast<double>(value) : 0;
  return scalar;
}

/// ceil((stop - start) / step), at least 0; exact for ints.
Result<int64_t> arangeCount(const PythonScalar &start, const PythonScalar &stop,
                            const PythonScalar &step) {
  if (isExactInt(start) && isExactInt(stop) && isExactInt(step)) {
    Wide width = wide(step);
    if (width == 0) {
      return Status::invalidArgument("'arange' step must not be 0");
    }
    Wide distance = wide(stop) - wide(start);
    if ((distance > 0) != (width > 0) || distance == 0) {
      return 0;
    }
    Wide count = (distance + width + (width > 0 ? -1 : 1)) / width;
    if (count > INT64_MAX / 8) {
      return Status::invalidArgument("'arange' would have too many elements");
    }
    return static_cast<int64_t>(count);
  }
  double width = asDouble(step);
  double distance = asDouble(stop) - asDouble(start);
  double quotient = distance / width;
  // As in NumPy: a quotient that underflows leaves one element on the way to `stop`.
  double count =
      quotient == 0 && distance != 0 && !std::signbit(quotient) ? 1 : std::ceil(quotient);
  if (width == 0 || std::isnan(count)) {
    return Status::invalidArgument("'arange' step must not be 0 and no argument may be NaN");
  }
  if (count > 0x1p60) {
    return Status::invalidArgument("'arange' would have too many elements");
  }
  return count > 0 ? static_cast<int64_t>(count) : 0;
}

struct IntProgression {
  int64_t first = 0;
  int64_t step = 0;
};

/// An int, or a float towards zero.
Result<Wide> truncated(const PythonScalar &scalar, DType dtype) {
  if (isExactInt(scalar)) {
    return wide(scalar);
  }
  double value = std::trunc(scalar.floatValue);
  if (std::isnan(value)) {
    return Status::invalidArgument("cannot convert float NaN to " + std::string(dtypeName(dtype)));
  }
  if (!(value >= -0x1p63 && value < 0x1p64)) {
    return Status::overflow("cannot convert float " + floatText(scalar.floatValue) + " to " +
                            std::string(dtypeName(dtype)));
  }
  return static_cast<Wide>(value);
}

Result<Wide> truncatedSum(const PythonScalar &a, const PythonScalar &b, DType dtype) {
  if (isExactInt(a) && isExactInt(b)) {
    return wide(a) + wide(b);
  }
  PythonScalar sum;
  sum.kind = PythonScalar::Kind::Float;
  sum.floatValue = asDouble(a) + asDouble(b);
  return truncated(sum, dtype);
}

/// As in NumPy, the first two elements are truncated, and their distance is the step. All elements
/// must fit `dtype`.
Result<IntProgression> intProgression(const PythonScalar &start, const PythonScalar &step,
                                      int64_t count, DType dtype) {
  if (count == 0) {
    return IntProgression();
  }
  TRACERT_ASSIGN(Wide first, truncated(start, dtype));
  Wide distance = 0;
  if (count > 1) {
    TRACERT_ASSIGN(Wide second, truncatedSum(start, step, dtype));
    distance = second - first;
  }
  for (Wide element : {first, first + distance * (count - 1)}) {
    PythonScalar value = integerScalar(element);
    if (!fitsDType(value, dtype)) {
      bool isWide = value.isBigInt && !value.isUInt64();
      return Status::overflow(
          "'arange' reaches " + (isWide ? "beyond 64 bits" : integerText(value)) + ", which " +
          std::string(dtypeName(dtype)) + " cannot hold" +
          (dtypeSize(dtype) == 8 ? "" : "; pass dtype=tc.int64 for larger integers"));
    }
  }
  return IntProgression{static_cast<int64_t>(first), static_cast<int64_t>(distance)};
}

} // namespace

Result<Value> full(const ShapeArgs &shape, const PythonScalar &value, DType dtype) {
  TRACERT_ASSIGN(Scalar constant, convertScalar(value, dtype));
  OpCall call{OpKind::full, {AttrValue::ints(shape.shape), AttrValue::scalar(constant)}};
  TRACERT_ASSIGN(Values results, dispatch(call, shape.extras));
  return std::move(results.front());
}

Result<Value> arange(const PythonScalar &start, const PythonScalar &stop, const PythonScalar &step,
                     std::optional<DType> dtype) {
  bool anyFloat = start.kind == PythonScalar::Kind::Float ||
                  stop.kind == PythonScalar::Kind::Float || step.kind == PythonScalar::Kind::Float;
  DType result = dtype.value_or(anyFloat ? DType::Float32 : DType::Int32);
  if (isBool(result)) {
    return Status::invalidType("'arange' expects a numeric dtype, got bool");
  }
  // Beyond 64 bits a number is known approximately only, and so would be the count.
  auto isTooBig = [&](const PythonScalar &scalar) {
    return scalar.isBigInt && !(result == DType::UInt64 && scalar.isUInt64());
  };
  if (isInteger(result) && (isTooBig(start) || isTooBig(stop) || isTooBig(step))) {
    return Status::overflow("'arange' takes ints of at most 64 bits for " +
                            std::string(dtypeName(result)));
  }
  TRACERT_ASSIGN(int64_t count, arangeCount(start, stop, step));
  Scalar first;
  Scalar distance;
  if (isInteger(result)) {
    TRACERT_ASSIGN(IntProgression whole, intProgression(start, step, count, result));
    first = wrapped(whole.first, result);
    distance = wrapped(whole.step, result);
  } else {
    TRACERT_ASSIGN(first, convertScalar(start, result));
    // 0 times an infinite step would be NaN.
    TRACERT_ASSIGN(distance, convertScalar(count > 1 ? step : PythonScalar(), result));
  }
  OpCall call{OpKind::arange,
              {AttrValue::ints({count}), AttrValue::scalar(first), AttrValue::scalar(distance)}};
  TRACERT_ASSIGN(Values results, dispatch(call, {}));
  return std::move(results.front());
}

} // namespace tracec
