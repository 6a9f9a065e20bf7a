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
  double count = std::ceil((asDouble(stop) - asDouble(start)) / width);
  if (width == 0 || std::isnan(count)) {
    return Status::invalidArgument("'arange' step must not be 0 and no argument may be NaN");
  }
  if (count > 0x1p60) {
    return Status::invalidArgument("'arange' would have too many elements");
  }
  return count > 0 ? static_cast<int64_t>(count) : 0;
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
  TRACERT_ASSIGN(int64_t count, arangeCount(start, stop, step));
  TRACERT_ASSIGN(Scalar first, convertScalar(start, result));
  TRACERT_ASSIGN(Scalar distance, convertScalar(step, result));
  OpCall call{OpKind::arange,
              {AttrValue::ints({count}), AttrValue::scalar(first), AttrValue::scalar(distance)}};
  TRACERT_ASSIGN(Values results, dispatch(call, {}));
  return std::move(results.front());
}

} // namespace tracec
