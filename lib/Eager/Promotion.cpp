#include "tracec/Functional.h"

#include "Eager/Evaluate.h"
#include "Eager/ScalarConversion.h"

#include <charconv>
#include <cmath>
#include <limits>

namespace tracec {

using tracert::AttrValue;
using tracert::OpKind;
using tracert::Scalar;

namespace {

int categoryOf(DType dtype) { return isBool(dtype) ? 1 : isInteger(dtype) ? 2 : 3; }
int categoryOf(const PythonScalar &scalar) { return static_cast<int>(scalar.kind) + 1; }

/// NumPy's promotion inside one category, for the dtypes of this build.
DType promoteSameCategory(DType a, DType b) {
  if (a == b) {
    return a;
  }
  if (isFloat(a)) {
    return dtypeSize(a) > dtypeSize(b) ? a : b;
  }
  // bool equals bool above; uint8 fits int32 and int64.
  return dtypeSize(a) > dtypeSize(b) ? a : b;
}

} // namespace

std::string floatText(double value) {
  char text[32];
  std::to_chars_result end = std::to_chars(text, text + sizeof text, value);
  return {text, end.ptr};
}

std::string integerText(const PythonScalar &scalar) {
  return scalar.isBigInt ? floatText(scalar.floatValue) : std::to_string(scalar.intValue);
}

bool fitsDType(const PythonScalar &scalar, DType dtype) {
  if (scalar.kind == PythonScalar::Kind::Float || !isInteger(dtype)) {
    return true;
  }
  return !scalar.isBigInt && tracert::integerFits(scalar.intValue, dtype);
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
    return *result == DType::Int64 ? DType::Float64 : DType::Float32;
  }
  return DType::Int32;
}

Result<Scalar> convertScalar(const PythonScalar &scalar, DType dtype) {
  bool isFloatKind = scalar.kind == PythonScalar::Kind::Float;
  double asDouble =
      isFloatKind || scalar.isBigInt ? scalar.floatValue : static_cast<double>(scalar.intValue);
  switch (dtype) {
  case DType::Bool:
    return Scalar::of(dtype, static_cast<uint8_t>(asDouble != 0));
  case DType::Float64:
    return Scalar::of(dtype, asDouble);
  case DType::Float32:
    if (!isFloatKind && !scalar.isBigInt) {
      return Scalar::of(dtype, static_cast<float>(scalar.intValue));
    }
    return Scalar::of(dtype, static_cast<float>(asDouble));
  case DType::Float16: {
    // The cast kernel holds the rule for rounding to float16.
    uint64_t bits = 0;
    TensorView from = TensorView::contiguous(&asDouble, {DType::Float64, {}});
    TensorView to = TensorView::contiguous(&bits, {DType::Float16, {}});
    TRACERT_TRY(runKernel(kernelContext(), {OpKind::cast, {AttrValue::dtype(dtype)}}, {&from, 1},
                          {&to, 1}));
    return Scalar{dtype, bits & 0xffff};
  }
  default:
    break;
  }
  int64_t integer = scalar.intValue;
  if (isFloatKind) {
    if (std::isnan(asDouble)) {
      return Status::invalidArgument("cannot convert float NaN to " +
                                     std::string(dtypeName(dtype)));
    }
    double truncated = std::trunc(asDouble);
    if (!(truncated >= -0x1p63 && truncated < 0x1p63)) {
      return Status::overflow("cannot convert float " + floatText(asDouble) + " to " +
                              std::string(dtypeName(dtype)));
    }
    integer = static_cast<int64_t>(truncated);
  }
  PythonScalar whole{PythonScalar::Kind::Int, integer, asDouble, scalar.isBigInt};
  if (!fitsDType(whole, dtype)) {
    return tracert::integerDoesNotFit(integerText(whole), dtype);
  }
  switch (dtype) {
  case DType::UInt8:
    return Scalar::of(dtype, static_cast<uint8_t>(integer));
  case DType::Int32:
    return Scalar::of(dtype, static_cast<int32_t>(integer));
  default:
    return Scalar::of(dtype, integer);
  }
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
  return !(to == DType::UInt8 && from != DType::UInt8);
}

} // namespace tracec
