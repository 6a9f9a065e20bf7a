// Operators of tensors: arithmetic, in-place arithmetic, comparison, conversion to Python numbers.

#include "FromPython.h"
#include "TensorObject.h"
#include "ToPython.h"

namespace tracec::python {

using tracert::OpKind;

namespace {

PyObject *applyBinary(OpKind kind, PyObject *left, PyObject *right) {
  PyObject *objects[] = {left, right};
  Operand operands[2];
  Reading reading = tryOperands(objects, 2, operands);
  if (reading != Reading::Ok) [[unlikely]] {
    return reading == Reading::Error ? nullptr : Py_NewRef(Py_NotImplemented);
  }
  return wrapResult(pointwise(kind, operands));
}

template <OpKind kind> PyObject *binary(PyObject *left, PyObject *right) {
  return applyBinary(kind, left, right);
}

template <OpKind kind> PyObject *binaryInPlace(PyObject *self, PyObject *other) {
  Operand operand;
  Reading reading = tryOperands(&other, 1, &operand);
  if (reading != Reading::Ok) {
    return reading == Reading::Error ? nullptr : Py_NewRef(Py_NotImplemented);
  }
  Status status = inPlace(kind, tensorOf(self), operand);
  return status.ok() ? Py_NewRef(self) : raise(status);
}

PyObject *matrixProduct(PyObject *left, PyObject *right) {
  PyObject *objects[] = {left, right};
  Operand operands[2];
  Reading reading = tryOperands(objects, 2, operands);
  if (reading != Reading::Ok) {
    return reading == Reading::Error ? nullptr : Py_NewRef(Py_NotImplemented);
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
    return raiseFormat(PyExc_TypeError, "unary minus of a bool tensor; use tc.logical_not");
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
    return raiseFormat(PyExc_TypeError, "only a tensor of rank 0 converts to %s, got shape %s",
                       target, tracert::shapeString(type->shape).c_str());
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
    return raiseFormat(PyExc_TypeError, "only an integer tensor of rank 0 is an index, got %s",
                       type->str().c_str());
  }
  return scalarItem(self, "an index");
}

PyObject *compareWithNone(PyObject *self, bool value) {
  Result<Value> read = tensorOf(self).read();
  if (!read.ok()) {
    return raise(read.status());
  }
  // x != x is no way to say False for NaN, so the constant is broadcast.
  ShapeArgs shape;
  shape.shape = (*read)->shape();
  for (size_t axis = 0; axis < shape.shape.size(); ++axis) {
    if (shape.shape[axis] == tracert::kUnknownDim) {
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

} // namespace

PyObject *compareTensors(PyObject *left, PyObject *right, int op) {
  if (right == Py_None && (op == Py_EQ || op == Py_NE)) {
    return compareWithNone(left, op == Py_NE);
  }
  static constexpr OpKind kKinds[] = {OpKind::lt, OpKind::le, OpKind::eq,
                                      OpKind::ne, OpKind::gt, OpKind::ge};
  static_assert(Py_LT == 0 && Py_LE == 1 && Py_EQ == 2 && Py_NE == 3 && Py_GT == 4 && Py_GE == 5);
  return applyBinary(kKinds[op], left, right);
}

PyNumberMethods tensorNumber = {
    .nb_add = binary<OpKind::add>,
    .nb_subtract = binary<OpKind::sub>,
    .nb_multiply = binary<OpKind::mul>,
    .nb_negative = negative,
    .nb_positive = positive,
    .nb_bool = truth,
    .nb_int = toInt,
    .nb_float = toFloat,
    .nb_inplace_add = binaryInPlace<OpKind::add>,
    .nb_inplace_subtract = binaryInPlace<OpKind::sub>,
    .nb_inplace_multiply = binaryInPlace<OpKind::mul>,
    .nb_true_divide = binary<OpKind::div>,
    .nb_inplace_true_divide = binaryInPlace<OpKind::div>,
    .nb_index = toIndex,
    .nb_matrix_multiply = matrixProduct,
};

} // namespace tracec::python
