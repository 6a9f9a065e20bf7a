// Operators of tensors: arithmetic, in-place arithmetic, comparison, conversion to Python numbers.

#include "FromPython.h"
#include "TensorObject.h"
#include "ToPython.h"

namespace tracec::python {

using tracert::OpKind;

namespace {

/// A binary operator of Python: its slot, and how it is written.
struct Operator {
  binaryfunc PyNumberMethods::*slot;
  const char *text;
};

/// What a foreign type's own operator makes of it; null without an exception when it has none or
/// declines. Python asks the left operand first, so only a right one may still want to answer.
PyObject *askRightOperand(PyObject *left, PyObject *right, binaryfunc PyNumberMethods::*slot) {
  PyNumberMethods *methods = isTensor(left) ? Py_TYPE(right)->tp_as_number : nullptr;
  binaryfunc theirs = methods ? methods->*slot : nullptr;
  PyObject *result = theirs && !isTensor(right) ? theirs(left, right) : nullptr;
  if (result == Py_NotImplemented) {
    Py_CLEAR(result);
  }
  return result;
}

/// One operand is no data: its own operator answers, or it is an error.
PyObject *withForeign(PyObject *left, PyObject *right, Operator by) {
  PyObject *result = askRightOperand(left, right, by.slot);
  if (result || PyErr_Occurred()) {
    return result;
  }
  PyObject *other = isTensor(left) ? right : left;
  PySequenceMethods *sequence = Py_TYPE(other)->tp_as_sequence;
  if (by.slot == &PyNumberMethods::nb_multiply && sequence && sequence->sq_repeat) {
    Py_RETURN_NOTIMPLEMENTED; // "ab" * tensor(3) repeats, as with any int
  }
  const char *advice = PyComplex_Check(other)
                           ? "write real and imaginary parts as tensors of their "
                             "own: there are no complex tensors yet"
                           : "convert it to a number, an array or a tensor first";
  return raiseAdvice(PyExc_TypeError, advice,
                     "operator %s expects tensors, arrays or numbers, got %s", by.text,
                     Py_TYPE(other)->tp_name);
}

PyObject *applyBinary(OpKind kind, PyObject *left, PyObject *right, Operator by) {
  PyObject *objects[] = {left, right};
  Operand operands[2];
  Reading reading = tryOperands(objects, 2, operands);
  if (reading != Reading::Ok) [[unlikely]] {
    return reading == Reading::Error ? nullptr : withForeign(left, right, by);
  }
  return wrapResult(pointwise(kind, operands));
}

constexpr Operator kAdd{&PyNumberMethods::nb_add, "+"};
constexpr Operator kSub{&PyNumberMethods::nb_subtract, "-"};
constexpr Operator kMul{&PyNumberMethods::nb_multiply, "*"};
constexpr Operator kDiv{&PyNumberMethods::nb_true_divide, "/"};
constexpr Operator kMatmul{&PyNumberMethods::nb_matrix_multiply, "@"};
constexpr Operator kAnd{&PyNumberMethods::nb_and, "&"};
constexpr Operator kOr{&PyNumberMethods::nb_or, "|"};
constexpr Operator kXor{&PyNumberMethods::nb_xor, "^"};

template <OpKind kind, const Operator &by> PyObject *binary(PyObject *left, PyObject *right) {
  return applyBinary(kind, left, right, by);
}

PyObject *applyInPlace(OpKind kind, PyObject *self, const Operand &operand) {
  Status status = inPlace(kind, tensorOf(self), operand);
  return status.ok() ? Py_NewRef(self) : raise(status);
}

template <OpKind kind> PyObject *binaryInPlace(PyObject *self, PyObject *other) {
  Operand operand;
  Reading reading = tryOperands(&other, 1, &operand);
  if (reading != Reading::Ok) {
    // Python goes on with the operator that is not in place, which answers.
    return reading == Reading::Error ? nullptr : Py_NewRef(Py_NotImplemented);
  }
  return applyInPlace(kind, self, operand);
}

/// & | ^ are the logical ops of bools; there are none for the bits of integers yet.
bool checkBools(std::span<const Operand> operands, const char *text) {
  Result<DType> dtype = promote(operands);
  if (!dtype.ok()) {
    raise(dtype.status());
    return false;
  }
  if (tracert::isBool(*dtype)) {
    return true;
  }
  raiseAdvice(PyExc_TypeError,
              "for truth values use tc.logical_and, tc.logical_or and tc.logical_not, or compare "
              "first, e.g. (x != 0) & (y != 0)",
              "operator %s expects bool tensors, got %s", text, tracert::dtypeName(*dtype).data());
  return false;
}

template <OpKind kind, const Operator &by> PyObject *logical(PyObject *left, PyObject *right) {
  PyObject *objects[] = {left, right};
  Operand operands[2];
  Reading reading = tryOperands(objects, 2, operands);
  if (reading != Reading::Ok) {
    return reading == Reading::Error ? nullptr : withForeign(left, right, by);
  }
  return checkBools(operands, by.text) ? wrapResult(pointwise(kind, operands)) : nullptr;
}

template <OpKind kind, const Operator &by>
PyObject *logicalInPlace(PyObject *self, PyObject *other) {
  PyObject *objects[] = {self, other};
  Operand operands[2];
  Reading reading = tryOperands(objects, 2, operands);
  if (reading != Reading::Ok) {
    return reading == Reading::Error ? nullptr : Py_NewRef(Py_NotImplemented);
  }
  if (!checkBools(operands, by.text)) {
    return nullptr;
  }
  operands[0].value = Value(); // or the write could not be in place
  return applyInPlace(kind, self, operands[1]);
}

PyObject *invert(PyObject *self) {
  Result<Value> value = tensorOf(self).read();
  if (!value.ok()) {
    return raise(value.status());
  }
  Operand operand = Operand::of(std::move(*value));
  return checkBools({&operand, 1}, "~") ? wrapResult(pointwise(OpKind::logical_not, {&operand, 1}))
                                        : nullptr;
}

/// Operators that Python has and this version has not.
PyObject *failMissing(const char *text, const char *advice) {
  return raiseAdvice(PyExc_TypeError, advice, "tensors have no operator %s yet", text);
}

constexpr Operator kFloorDivide{&PyNumberMethods::nb_floor_divide, "//"};
constexpr Operator kRemainder{&PyNumberMethods::nb_remainder, "%"};
constexpr Operator kDivmod{&PyNumberMethods::nb_divmod, "divmod()"};
constexpr Operator kLeftShift{&PyNumberMethods::nb_lshift, "<<"};
constexpr Operator kRightShift{&PyNumberMethods::nb_rshift, ">>"};

template <const Operator &by> PyObject *missing(PyObject *left, PyObject *right) {
  PyObject *result = askRightOperand(left, right, by.slot);
  if (result || PyErr_Occurred()) {
    return result;
  }
  return failMissing(by.text, "use NumPy on x.numpy() outside of traced functions");
}

PyObject *power(PyObject *, PyObject *, PyObject *) {
  return failMissing("**", "use tc.square(x), tc.sqrt(x) or products");
}

PyObject *absolute(PyObject *) { return failMissing("abs()", "use tc.maximum(x, -x)"); }

PyObject *matrixProduct(PyObject *left, PyObject *right) {
  PyObject *objects[] = {left, right};
  Operand operands[2];
  Reading reading = tryOperands(objects, 2, operands);
  if (reading != Reading::Ok) {
    return reading == Reading::Error ? nullptr : withForeign(left, right, kMatmul);
  }
  return wrapResult(matmul(operands[0], operands[1]));
}

PyObject *negative(PyObject *self) {
  Result<Value> value = tensorOf(self).read();
  if (!value.ok()) {
    return raise(value.status());
  }
  DType dtype = (*value)->dtype();
  if (tracert::isBool(dtype)) {
    return raiseAdvice(PyExc_TypeError, "use tc.logical_not(x) or ~x",
                       "unary minus of a bool tensor");
  }
  PythonScalar scalar;
  if (tracert::isFloat(dtype)) {
    // Not 0 - x, which turns 0.0 into 0.0 instead of -0.0.
    scalar.kind = PythonScalar::Kind::Float;
    scalar.floatValue = -1;
    Operand operands[] = {Operand::of(std::move(*value)), Operand::of(scalar)};
    return wrapResult(pointwise(OpKind::mul, operands));
  }
  Operand operands[] = {Operand::of(scalar), Operand::of(std::move(*value))};
  return wrapResult(pointwise(OpKind::sub, operands));
}

PyObject *positive(PyObject *self) {
  Result<Value> value = tensorOf(self).read();
  return value.ok() ? wrapResult(ownValue(std::move(*value), self)) : raise(value.status());
}

int truth(PyObject *self) {
  PyObject *item = itemOf(self, "bool");
  if (!item) {
    return -1;
  }
  int result = PyObject_IsTrue(item);
  Py_DECREF(item);
  return result;
}

/// The element of a rank-0 tensor; TypeError for other ranks.
PyObject *scalarItem(PyObject *self, const char *target) {
  Result<TensorType> type = tensorOf(self).type();
  if (!type.ok()) {
    return raise(type.status());
  }
  if (type->rank() != 0) {
    return raiseAdvice(PyExc_TypeError,
                       "use x.item() for a tensor of one element, x.tolist() for others",
                       "only a tensor of rank 0 converts to %s, got shape %s", target,
                       tracert::shapeString(type->shape).c_str());
  }
  return itemOf(self, target);
}

PyObject *convert(PyObject *self, const char *target, PyObject *(*apply)(PyObject *)) {
  PyObject *item = scalarItem(self, target);
  PyObject *result = item ? apply(item) : nullptr;
  Py_XDECREF(item);
  return result;
}

PyObject *toInt(PyObject *self) { return convert(self, "int", PyNumber_Long); }
PyObject *toFloat(PyObject *self) { return convert(self, "float", PyNumber_Float); }

PyObject *toIndex(PyObject *self) {
  Result<TensorType> type = tensorOf(self).type();
  if (!type.ok()) {
    return raise(type.status());
  }
  if (!tracert::isInteger(type->dtype)) {
    return raiseAdvice(PyExc_TypeError, "convert it first, e.g. with int(x) or x.astype(tc.int64)",
                       "only an integer tensor of rank 0 is an index, got %s", type->str().c_str());
  }
  return scalarItem(self, "an index");
}

/// A bool for each element, whatever it is.
PyObject *sameAnswer(PyObject *self, bool value) {
  Result<Value> read = tensorOf(self).read();
  if (!read.ok()) {
    return raise(read.status());
  }
  // x != x is no way to say False for NaN, so the constant is broadcast.
  ShapeArgs shape;
  shape.shape = (*read)->shape();
  for (size_t axis = 0; axis < shape.shape.size(); ++axis) {
    Result<std::optional<int64_t>> fixed = stack().fixedSize(*read, axis);
    if (!fixed.ok()) {
      return raise(fixed.status());
    }
    if (!*fixed) {
      Result<Value> size = axisSize(*read, Dims{static_cast<int64_t>(axis)});
      if (!size.ok()) {
        return raise(size.status());
      }
      shape.shape[axis] = tracert::kFromOperand;
      shape.extras.push_back(std::move(*size));
    }
  }
  PythonScalar scalar;
  scalar.kind = PythonScalar::Kind::Bool;
  scalar.intValue = value;
  return wrapResult(full(shape, scalar, DType::Bool));
}

/// No real number equals a complex one off the real axis; on it, the real part decides.
PyObject *compareWithComplex(PyObject *self, PyObject *number, int op) {
  Py_complex value = PyComplex_AsCComplex(number);
  if (value.imag != 0) {
    return sameAnswer(self, op == Py_NE);
  }
  PyObject *real = PyFloat_FromDouble(value.real);
  PyObject *result = real ? compareTensors(self, real, op) : nullptr;
  Py_XDECREF(real);
  return result;
}

/// `other` is no data: its own comparison answers, or nothing equals it, elementwise. An order is
/// an error, and so is equality with what may be a number that we cannot read.
PyObject *compareWithForeign(PyObject *self, PyObject *other, int op) {
  bool isEquality = op == Py_EQ || op == Py_NE;
  if (isEquality && other == Py_None) {
    return sameAnswer(self, op == Py_NE);
  }
  if (isEquality && PyComplex_Check(other)) {
    return compareWithComplex(self, other, op);
  }
  static constexpr int kSwapped[] = {Py_GT, Py_GE, Py_EQ, Py_NE, Py_LT, Py_LE};
  if (richcmpfunc theirs = Py_TYPE(other)->tp_richcompare) {
    PyObject *result = theirs(other, self, kSwapped[op]);
    if (result != Py_NotImplemented) {
      return result;
    }
    Py_DECREF(result);
  }
  if (isEquality && !PyNumber_Check(other)) {
    return sameAnswer(self, op == Py_NE);
  }
  static constexpr const char *kTexts[] = {"<", "<=", "==", "!=", ">", ">="};
  return raiseAdvice(PyExc_TypeError, "compare with a number, an array or a tensor",
                     "operator %s expects tensors, arrays or numbers, got %s", kTexts[op],
                     Py_TYPE(other)->tp_name);
}

} // namespace

PyObject *compareTensors(PyObject *left, PyObject *right, int op) {
  static constexpr OpKind kKinds[] = {OpKind::lt, OpKind::le, OpKind::eq,
                                      OpKind::ne, OpKind::gt, OpKind::ge};
  static_assert(Py_LT == 0 && Py_LE == 1 && Py_EQ == 2 && Py_NE == 3 && Py_GT == 4 && Py_GE == 5);
  PyObject *objects[] = {left, right};
  Operand operands[2];
  Reading reading = tryOperands(objects, 2, operands);
  if (reading != Reading::Ok) [[unlikely]] {
    return reading == Reading::Error ? nullptr : compareWithForeign(left, right, op);
  }
  return wrapResult(pointwise(kKinds[op], operands));
}

PyNumberMethods tensorNumber = {
    .nb_add = binary<OpKind::add, kAdd>,
    .nb_subtract = binary<OpKind::sub, kSub>,
    .nb_multiply = binary<OpKind::mul, kMul>,
    .nb_remainder = missing<kRemainder>,
    .nb_divmod = missing<kDivmod>,
    .nb_power = power,
    .nb_negative = negative,
    .nb_positive = positive,
    .nb_absolute = absolute,
    .nb_bool = truth,
    .nb_invert = invert,
    .nb_lshift = missing<kLeftShift>,
    .nb_rshift = missing<kRightShift>,
    .nb_and = logical<OpKind::logical_and, kAnd>,
    .nb_xor = logical<OpKind::ne, kXor>,
    .nb_or = logical<OpKind::logical_or, kOr>,
    .nb_int = toInt,
    .nb_float = toFloat,
    .nb_inplace_add = binaryInPlace<OpKind::add>,
    .nb_inplace_subtract = binaryInPlace<OpKind::sub>,
    .nb_inplace_multiply = binaryInPlace<OpKind::mul>,
    .nb_inplace_and = logicalInPlace<OpKind::logical_and, kAnd>,
    .nb_inplace_xor = logicalInPlace<OpKind::ne, kXor>,
    .nb_inplace_or = logicalInPlace<OpKind::logical_or, kOr>,
    .nb_floor_divide = missing<kFloorDivide>,
    .nb_true_divide = binary<OpKind::div, kDiv>,
    .nb_inplace_true_divide = binaryInPlace<OpKind::div>,
    .nb_index = toIndex,
    .nb_matrix_multiply = matrixProduct,
};

} // namespace tracec::python
