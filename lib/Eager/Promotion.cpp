#include "tracec/Functional.h"

#include "Eager/Evaluate.h"
#include "Eager/ScalarConversion.h"
#include "tracert/Element.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

namespace tracec {

using tracert::AttrValue;
using tracert::OpKind;
using tracert::Scalar;

namespace {

int categoryOf(DType dtype) { return isBool(dtype) ? 1 : tracert::isInteger(dtype) ? 2 : 3; }
int categoryOf(const PythonScalar &scalar) { return static_cast<int>(scalar.kind) + 1; }

/// NumPy's promotion inside one category, for the dtypes of this build.
DType promoteSameCategory(DType a, DType b) {
  if (a == b) {
    return a;
  }
  if (tracert::dtypeCategory(a) == tracert::dtypeCategory(b)) {
    // Of float16 and bfloat16 neither holds the other.
    bool isEven = dtypeSize(a) == dtypeSize(b);
    return isEven ? tracert::accumulateDType(a) : dtypeSize(a) > dtypeSize(b) ? a : b;
  }
  // The signed integer that holds both; for uint64 there is none.
  DType signedOne = tracert::isSigned(a) ? a : b;
  DType unsignedOne = tracert::isSigned(a) ? b : a;
  size_t bytes = std::max(dtypeSize(signedOne), 2 * dtypeSize(unsignedOne));
  return tracert::dtypeOf(tracert::DTypeCategory::Signed, bytes).value_or(DType::Float64);
}

} // namespace

std::string floatText(double value) {
  char text[32];
  std::to_chars_result end = std::to_chars(text, text + sizeof text, value);
  return {text, end.ptr};
}

std::string integerText(const PythonScalar &scalar) {
  if (scalar.isUInt64()) {
    return std::to_string(static_cast<uint64_t>(scalar.intValue));
  }
  return scalar.isBigInt ? floatText(scalar.floatValue) : std::to_string(scalar.intValue);
}

Scalar wrapped(int64_t value, DType dtype) {
  uint64_t above = dtypeSize(dtype) == 8 ? 0 : ~uint64_t(0) << (8 * dtypeSize(dtype));
  return {dtype, static_cast<uint64_t>(value) & ~above};
}

bool fitsDType(const PythonScalar &scalar, DType dtype) {
  if (scalar.kind == PythonScalar::Kind::Float || !isInteger(dtype)) {
    return true;
  }
  return scalar.isBigInt ? dtype == DType::UInt64 && scalar.isUInt64()
                         : tracert::integerFits(scalar.intValue, dtype);
}

Result<DType> promote(std::span<const Operand> operands) {
  if (operands.empty()) {
    return Status::invalidType("dtype promotion needs at least one operand");
  }
  int topTensor = 0;
  int topScalar = 0;
  for (const Operand &operand : operands) {
    if (operand.isScalar) {
      topScalar = std::max(topScalar, categoryOf(operand.scalar));
    } else {
      topTensor = std::max(topTensor, categoryOf(operand.value->dtype()));
    }
  }
  if (topTensor == 0) {
    return Status::invalidArgument("no operand has a dtype; make one of them a tensor");
  }
  std::optional<DType> result;
  for (const Operand &operand : operands) {
    if (!operand.isScalar && categoryOf(operand.value->dtype()) == topTensor) {
      DType dtype = operand.value->dtype();
      result = result ? promoteSameCategory(*result, dtype) : dtype;
    }
  }
  if (topScalar <= topTensor) {
    return *result;
  }
  if (topScalar == 3) {
    return quotientDType(*result);
  }
  return DType::Int32;
}

Result<Scalar> convertScalar(const PythonScalar &scalar, DType dtype) {
  bool isFloatKind = scalar.kind == PythonScalar::Kind::Float;
  double asDouble =
      isFloatKind || scalar.isBigInt ? scalar.floatValue : static_cast<double>(scalar.intValue);
  if (isBool(dtype)) {
    return Scalar::of(dtype, static_cast<uint8_t>(asDouble != 0));
  }
  if (isFloat(dtype)) {
    bool isExact = !isFloatKind && (!scalar.isBigInt || scalar.isUInt64());
    return Scalar{dtype, isExact
                             ? tracert::floatBitsOfInteger(scalar.intValue, scalar.isBigInt, dtype)
                             : tracert::floatBits(asDouble, dtype)};
  }
  PythonScalar whole = scalar;
  if (isFloatKind) {
    if (std::isnan(asDouble)) {
      return Status::invalidArgument("cannot convert float NaN to " +
                                     std::string(dtypeName(dtype)));
    }
    double truncated = std::trunc(asDouble);
    if (!(truncated >= -0x1p63 && truncated < 0x1p64)) {
      return Status::overflow("cannot convert float " + floatText(asDouble) + " to " +
                              std::string(dtypeName(dtype)));
    }
    whole.kind = PythonScalar::Kind::Int;
    whole.isBigInt = truncated >= 0x1p63;
    whole.intValue = whole.isBigInt ? static_cast<int64_t>(static_cast<uint64_t>(truncated))
                                    : static_cast<int64_t>(truncated);
  }
  if (!fitsDType(whole, dtype)) {
    return tracert::integerDoesNotFit(integerText(whole), dtype);
  }
  return wrapped(whole.intValue, dtype);
}

Result<Value> scalarValue(const PythonScalar &scalar, DType dtype) {
  TRACERT_ASSIGN(Scalar constant, convertScalar(scalar, dtype));
  TRACERT_ASSIGN(Value value, allocateValue({dtype, {}}));
  std::memcpy(value->view().data, &constant.bits, dtypeSize(dtype));
  if (hasTransforms()) [[unlikely]] {
    return stack().onScalar(scalar, std::move(value));
  }
  return value;
}

Result<Value> setItemScalar(const PythonScalar &scalar, DType dtype) {
  return scalarValue(scalar, dtype);
}

Result<Value> castTo(Value value, DType dtype) {
  if (value->dtype() == dtype) {
    return value;
  }
  TRACERT_ASSIGN(Values results, dispatch({OpKind::cast, {AttrValue::dtype(dtype)}}, {&value, 1}));
  return std::move(results.front());
}

Result<Value> sizeAs(Value size, DType dtype) {
  if (tracert::isInteger(dtype) && dtype != size->dtype()) {
    TRACERT_TRY(stack().expectFits(size, dtype));
  }
  return castTo(std::move(size), dtype);
}

bool isSameKindCast(DType from, DType to) {
  if (from == to) {
    return true;
  }
  if (categoryOf(from) != categoryOf(to)) {
    return categoryOf(from) < categoryOf(to);
  }
  // Signed to unsigned changes kind.
  return !(isUnsigned(to) && isSigned(from));
}

} // namespace tracec
