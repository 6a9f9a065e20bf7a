// Methods and attributes of tensors.

#include "DTypes.h"
#include "Operations.h"
#include "Sizes.h"
#include "TensorObject.h"
#include "ToPython.h"
#include "Views.h"

namespace tracec::python {

using tracert::OpKind;

PyObject *rebuildFunction = nullptr;

namespace {

using FastArgs = PyObject *const *;

#define TRACEC_REDUCTION(pythonName, opKind, takesDType, parameters, text)                         \
  constexpr char kReduction_##pythonName[] = #pythonName;
#include "../generated/ReductionFunctions.inc"
#undef TRACEC_REDUCTION

template <bool takesDType> constexpr auto reductionParameters(const char *name) {
  if constexpr (takesDType) {
    return Parameters<3>{name, {"axis", "keepdims", "dtype"}};
  } else {
    return Parameters<2>{name, {"axis", "keepdims"}};
  }
}

template <OpKind kind, const char *name, bool takesDType>
PyObject *reduction(PyObject *self, FastArgs args, Py_ssize_t nargs, PyObject *kwnames) {
  static constexpr Parameters<takesDType ? 3 : 2> kParameters =
      reductionParameters<takesDType>(name);
  PyObject *bound[3] = {};
  return kParameters.bind(args, nargs, kwnames, bound)
             ? reduceTensor(kind, self, bound[0], bound[1], bound[2])
             : nullptr;
}

#define TRACEC_SET_UPDATE(function, method, opKind, text)                                          \
  constexpr char kUpdate_##method[] = #method;
#include "../generated/UpdateFunctions.inc"
#undef TRACEC_SET_UPDATE

template <OpKind kind, const char *name>
PyObject *updateMethod(PyObject *self, FastArgs args, Py_ssize_t nargs, PyObject *kwnames) {
  static constexpr Parameters<2> kParameters{name, {"index", "value"}, 2};
  PyObject *bound[2];
  return kParameters.bind(args, nargs, kwnames, bound)
             ? updateTensorInPlace(kind, name, self, bound[0], bound[1])
             : nullptr;
}

PyObject *reshapeMethod(PyObject *self, FastArgs args, Py_ssize_t nargs) {
  std::vector<SizeArg> sizes;
  return readShapeArguments(args, nargs, sizes) ? reshapeOf(self, sizes) : nullptr;
}

PyObject *broadcastMethod(PyObject *self, FastArgs args, Py_ssize_t nargs) {
  std::vector<SizeArg> sizes;
  return readShapeArguments(args, nargs, sizes) ? broadcastOf(self, sizes) : nullptr;
}

PyObject *transposeMethod(PyObject *self, FastArgs args, Py_ssize_t nargs) {
  if (nargs == 0) {
    return transposeOf(self, nullptr);
  }
  if (nargs == 1 && (args[0] == Py_None || isIntSequence(args[0]))) {
    return transposeOf(self, args[0]);
  }
  PyObject *axes = PyTuple_New(nargs);
  for (Py_ssize_t i = 0; axes && i < nargs; ++i) {
    PyTuple_SET_ITEM(axes, i, Py_NewRef(args[i]));
  }
  PyObject *result = axes ? transposeOf(self, axes) : nullptr;
  Py_XDECREF(axes);
  return result;
}

PyObject *swapAxesMethod(PyObject *self, FastArgs args, Py_ssize_t nargs, PyObject *kwnames) {
  static constexpr Parameters<2> kParameters{"swapaxes", {"axis1", "axis2"}, 2};
  PyObject *bound[2];
  return kParameters.bind(args, nargs, kwnames, bound) ? swapAxesOf(self, bound[0], bound[1])
                                                       : nullptr;
}

constexpr char kSqueeze[] = "squeeze";
constexpr char kExpand[] = "expand_dims";
constexpr char kFlip[] = "flip";

template <PyObject *(*apply)(PyObject *, PyObject *), const char *name> struct AxisMethod {
  static PyObject *call(PyObject *self, FastArgs args, Py_ssize_t nargs, PyObject *kwnames) {
    static constexpr Parameters<1> kParameters{name, {"axis"}};
    PyObject *bound[1];
    return kParameters.bind(args, nargs, kwnames, bound) ? apply(self, bound[0]) : nullptr;
  }
};

PyObject *astypeMethod(PyObject *self, FastArgs args, Py_ssize_t nargs, PyObject *kwnames) {
  static constexpr Parameters<1> kParameters{"astype", {"dtype"}, 1};
  PyObject *bound[1];
  return kParameters.bind(args, nargs, kwnames, bound) ? castTensor(self, bound[0]) : nullptr;
}

PyObject *itemMethod(PyObject *self, PyObject *) { return itemOf(self, "item"); }
PyObject *listMethod(PyObject *self, PyObject *) { return toList(self); }
PyObject *numpyMethod(PyObject *self, PyObject *) { return toNumpy(self); }
PyObject *copyMethod(PyObject *self, PyObject *) { return copyTensor(self, /*keepsConst=*/false); }
PyObject *duplicate(PyObject *self, PyObject *) { return copyTensor(self, /*keepsConst=*/true); }
PyObject *detachMethod(PyObject *self, PyObject *) { return wrapTensor(tensorOf(self)); }

PyObject *arrayMethod(PyObject *self, FastArgs args, Py_ssize_t nargs, PyObject *kwnames) {
  static constexpr Parameters<2> kParameters{"__array__", {"dtype", "copy"}};
  PyObject *bound[2];
  if (!kParameters.bind(args, nargs, kwnames, bound)) {
    return nullptr;
  }
  PyObject *array = toNumpy(self);
  if (array && isGiven(bound[0])) {
    Py_SETREF(array, PyObject_CallMethod(array, "astype", "O", bound[0]));
  } else if (array && bound[1] == Py_True) {
    Py_SETREF(array, PyObject_CallMethod(array, "copy", nullptr));
  }
  return array;
}

/// __array_ufunc__(ufunc, method, *inputs, **kwargs): NumPy's operators come here with an array and
/// a tensor; tracec/_numpy.py answers them and refuses the rest.
PyObject *ufuncMethod(PyObject *, FastArgs args, Py_ssize_t nargs, PyObject *kwnames) {
  PyObject *module = PyImport_ImportModule("tracec._numpy");
  PyObject *answer = module ? PyObject_GetAttrString(module, "array_ufunc") : nullptr;
  PyObject *inputs = answer ? PyTuple_New(nargs) : nullptr;
  for (Py_ssize_t i = 0; inputs && i < nargs; ++i) {
    PyTuple_SET_ITEM(inputs, i, Py_NewRef(args[i]));
  }
  PyObject *isPlain = PyBool_FromLong(!kwnames || PyTuple_GET_SIZE(kwnames) == 0);
  PyObject *result =
      inputs ? PyObject_CallFunctionObjArgs(answer, inputs, isPlain, nullptr) : nullptr;
  Py_DECREF(isPlain);
  Py_XDECREF(inputs);
  Py_XDECREF(answer);
  Py_XDECREF(module);
  return result;
}

PyObject *formatMethod(PyObject *self, PyObject *spec) {
  if (!PyUnicode_Check(spec)) {
    return raiseAdvice(PyExc_TypeError, "pass a format as a str", "a format must be a str, got %s",
                       Py_TYPE(spec)->tp_name);
  }
  if (PyUnicode_GetLength(spec) == 0) {
    return PyObject_Str(self);
  }
  Result<TensorType> type = tensorOf(self).type();
  if (!type.ok()) {
    return raise(type.status());
  }
  if (type->rank() != 0) {
    return raiseAdvice(PyExc_TypeError, "format x.item() or x.tolist(), or leave the format out",
                       "format '%U' needs a tensor of rank 0, got shape %s", spec,
                       tracert::shapeString(type->shape).c_str());
  }
  PyObject *item = itemOf(self, "format");
  PyObject *text = item ? PyObject_Format(item, spec) : nullptr;
  Py_XDECREF(item);
  return text;
}

PyObject *reduceMethod(PyObject *self, PyObject *) {
  PyObject *memory = memoryOf(self);
  PyObject *bytes = memory ? PyObject_CallMethod(memory, "tobytes", nullptr) : nullptr;
  PyObject *shape = memory ? PyObject_GetAttrString(memory, "shape") : nullptr;
  Py_XDECREF(memory);
  Result<TensorType> type = tensorOf(self).type();
  if (!bytes || !shape || !type.ok()) {
    Py_XDECREF(bytes);
    Py_XDECREF(shape);
    return type.ok() ? nullptr : raise(type.status());
  }
  PyObject *name = reinterpret_cast<TensorObject *>(self)->name;
  return Py_BuildValue("O(NsNOO)", rebuildFunction, bytes, tracert::dtypeName(type->dtype).data(),
                       shape, name ? name : Py_None,
                       tensorOf(self).cellRef()->isConst ? Py_True : Py_False);
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

PyObject *getShape(PyObject *self, void *) { return wrapShape(tensorOf(self)); }

PyObject *getDType(PyObject *self, void *) {
  Result<TensorType> type = tensorOf(self).type();
  return type.ok() ? Py_NewRef(dtypeObject(type->dtype)) : raise(type.status());
}

/// A value that is not computed yet will be where its operands are: here.
PyObject *getDevice(PyObject *self, void *) {
  const tracec::CellRef &cell = tensorOf(self).cellRef();
  const Value *value = cell ? &cell->value : nullptr;
  bool hasBuffer = value && *value && (*value)->buffer();
  const tracert::MemorySpace &space =
      hasBuffer ? (*value)->buffer()->space() : tracert::hostMemory();
  return PyUnicode_InternFromString(space.name.data());
}

PyObject *getRank(PyObject *self, void *) {
  Result<TensorType> type = tensorOf(self).type();
  return type.ok() ? PyLong_FromSize_t(type->rank()) : raise(type.status());
}

/// Product of the sizes, times `scale`.
PyObject *countElements(PyObject *self, int64_t scale) {
  PyObject *shape = wrapShape(tensorOf(self));
  PyObject *count = shape ? PyLong_FromLongLong(scale) : nullptr;
  for (Py_ssize_t i = 0; count && i < PyTuple_GET_SIZE(shape); ++i) {
    Py_SETREF(count, PyNumber_Multiply(count, PyTuple_GET_ITEM(shape, i)));
  }
  Py_XDECREF(shape);
  return count;
}

PyObject *getSize(PyObject *self, void *) { return countElements(self, 1); }

PyObject *getByteCount(PyObject *self, void *) {
  Result<TensorType> type = tensorOf(self).type();
  return type.ok() ? countElements(self, static_cast<int64_t>(tracert::dtypeSize(type->dtype)))
                   : raise(type.status());
}

PyObject *getTransposed(PyObject *self, void *) {
  return wrapResult(permuteTensor(tensorOf(self), std::nullopt));
}

PyObject *getMatrixTransposed(PyObject *self, void *) {
  return wrapResult(transposeMatrix(tensorOf(self)));
}

PyObject *getName(PyObject *self, void *) {
  PyObject *name = reinterpret_cast<TensorObject *>(self)->name;
  return Py_NewRef(name ? name : Py_None);
}

int setName(PyObject *self, PyObject *name, void *) {
  if (name && name != Py_None && !PyUnicode_Check(name)) {
    raiseAdvice(PyExc_TypeError, "pass a str", "a name must be a str or None, got %s",
                Py_TYPE(name)->tp_name);
    return -1;
  }
  auto *object = reinterpret_cast<TensorObject *>(self);
  Py_XSETREF(object->name, isGiven(name) ? Py_NewRef(name) : nullptr);
  return 0;
}

template <class F> PyCFunction cast(F function) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}
constexpr int kFast = METH_FASTCALL;
constexpr int kKeywords = METH_FASTCALL | METH_KEYWORDS;

} // namespace

PyMethodDef tensorMethods[] = {
#define TRACEC_REDUCTION(pythonName, opKind, takesDType, parameters, text)                         \
  {#pythonName, cast(reduction<OpKind::opKind, kReduction_##pythonName, takesDType>), kKeywords,   \
   #pythonName "(" parameters ")\n\n" text},
#include "../generated/ReductionFunctions.inc"
#undef TRACEC_REDUCTION
#define TRACEC_SET_UPDATE(function, method, opKind, text)                                          \
  {#method, cast(updateMethod<OpKind::opKind, kUpdate_##method>), kKeywords,                       \
   #method "(index, value)\n\nIn place; returns None. " text},
#include "../generated/UpdateFunctions.inc"
#undef TRACEC_SET_UPDATE
    {"reshape", cast(reshapeMethod), kFast,
     "reshape(*shape)\n\nThe same elements under another shape; a view when strides allow."},
    {"broadcast_to", cast(broadcastMethod), kFast,
     "broadcast_to(*shape)\n\nA read-only view repeated along new axes and axes of size 1."},
    {"transpose", cast(transposeMethod), kFast,
     "transpose(*axes)\n\nA view with its axes reordered; reversed without arguments."},
    {"permute", cast(transposeMethod), kFast, "permute(*axes)\n\nA view with its axes reordered."},
    {"swapaxes", cast(swapAxesMethod), kKeywords, "swapaxes(axis1, axis2)\n\nA view."},
    {"squeeze", cast(AxisMethod<squeezeOf, kSqueeze>::call), kKeywords,
     "squeeze(axis=None)\n\nA view without axes of size 1."},
    {"expand_dims", cast(AxisMethod<expandOf, kExpand>::call), kKeywords,
     "expand_dims(axis)\n\nA view with new axes of size 1."},
    {"flip", cast(AxisMethod<flipOf, kFlip>::call), kKeywords,
     "flip(axis=None)\n\nA view with the order along axes reversed."},
    {"astype", cast(astypeMethod), kKeywords,
     "astype(dtype)\n\nA copy converted to another dtype; float to int truncates and saturates."},
    {"item", itemMethod, METH_NOARGS, "item()\n\nThe only element as a Python number."},
    {"tolist", listMethod, METH_NOARGS, "tolist()\n\nThe elements as nested lists."},
    {"numpy", numpyMethod, METH_NOARGS,
     "numpy()\n\nA read-only array of the present value, without a copy."},
    {"detach", detachMethod, METH_NOARGS, "detach()\n\nA view of the whole tensor."},
    {"copy", copyMethod, METH_NOARGS,
     "copy()\n\nA tensor of its own with the same value; writable, also of a const tensor."},
    {"__copy__", duplicate, METH_NOARGS, nullptr},
    {"__deepcopy__", duplicate, METH_O, nullptr},
    {"__reduce__", reduceMethod, METH_NOARGS, nullptr},
    {"__array__", cast(arrayMethod), kKeywords, nullptr},
    {"__array_ufunc__", cast(ufuncMethod), kKeywords, nullptr},
    {"__format__", formatMethod, METH_O, nullptr},
    {},
};

PyGetSetDef tensorAttributes[] = {
    {"shape", getShape, nullptr, "Sizes as a tuple; tc.Size objects inside a trace.", nullptr},
    {"dtype", getDType, nullptr, "The element type.", nullptr},
    {"device", getDevice, nullptr, "Where the data is: 'cpu0'.", nullptr},
    {"ndim", getRank, nullptr, "The number of axes.", nullptr},
    {"size", getSize, nullptr, "The number of elements.", nullptr},
    {"nbytes", getByteCount, nullptr, "Bytes of all elements.", nullptr},
    {"T", getTransposed, nullptr, "A view with its axes reversed.", nullptr},
    {"mT", getMatrixTransposed, nullptr, "A view with its last two axes exchanged.", nullptr},
    {"name", getName, setName, "A str or None.", nullptr},
    {},
};

} // namespace tracec::python
