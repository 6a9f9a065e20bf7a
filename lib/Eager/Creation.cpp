#include "tracec/Functional.h"

#include "Eager/ScalarConversion.h"

#include <cmath>

namespace tracec {

using tracert::AttrValue;
using tracert::OpKind;
using tracert::Scalar;

namespace {

double asDouble(const PythonScalar &scalar) {
  bool isExactInt = scalar.kind != PythonScalar::Kind::Float && !scalar.isBigInt;
  return isExactInt ? static_cast<double>(scalar.intValue) : scalar.floatValue;
}

bool isExactInt(const PythonScalar &scalar) {
  return scalar.kind != PythonScalar::Kind::Float && !scalar.isBigInt;
}

/// ceil((stop - start) / step), at least 0; exact for ints.
Result<int64_t> arangeCount(const PythonScalar &start, const PythonScalar &stop,
                            const PythonScalar &step) {
  if (isExactInt(start) && isExactInt(stop) && isExactInt(step)) {
    if (step.intValue == 0) {
      return Status::invalidArgument("'arange' step must not be 0");
    }
    __int128 distance = static_cast<__int128>(stop.intValue) - start.intValue;
    __int128 width = step.intValue;
    if ((distance > 0) != (width > 0) || distance == 0) {
      return 0;
    }
    __int128 count = (distance + width + (width > 0 ? -1 : 1)) / width;
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

PythonScalar sum(const PythonScalar &a, const PythonScalar &b) {
  PythonScalar result;
  if (!isExactInt(a) || !isExactInt(b) ||
      __builtin_add_overflow(a.intValue, b.intValue, &result.intValue)) {
    result.kind = PythonScalar::Kind::Float;
    result.floatValue = asDouble(a) + asDouble(b);
  }
  return result;
}

/// Integers wrap, so a step may lie outside the dtype of the elements.
Scalar wrapped(int64_t value, DType dtype) {
  switch (dtype) {
  case DType::UInt8:
    return Scalar::of(dtype, static_cast<uint8_t>(value));
  case DType::Int32:
    return Scalar::of(dtype, static_cast<int32_t>(value));
  default:
    return Scalar::of(dtype, value);
  }
}

struct IntProgression {
  int64_t first = 0;
  int64_t step = 0;
};

Result<int64_t> asInt64(const PythonScalar &scalar) {
  TRACERT_ASSIGN(Scalar wide, convertScalar(scalar, DType::Int64));
  return static_cast<int64_t>(wide.bits);
}

/// As in NumPy, the first two elements are truncated, and their distance is the step. All elements
/// must fit `dtype`.
Result<IntProgression> intProgression(const PythonScalar &start, const PythonScalar &step,
                                      int64_t count, DType dtype) {
  IntProgression result;
  if (count == 0) {
    return result;
  }
  TRACERT_ASSIGN(result.first, asInt64(start));
  __int128 last = result.first;
  if (count > 1) {
    TRACERT_ASSIGN(int64_t second, asInt64(sum(start, step)));
    __int128 distance = static_cast<__int128>(second) - result.first;
    last += distance * (count - 1);
    result.step = static_cast<int64_t>(distance);
  }
  for (__int128 element : {static_cast<__int128>(result.first), last}) {
    bool isWide = element < INT64_MIN || element > INT64_MAX;
    PythonScalar value{PythonScalar::Kind::Int, static_cast<int64_t>(element), 0, isWide};
    if (!fitsDType(value, dtype)) {
      return Status::overflow(
          "'arange' reaches " + (isWide ? "beyond 64 bits" : std::to_string(value.intValue)) +
          ", which " + std::string(dtypeName(dtype)) + " cannot hold" +
          (dtype == DType::Int64 ? "" : "; pass dtype=tc.int64 for larger integers"));
    }
  }
  return result;
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
  if (isInteger(result) && (start.isBigInt || stop.isBigInt || step.isBigInt)) {
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
