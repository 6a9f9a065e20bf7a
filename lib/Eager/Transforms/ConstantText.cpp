#include "Eager/Transforms/ConstantText.h"

#include "Eager/Evaluate.h"
#include "Eager/ScalarConversion.h"
#include "tracert/Element.h"

#include <bit>
#include <cstring>

namespace tracec {

namespace {

std::string scalarText(ConstantTag tag, const PythonScalar &scalar) {
  switch (tag) {
  case ConstantTag::PythonBool:
    return scalar.intValue ? "True" : "False";
  case ConstantTag::PythonInt:
    return integerText(scalar) + " (int)";
  case ConstantTag::PythonFloat:
    return floatText(scalar.floatValue) + " (float)";
  case ConstantTag::Array:
    break;
  }
  return "an array";
}

/// The element in the digits of its value.
std::string elementText(DType dtype, const void *element) {
  if (tracert::isFloat(dtype)) {
    return floatText(tracert::floatAt(element, dtype));
  }
  if (tracert::isBool(dtype)) {
    return tracert::integerAt(element, dtype) ? "True" : "False";
  }
  return tracert::integerText(element, dtype);
}

/// Row-major position of the first element whose bytes differ; both are contiguous, of one type.
int64_t firstDifference(const TensorView &a, const TensorView &b) {
  size_t size = tracert::dtypeSize(a.dtype);
  auto *left = static_cast<const char *>(a.data);
  auto *right = static_cast<const char *>(b.data);
  int64_t position = 0;
  while (position < a.elementCount() &&
         std::memcmp(left + position * static_cast<int64_t>(size),
                     right + position * static_cast<int64_t>(size), size) == 0) {
    ++position;
  }
  return position;
}

std::string indexText(int64_t position, const Dims &shape) {
  std::string text;
  for (size_t axis = shape.size(); axis-- > 0;) {
    text = std::to_string(position % shape[axis]) + (text.empty() ? "" : ", ") + text;
    position /= shape[axis];
  }
  return "[" + text + "]";
}

std::string arrayDifference(const Value &then, const Value &now) {
  if (!(then->type() == now->type())) {
    return "was an array " + then->type().str() + " and is an array " + now->type().str();
  }
  int64_t position = firstDifference(then->view(), now->view());
  auto bytes = position * static_cast<int64_t>(tracert::dtypeSize(then->dtype()));
  auto element = [&](const Value &value) {
    return elementText(value->dtype(), static_cast<char *>(value->view().data) + bytes);
  };
  std::string place = then->shape().empty() ? "" : " at " + indexText(position, then->shape());
  return "was an array " + then->type().str() + " with " + element(then) + place + " and has " +
         element(now) + " there";
}

} // namespace

bool isSameConstant(const ConstantStep &then, const ConstantNow &now) {
  if (now.tag != then.tag) {
    return false;
  }
  if (now.tag == ConstantTag::Array) {
    return now.value->type() == then.value->type() &&
           firstDifference(now.value->view(), then.value->view()) ==
               now.value->view().elementCount();
  }
  const PythonScalar &a = then.scalar, &b = now.scalar;
  return a.kind == b.kind && a.intValue == b.intValue && a.isBigInt == b.isBigInt &&
         std::bit_cast<uint64_t>(a.floatValue) == std::bit_cast<uint64_t>(b.floatValue);
}

std::string constantDifference(const ConstantStep &then, const ConstantNow &now) {
  if (then.tag == ConstantTag::Array && now.tag == ConstantTag::Array) {
    return arrayDifference(then.value, now.value);
  }
  auto text = [](ConstantTag tag, const PythonScalar &scalar, const Value &value) {
    return tag == ConstantTag::Array ? "an array " + value->type().str() : scalarText(tag, scalar);
  };
  return "was " + text(then.tag, then.scalar, then.value) + " and is " +
         text(now.tag, now.scalar, now.value);
}

} // namespace tracec
