#include "Sizes.h"

#include "ToPython.h"
#include "tracec/Functional.h"

#include <memory>
#include <new>

namespace tracec::python {

using tracert::AttrValue;
using tracert::OpCall;
using tracert::OpKind;
using tracert::Scalar;

namespace {

struct SizeObject {
  PyObject_HEAD
      /// The tensor whose axis this is; empty for a computed size.
      Value source;
  int64_t axis;
  /// Recorded on first symbolic use.
  Value value;
};

PyTypeObject sizeType = {PyVarObject_HEAD_INIT(nullptr, 0)};

SizeObject *sizeOf(PyObject *self) { return reinterpret_cast<SizeObject *>(self); }

PyObject *makeSize(Value source, int64_t axis, Value value) {
  SizeObject *object = PyObject_New(SizeObject, &sizeType);
  if (!object) {
    return nullptr;
  }
  new (&object->source) Value(std::move(source));
  new (&object->value) Value(std::move(value));
  object->axis = axis;
  return reinterpret_cast<PyObject *>(object);
}

void deallocate(PyObject *self) {
  sizeOf(self)->source.~Value();
  sizeOf(self)->value.~Value();
  PyObject_Free(self);
}

/// New reference to the baked int, or to `object` itself when it is no Size.
PyObject *baked(PyObject *object) {
  if (!isSize(object)) {
    return Py_NewRef(object);
  }
  Result<int64_t> number = bakeSize(object);
  return number.ok() ? PyLong_FromLongLong(*number) : raise(number.status());
}

using BinaryFn = PyObject *(*)(PyObject *, PyObject *);

PyObject *onNumbers(PyObject *left, PyObject *right, BinaryFn apply) {
  PyObject *a = baked(left);
  PyObject *b = a ? baked(right) : nullptr;
  PyObject *result = b ? apply(a, b) : nullptr;
  Py_XDECREF(a);
  Py_XDECREF(b);
  return result;
}

Result<Value> valueOfTerm(PyObject *object) {
  if (isSize(object)) {
    return sizeValue(object);
  }
  PythonScalar scalar;
  scalar.intValue = PyLong_AsLongLong(object);
  if (scalar.intValue == -1 && PyErr_Occurred()) {
    return Status::overflow("an int outside 64 bits meets a size");
  }
  return scalarValue(scalar, DType::Int64);
}

template <OpKind kind, BinaryFn apply> PyObject *symbolic(PyObject *left, PyObject *right) {
  bool bothSizes = (isSize(left) || (PyLong_Check(left) && !PyBool_Check(left))) &&
                   (isSize(right) || (PyLong_Check(right) && !PyBool_Check(right)));
  if (!bothSizes) {
    // Tensors know what to do with a size; floats and others get the number.
    bool isNumber = (isSize(left) || PyFloat_CheckExact(left) || PyBool_Check(left)) &&
                    (isSize(right) || PyFloat_CheckExact(right) || PyBool_Check(right));
    if (!isNumber) {
      Py_RETURN_NOTIMPLEMENTED;
    }
    return onNumbers(left, right, apply);
  }
  Result<Value> a = valueOfTerm(left);
  if (!a.ok()) {
    return raise(a.status());
  }
  Result<Value> b = valueOfTerm(right);
  if (!b.ok()) {
    return raise(b.status());
  }
  Value operands[] = {*a, *b};
  Result<Values> results = dispatch(OpCall{kind, {}}, operands);
  if (!results.ok()) {
    return raise(results.status());
  }
  return makeSize({}, 0, std::move(results->front()));
}

template <BinaryFn apply> PyObject *numeric(PyObject *left, PyObject *right) {
  bool isNumber = (isSize(left) || PyLong_Check(left) || PyFloat_CheckExact(left)) &&
                  (isSize(right) || PyLong_Check(right) || PyFloat_CheckExact(right));
  if (!isNumber) {
    Py_RETURN_NOTIMPLEMENTED;
  }
  return onNumbers(left, right, apply);
}

/// How many positions d - 1, 2d - 1, ... lie below the size: the size of a strided view, so that
/// the quotient is exact and follows the size.
Result<Value> floorQuotient(PyObject *size, int64_t divisor) {
  Value counted = sizeOf(size)->source;
  int64_t axis = sizeOf(size)->axis;
  if (!counted) {
    axis = 0;
    AttrValue zero = AttrValue::scalar(Scalar::of<uint8_t>(DType::UInt8, 0));
    AttrValue shape = AttrValue::ints(Dims{tracert::kFromOperand});
    TRACERT_ASSIGN(Value extent, sizeValue(size));
    TRACERT_ASSIGN(Values line, dispatch(OpCall{OpKind::full, {shape, zero}}, {&extent, 1}));
    counted = std::move(line.front());
  }
  auto items = std::make_shared<tracert::IndexItems>();
  items->items.resize(counted->shape().size());
  tracert::IndexItem &item = items->items[static_cast<size_t>(axis)];
  item.hasBegin = true;
  item.begin = divisor - 1;
  item.step = divisor;
  TRACERT_ASSIGN(Value strided, getItem(counted, items, {}));
  return axisSize(strided, Dims{axis});
}

/// size // literal and size % literal stay symbolic; other operands give numbers.
template <bool wantsRemainder, BinaryFn apply> PyObject *divide(PyObject *left, PyObject *right) {
  int overflow = 0;
  int64_t divisor =
      isSize(left) && PyLong_CheckExact(right) ? PyLong_AsLongLongAndOverflow(right, &overflow) : 0;
  if (divisor <= 0 || overflow) {
    return numeric<apply>(left, right);
  }
  Result<Value> quotient = floorQuotient(left, divisor);
  if (!quotient.ok()) {
    return raise(quotient.status());
  }
  PyObject *result = makeSize({}, 0, std::move(*quotient));
  if (wantsRemainder && result) {
    Py_SETREF(result, PyNumber_Multiply(result, right));
    if (result) {
      Py_SETREF(result, PyNumber_Subtract(left, result));
    }
  }
  return result;
}

PyObject *powerOf(PyObject *left, PyObject *right, PyObject *modulus) {
  return modulus == Py_None
             ? numeric<[](PyObject *a, PyObject *b) { return PyNumber_Power(a, b, Py_None); }>(
                   left, right)
             : Py_NewRef(Py_NotImplemented);
}

template <PyObject *(*apply)(PyObject *)> PyObject *unary(PyObject *self) {
  PyObject *number = baked(self);
  PyObject *result = number ? apply(number) : nullptr;
  Py_XDECREF(number);
  return result;
}

PyObject *toInt(PyObject *self) { return baked(self); }

int truth(PyObject *self) {
  Result<int64_t> number = bakeSize(self);
  return number.ok() ? *number != 0 : raiseInt(number.status());
}

Py_hash_t hash(PyObject *self) {
  PyObject *number = baked(self);
  Py_hash_t result = number ? PyObject_Hash(number) : -1;
  Py_XDECREF(number);
  return result;
}

PyObject *compare(PyObject *left, PyObject *right, int op) {
  if (!isSize(right) && !PyLong_Check(right) && !PyFloat_Check(right)) {
    Py_RETURN_NOTIMPLEMENTED;
  }
  PyObject *a = baked(left);
  PyObject *b = a ? baked(right) : nullptr;
  PyObject *result = b ? PyObject_RichCompare(a, b, op) : nullptr;
  Py_XDECREF(a);
  Py_XDECREF(b);
  return result;
}

PyObject *format(PyObject *self, PyObject *spec) {
  PyObject *number = baked(self);
  PyObject *result = number ? PyObject_Format(number, spec) : nullptr;
  Py_XDECREF(number);
  return result;
}

PyNumberMethods numberMethods = {};
PyMethodDef methods[] = {{"__format__", format, METH_O, nullptr}, {}};

} // namespace

bool isComputedSize(PyObject *size) { return !sizeOf(size)->source; }

bool isSize(PyObject *object) { return Py_IS_TYPE(object, &sizeType); }

Result<Value> sizeValue(PyObject *size) {
  SizeObject *object = sizeOf(size);
  if (!object->value) {
    TRACERT_ASSIGN(object->value, axisSize(object->source, Dims{object->axis}));
  }
  return object->value;
}

Result<int64_t> bakeSize(PyObject *size) {
  TRACERT_ASSIGN(Value value, sizeValue(size));
  return hostInt(value);
}

Result<int64_t> hostSize(const Tensor &tensor, int64_t axis) {
  TRACERT_ASSIGN(Value value, tensor.read());
  TRACERT_ASSIGN(std::optional<int64_t> fixed, stack().fixedSize(value, static_cast<size_t>(axis)));
  if (fixed) {
    return *fixed;
  }
  TRACERT_ASSIGN(Value size, axisSize(value, Dims{axis}));
  return hostInt(size);
}

PyObject *wrapShape(const Tensor &tensor) {
  Result<Value> source = tensor.read();
  if (!source.ok()) {
    return raise(source.status());
  }
  size_t rank = (*source)->shape().size();
  PyObject *shape = PyTuple_New(static_cast<Py_ssize_t>(rank));
  for (size_t i = 0; shape && i < rank; ++i) {
    Result<std::optional<int64_t>> fixed = stack().fixedSize(*source, i);
    PyObject *item = !fixed.ok() ? raise(fixed.status())
                     : *fixed    ? PyLong_FromLongLong(**fixed)
                                 : makeSize(*source, static_cast<int64_t>(i), {});
    if (!item) {
      Py_CLEAR(shape);
      break;
    }
    PyTuple_SET_ITEM(shape, static_cast<Py_ssize_t>(i), item);
  }
  return shape;
}

bool addSizeType(PyObject *module) {
  numberMethods.nb_add = symbolic<OpKind::add, PyNumber_Add>;
  numberMethods.nb_subtract = symbolic<OpKind::sub, PyNumber_Subtract>;
  numberMethods.nb_multiply = symbolic<OpKind::mul, PyNumber_Multiply>;
  numberMethods.nb_true_divide = numeric<PyNumber_TrueDivide>;
  numberMethods.nb_floor_divide = divide<false, PyNumber_FloorDivide>;
  numberMethods.nb_remainder = divide<true, PyNumber_Remainder>;
  numberMethods.nb_divmod = numeric<PyNumber_Divmod>;
  numberMethods.nb_power = powerOf;
  numberMethods.nb_negative = unary<PyNumber_Negative>;
  numberMethods.nb_positive = toInt;
  numberMethods.nb_absolute = unary<PyNumber_Absolute>;
  numberMethods.nb_int = toInt;
  numberMethods.nb_index = toInt;
  numberMethods.nb_float = unary<PyNumber_Float>;
  numberMethods.nb_bool = truth;
  sizeType.tp_name = "tracec.Size";
  sizeType.tp_doc = "A size of a tensor inside a trace; +, - and * keep it symbolic.";
  sizeType.tp_basicsize = sizeof(SizeObject);
  sizeType.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION;
  sizeType.tp_dealloc = deallocate;
  sizeType.tp_as_number = &numberMethods;
  sizeType.tp_richcompare = compare;
  sizeType.tp_hash = hash;
  sizeType.tp_repr = unary<PyObject_Repr>;
  sizeType.tp_methods = methods;
  return PyType_Ready(&sizeType) == 0 &&
         PyModule_AddObjectRef(module, "Size", reinterpret_cast<PyObject *>(&sizeType)) == 0;
}

} // namespace tracec::python
