// tensor, full, zeros, ones, arange: functions that make tensors.

#include "DTypes.h"
#include "FromPython.h"
#include "Operations.h"
#include "Sizes.h"
#include "TensorObject.h"
#include "Views.h"
#include "tracert/Element.h"
#include "tracert/Op.h"
#include "tracert/OpRules.h"

#include <cstring>

namespace tracec::python {

using tracert::AttrValue;
using tracert::kFromOperand;
using tracert::OpCall;
using tracert::OpKind;
using tracert::Scalar;

namespace {

using FastArgs = PyObject *const *;

bool checkDevice(PyObject *device) {
  if (!isGiven(device)) {
    return true;
  }
  for (const char *known : {"cpu", "cpu0", "xpu0"}) {
    if (PyUnicode_Check(device) && PyUnicode_CompareWithASCIIString(device, known) == 0) {
      return true;
    }
  }
  raiseFormat(PyExc_ValueError, "unknown device %R; this build has 'cpu0'", device);
  return false;
}

void nameValue(const Value &value, PyObject *name) {
  Py_ssize_t size;
  const char *text = PyUnicode_AsUTF8AndSize(name, &size);
  if (!text) {
    // Lone surrogates: a name for Python's eyes only.
    PyErr_Clear();
    return;
  }
  stack().onName(value, {text, static_cast<size_t>(size)});
}

PyObject *tensorFunction(PyObject *, FastArgs args, Py_ssize_t nargs, PyObject *kwnames) {
  static constexpr Parameters<6> kParameters{
      "tensor", {"data", "dtype", "device", "const", "copy", "name"}, 1, 3};
  PyObject *bound[6];
  std::optional<DType> dtype;
  bool isConst = false;
  bool copies = true;
  if (!kParameters.bind(args, nargs, kwnames, bound) || !readDType(bound[1], dtype) ||
      !checkDevice(bound[2]) || !readFlag(bound[3], isConst) || !readFlag(bound[4], copies)) {
    return nullptr;
  }
  if (isGiven(bound[5]) && !PyUnicode_Check(bound[5])) {
    return raiseAdvice(PyExc_TypeError, "pass a str", "a name must be a str or None, got %s",
                       Py_TYPE(bound[5])->tp_name);
  }
  Value value;
  if (copies || isTensor(bound[0])) {
    if (!readValue(bound[0], dtype, value)) {
      return nullptr;
    }
  } else if (!borrowArray(bound[0], value)) {
    return nullptr;
  } else if (dtype && *dtype != value->dtype()) {
    return raiseFormat(PyExc_ValueError, "copy=False, but dtype=%s needs a conversion of %s",
                       tracert::dtypeName(*dtype).data(),
                       tracert::dtypeName(value->dtype()).data());
  }
  Result<Value> own = ownValue(std::move(value), bound[0]);
  if (own.ok() && isGiven(bound[5])) {
    nameValue(*own, bound[5]);
  }
  PyObject *result = wrapResult(std::move(own));
  if (result) {
    tensorOf(result).cellRef()->isConst = isConst;
    reinterpret_cast<TensorObject *>(result)->name =
        isGiven(bound[5]) ? Py_NewRef(bound[5]) : nullptr;
  }
  return result;
}

PyObject *makeFull(PyObject *shape, PyObject *fill, std::optional<DType> dtype) {
  std::vector<SizeArg> sizes;
  if (!readShape(shape, sizes)) {
    return nullptr;
  }
  for (const SizeArg &size : sizes) {
    if (!size.value && size.literal < 0) {
      // As the op says it of a size that is known only later.
      return raiseFormat(PyExc_ValueError, "'%s' sizes must not be negative, got %lld",
                         isPythonScalar(fill) ? "full" : "broadcast_to",
                         static_cast<long long>(size.literal));
    }
  }
  if (isPythonScalar(fill)) {
    PythonScalar scalar = readScalar(fill);
    DType natural = scalar.kind == PythonScalar::Kind::Bool  ? DType::Bool
                    : scalar.kind == PythonScalar::Kind::Int ? DType::Int32
                                                             : DType::Float32;
    return wrapResult(full(makeShapeArgs(sizes), scalar, dtype.value_or(natural)));
  }
  Value value;
  if (!readValue(fill, dtype, value)) {
    return nullptr;
  }
  Result<Tensor> filled = broadcastTensor(Tensor::fromValue(std::move(value)), sizes);
  if (!filled.ok()) {
    return raise(filled.status());
  }
  Result<Value> repeated = filled->read();
  return repeated.ok() ? wrapResult(copyValue(std::move(*repeated))) : raise(repeated.status());
}

PyObject *fullFunction(PyObject *, FastArgs args, Py_ssize_t nargs, PyObject *kwnames) {
  static constexpr Parameters<3> kParameters{"full", {"shape", "fill_value", "dtype"}, 2};
  PyObject *bound[3];
  std::optional<DType> dtype;
  if (!kParameters.bind(args, nargs, kwnames, bound) || !readDType(bound[2], dtype)) {
    return nullptr;
  }
  return makeFull(bound[0], bound[1], dtype);
}

constexpr char kZeros[] = "zeros";
constexpr char kOnes[] = "ones";

template <const char *name, int64_t value>
PyObject *fillFunction(PyObject *, FastArgs args, Py_ssize_t nargs, PyObject *kwnames) {
  static constexpr Parameters<2> kParameters{name, {"shape", "dtype"}, 1};
  PyObject *bound[2];
  std::optional<DType> dtype;
  std::vector<SizeArg> sizes;
  if (!kParameters.bind(args, nargs, kwnames, bound) || !readDType(bound[1], dtype)) {
    return nullptr;
  }
  PyObject *fill = PyLong_FromLongLong(value);
  PyObject *result = fill ? makeFull(bound[0], fill, dtype.value_or(DType::Float32)) : nullptr;
  Py_XDECREF(fill);
  return result;
}

Result<Value> combineSizes(OpKind kind, const Value &size, int64_t number) {
  PythonScalar scalar;
  scalar.intValue = number;
  TRACERT_ASSIGN(Value term, scalarValue(scalar, DType::Int64));
  Value terms[] = {size, std::move(term)};
  TRACERT_ASSIGN(Values results, dispatch({kind, {}}, terms));
  return std::move(results.front());
}

/// The last element of arange(count) must fit, as an int would have to.
Status expectLastFits(const Value &count, DType dtype) {
  if (!tracert::isInteger(dtype) || dtype == DType::Int64) {
    return {};
  }
  TRACERT_ASSIGN(Value atLeastOne, combineSizes(OpKind::maximum, count, 1));
  TRACERT_ASSIGN(Value last, combineSizes(OpKind::sub, atLeastOne, 1));
  return stack().expectFits(last, dtype);
}

/// arange(size): the count stays symbolic.
PyObject *arangeOfSize(PyObject *size, DType dtype) {
  Result<Value> count = sizeValue(size);
  if (!count.ok()) {
    return raise(count.status());
  }
  auto scalarOf = [&](int64_t value) {
    bool isFloat = tracert::isFloat(dtype);
    return Scalar{dtype, isFloat ? tracert::floatBits(static_cast<double>(value), dtype)
                                 : static_cast<uint64_t>(value)};
  };
  OpCall call{OpKind::arange,
              {AttrValue::ints(Dims{kFromOperand}), AttrValue::scalar(scalarOf(0)),
               AttrValue::scalar(scalarOf(1))}};
  if (isComputedSize(size)) {
    // Of a negative number there is nothing to count, as with an int.
    count = combineSizes(OpKind::maximum, *count, 0);
    if (!count.ok()) {
      return raise(count.status());
    }
  }
  if (Status status = expectLastFits(*count, dtype); !status.ok()) {
    return raise(status);
  }
  Result<Values> results = dispatch(call, {&*count, 1});
  return results.ok() ? wrapValue(std::move(results->front())) : raise(results.status());
}

bool readArangeBound(PyObject *argument, const char *what, PythonScalar &scalar) {
  if (isSize(argument)) {
    Result<int64_t> number = bakeSize(argument);
    if (!number.ok()) {
      raise(number.status());
      return false;
    }
    scalar.intValue = *number;
    return true;
  }
  if (isPythonScalar(argument)) {
    scalar = readScalar(argument);
    return true;
  }
  // Rank-0 tensors and NumPy scalars count as the number they hold.
  bool isText = PyUnicode_Check(argument) || PyBytes_Check(argument) || PyByteArray_Check(argument);
  PyObject *number = PyIndex_Check(argument) ? PyNumber_Index(argument) : nullptr;
  if (!number && !isText && (!PyErr_Occurred() || PyErr_ExceptionMatches(PyExc_TypeError))) {
    PyErr_Clear();
    number = PyNumber_Float(argument);
  }
  if (!number && PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_TypeError)) {
    return false;
  }
  if (!number) {
    PyErr_Clear();
    raiseAdvice(PyExc_TypeError, "pass an int or a float", "arange() %s must be a number, got %s",
                what, Py_TYPE(argument)->tp_name);
    return false;
  }
  scalar = readScalar(number);
  Py_DECREF(number);
  return true;
}

PyObject *arangeFunction(PyObject *, FastArgs args, Py_ssize_t nargs, PyObject *kwnames) {
  static constexpr Parameters<4> kParameters{"arange", {"start", "stop", "step", "dtype"}, 1};
  PyObject *bound[4];
  std::optional<DType> dtype;
  if (!kParameters.bind(args, nargs, kwnames, bound) || !readDType(bound[3], dtype)) {
    return nullptr;
  }
  bool isCountOnly = !isGiven(bound[1]) && !isGiven(bound[2]);
  if (isCountOnly && isSize(bound[0]) && dtype != DType::Bool) {
    return arangeOfSize(bound[0], dtype.value_or(DType::Int32));
  }
  PythonScalar start;
  PythonScalar stop;
  PythonScalar step;
  step.intValue = 1;
  if (!readArangeBound(bound[0], "start", start) ||
      (isGiven(bound[1]) && !readArangeBound(bound[1], "stop", stop)) ||
      (isGiven(bound[2]) && !readArangeBound(bound[2], "step", step))) {
    return nullptr;
  }
  if (!isGiven(bound[1])) {
    std::swap(start, stop);
    start = PythonScalar();
  }
  return wrapResult(arange(start, stop, step, dtype));
}

template <class F> PyCFunction cast(F function) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}
constexpr int kKeywords = METH_FASTCALL | METH_KEYWORDS;

} // namespace

PyObject *rebuildTensor(PyObject *, PyObject *state) {
  const char *bytes;
  Py_ssize_t byteCount;
  const char *dtypeText;
  PyObject *shape;
  PyObject *name;
  int isConst;
  if (!PyArg_ParseTuple(state, "y#sO!Op", &bytes, &byteCount, &dtypeText, &PyTuple_Type, &shape,
                        &name, &isConst)) {
    return nullptr;
  }
  std::optional<DType> dtype = tracert::dtypeFromName(dtypeText);
  TensorType type{dtype.value_or(DType::Bool), {}};
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(shape); ++i) {
    int64_t size;
    if (!readInt(PyTuple_GET_ITEM(shape, i), "a size", size)) {
      return nullptr;
    }
    type.shape.push_back(size);
  }
  // The type rule of full knows the limits of shapes.
  OpCall call{OpKind::full,
              {AttrValue::ints(type.shape), AttrValue::scalar(Scalar{type.dtype, 0})}};
  if (!dtype || !tracert::inferTypes(call, {}).ok() || type.byteCount() != byteCount) {
    return raiseFormat(PyExc_ValueError, "damaged pickle of a tensor");
  }
  Result<Value> value = allocateValue(type);
  if (!value.ok()) {
    return raise(value.status());
  }
  std::memcpy((*value)->view().data, bytes, static_cast<size_t>(byteCount));
  PyObject *result = wrapResult(stack().onHostData(std::move(*value)));
  if (result) {
    tensorOf(result).cellRef()->isConst = isConst != 0;
    reinterpret_cast<TensorObject *>(result)->name =
        PyUnicode_Check(name) ? Py_NewRef(name) : nullptr;
  }
  return result;
}

PyMethodDef createFunctions[] = {
    {"tensor", cast(tensorFunction), kKeywords,
     "tensor(data, dtype=None, device=None, *, const=False, copy=True, name=None)\n--\n\n"
     "A tensor of nested lists, numbers, arrays or tensors.\n\n"
     "Args: data: anything with numbers. dtype: default bool, int32 or float32 by the highest "
     "leaf\n"
     "type; arrays and tensors keep theirs. const: never written, baked into traces. copy: False\n"
     "shares an array's memory. name: shown in traces and dumps.\n\n"
     "Raises: ValueError for ragged lists, TypeError for data that is not numeric, OverflowError\n"
     "for ints outside the dtype."},
    {"full", cast(fullFunction), kKeywords,
     "full(shape, fill_value, dtype=None)\n--\n\nA tensor filled with one value."},
    {"zeros", cast(fillFunction<kZeros, 0>), kKeywords,
     "zeros(shape, dtype=float32)\n--\n\nA tensor of zeros."},
    {"ones", cast(fillFunction<kOnes, 1>), kKeywords,
     "ones(shape, dtype=float32)\n--\n\nA tensor of ones."},
    {"arange", cast(arangeFunction), kKeywords,
     "arange(start, stop=None, step=1, dtype=None)\n--\n\n"
     "start + i * step for i from 0 up to, not including, stop."},
    {"_rebuild", rebuildTensor, METH_VARARGS, nullptr},
    {},
};

} // namespace tracec::python
