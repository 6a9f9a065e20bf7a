// Functions of the module on tensors. Those of pointwise ops and of
// reductions come from the generated tables.

#include "DTypes.h"
#include "FromArray.h"
#include "FromPython.h"
#include "Operations.h"
#include "Sequences.h"
#include "TensorObject.h"

namespace tracec::python {

using tracert::OpKind;

namespace {

using FastArgs = PyObject *const *;

template <OpKind kind, int arity, const char *name>
PyObject *pointwiseFunction(PyObject *, FastArgs args, Py_ssize_t nargs) {
  if (nargs != arity) {
    return raiseAdvice(PyExc_TypeError, "give each operand once, by position",
                       "%s() takes %d positional arguments, got %zd", name, arity, nargs);
  }
  Operand operands[arity];
  if (!readOperands(args, arity, name, operands)) {
    return nullptr;
  }
  return wrapResult(pointwise(kind, operands));
}

#define TRACEC_POINTWISE_FUNCTION(pythonName, opKind, arity, doc)                                  \
  constexpr char kName_##pythonName[] = #pythonName;
#include "../generated/PointwiseFunctions.inc"
#undef TRACEC_POINTWISE_FUNCTION

#define TRACEC_REDUCTION(pythonName, opKind, takesDType, parameters, text)                         \
  constexpr char kReduction_##pythonName[] = #pythonName;
#include "../generated/ReductionFunctions.inc"
#undef TRACEC_REDUCTION

template <bool takesDType> constexpr auto reductionParameters(const char *name) {
  if constexpr (takesDType) {
    return Parameters<4>{name, {"x", "axis", "keepdims", "dtype"}, 1};
  } else {
    return Parameters<3>{name, {"x", "axis", "keepdims"}, 1};
  }
}

template <OpKind kind, const char *name, bool takesDType>
PyObject *reduction(PyObject *, FastArgs args, Py_ssize_t nargs, PyObject *kwnames) {
  static constexpr Parameters<takesDType ? 4 : 3> kParameters =
      reductionParameters<takesDType>(name);
  PyObject *bound[4] = {};
  return kParameters.bind(args, nargs, kwnames, bound)
             ? reduceTensor(kind, bound[0], bound[1], bound[2], bound[3])
             : nullptr;
}

#define TRACEC_SET_UPDATE(function, method, opKind, text)                                          \
  constexpr char kUpdate_##function[] = #function;
#include "../generated/UpdateFunctions.inc"
#undef TRACEC_SET_UPDATE

template <OpKind kind, const char *name>
PyObject *updateFunction(PyObject *, FastArgs args, Py_ssize_t nargs, PyObject *kwnames) {
  static constexpr Parameters<3> kParameters{name, {"x", "index", "value"}, 3};
  PyObject *bound[3];
  return kParameters.bind(args, nargs, kwnames, bound)
             ? updateTensor(kind, name, bound[0], bound[1], bound[2])
             : nullptr;
}

PyObject *castFunction(PyObject *, FastArgs args, Py_ssize_t nargs, PyObject *kwnames) {
  static constexpr Parameters<2> kParameters{"cast", {"x", "dtype"}, 2};
  PyObject *bound[2];
  return kParameters.bind(args, nargs, kwnames, bound) ? castTensor(bound[0], bound[1]) : nullptr;
}

template <PyObject *(*apply)(PyObject *, std::vector<SizeArg> &)>
PyObject *shapeFunction(PyObject *, FastArgs args, Py_ssize_t nargs, PyObject *kwnames) {
  static constexpr Parameters<2> kParameters{
      apply == reshapeOf ? "reshape" : "broadcast_to", {"x", "shape"}, 2};
  PyObject *bound[2];
  std::vector<SizeArg> sizes;
  return kParameters.bind(args, nargs, kwnames, bound) && readShape(bound[1], sizes)
             ? apply(bound[0], sizes)
             : nullptr;
}

constexpr char kTranspose[] = "transpose";
constexpr char kPermute[] = "permute";
constexpr char kSqueeze[] = "squeeze";
constexpr char kExpand[] = "expand_dims";
constexpr char kFlip[] = "flip";

template <PyObject *(*apply)(PyObject *, PyObject *), const char *name, bool isAxes>
PyObject *axisFunction(PyObject *, FastArgs args, Py_ssize_t nargs, PyObject *kwnames) {
  static constexpr Parameters<2> kParameters{name, {"x", isAxes ? "axes" : "axis"}, 1};
  PyObject *bound[2];
  return kParameters.bind(args, nargs, kwnames, bound) ? apply(bound[0], bound[1]) : nullptr;
}

constexpr char kSwap[] = "swapaxes";
constexpr char kMove[] = "moveaxis";

template <PyObject *(*apply)(PyObject *, PyObject *, PyObject *), const char *name>
PyObject *twoAxesFunction(PyObject *, FastArgs args, Py_ssize_t nargs, PyObject *kwnames) {
  static constexpr Parameters<3> kParameters{name,
                                             {"x", apply == swapAxesOf ? "axis1" : "source",
                                              apply == swapAxesOf ? "axis2" : "destination"},
                                             3};
  PyObject *bound[3];
  return kParameters.bind(args, nargs, kwnames, bound) ? apply(bound[0], bound[1], bound[2])
                                                       : nullptr;
}

PyObject *concatFunction(PyObject *, FastArgs args, Py_ssize_t nargs, PyObject *kwnames) {
  static constexpr Parameters<2> kParameters{"concat", {"tensors", "axis"}, 1};
  PyObject *bound[2];
  if (!kParameters.bind(args, nargs, kwnames, bound)) {
    return nullptr;
  }
  // None is an axis of its own here: all elements in one row.
  std::optional<int64_t> axis = 0;
  if (bound[1] == Py_None) {
    axis.reset();
  } else if (bound[1] && !readInt(bound[1], "axis", *axis)) {
    return nullptr;
  }
  if (!isSequence(bound[0]) && !isArrayLike(bound[0])) {
    return raiseAdvice(PyExc_TypeError, "pass a list or a tuple of tensors",
                       "concat() expects a sequence of tensors, got %s",
                       Py_TYPE(bound[0])->tp_name);
  }
  Items parts;
  if (!parts.read(bound[0])) {
    return nullptr;
  }
  size_t count = static_cast<size_t>(parts.size());
  std::vector<Operand> operands(count);
  return readOperands(parts.begin(), count, "concat", operands.data())
             ? wrapResult(concat(operands, axis))
             : nullptr;
}

PyObject *matmulFunction(PyObject *, FastArgs args, Py_ssize_t nargs, PyObject *kwnames) {
  static constexpr Parameters<2> kParameters{"matmul", {"x", "y"}, 2};
  PyObject *bound[2];
  Operand operands[2];
  if (!kParameters.bind(args, nargs, kwnames, bound) ||
      !readOperands(bound, 2, "matmul", operands)) {
    return nullptr;
  }
  return wrapResult(matmul(operands[0], operands[1]));
}

PyObject *condTakeFunction(PyObject *, FastArgs args, Py_ssize_t nargs, PyObject *kwnames) {
  static constexpr Parameters<2> kParameters{"cond_take", {"mask", "x"}, 2};
  PyObject *bound[2];
  Value mask;
  Value x;
  if (!kParameters.bind(args, nargs, kwnames, bound) || !readValue(bound[0], std::nullopt, mask) ||
      !readValue(bound[1], std::nullopt, x)) {
    return nullptr;
  }
  Result<Values> results = condTake(mask, x);
  if (!results.ok()) {
    return raise(results.status());
  }
  PyObject *values = wrapValue((*results)[0]);
  PyObject *positions = values ? wrapValue((*results)[1]) : nullptr;
  if (!positions) {
    Py_XDECREF(values);
    return nullptr;
  }
  return Py_BuildValue("(NN)", values, positions);
}

/// _raise_type_error(text, advice), for the Python half of the package: with code and line.
PyObject *raiseTypeError(PyObject *, PyObject *args) {
  PyObject *text;
  const char *advice;
  if (!PyArg_ParseTuple(args, "Us", &text, &advice)) {
    return nullptr;
  }
  return raiseAdvice(PyExc_TypeError, advice, "%U", text);
}

template <class F> PyCFunction cast(F function) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}
constexpr int kFast = METH_FASTCALL;
constexpr int kKeywords = METH_FASTCALL | METH_KEYWORDS;

} // namespace

PyMethodDef moduleFunctions[] = {
#define TRACEC_POINTWISE_FUNCTION(pythonName, opKind, arity, doc)                                  \
  {#pythonName, cast(pointwiseFunction<OpKind::opKind, arity, kName_##pythonName>), kFast, doc},
#include "../generated/PointwiseFunctions.inc"
#undef TRACEC_POINTWISE_FUNCTION
#define TRACEC_REDUCTION(pythonName, opKind, takesDType, parameters, text)                         \
  {#pythonName, cast(reduction<OpKind::opKind, kReduction_##pythonName, takesDType>), kKeywords,   \
   #pythonName "(x, " parameters ")\n--\n\n" text},
#include "../generated/ReductionFunctions.inc"
#undef TRACEC_REDUCTION
#define TRACEC_SET_UPDATE(function, method, opKind, text)                                          \
  {#function, cast(updateFunction<OpKind::opKind, kUpdate_##function>), kKeywords,                 \
   #function "(x, index, value)\n--\n\n" text},
#include "../generated/UpdateFunctions.inc"
#undef TRACEC_SET_UPDATE
    {"cast", cast(castFunction), kKeywords,
     "cast(x, dtype)\n--\n\nElements converted to another dtype."},
    {"reshape", cast(shapeFunction<reshapeOf>), kKeywords,
     "reshape(x, shape)\n--\n\nThe same elements under another shape; a view when strides allow."},
    {"broadcast_to", cast(shapeFunction<broadcastOf>), kKeywords,
     "broadcast_to(x, shape)\n--\n\nA read-only view repeated along axes of size 1."},
    {"transpose", cast(axisFunction<transposeOf, kTranspose, true>), kKeywords,
     "transpose(x, axes=None)\n--\n\nA view with its axes reordered."},
    {"permute", cast(axisFunction<transposeOf, kPermute, true>), kKeywords,
     "permute(x, axes=None)\n--\n\nA view with its axes reordered."},
    {"squeeze", cast(axisFunction<squeezeOf, kSqueeze, false>), kKeywords,
     "squeeze(x, axis=None)\n--\n\nA view without axes of size 1."},
    {"expand_dims", cast(axisFunction<expandOf, kExpand, false>), kKeywords,
     "expand_dims(x, axis)\n--\n\nA view with new axes of size 1."},
    {"flip", cast(axisFunction<flipOf, kFlip, false>), kKeywords,
     "flip(x, axis=None)\n--\n\nA view with the order along axes reversed."},
    {"swapaxes", cast(twoAxesFunction<swapAxesOf, kSwap>), kKeywords,
     "swapaxes(x, axis1, axis2)\n--\n\nA view with two axes exchanged."},
    {"moveaxis", cast(twoAxesFunction<moveAxesOf, kMove>), kKeywords,
     "moveaxis(x, source, destination)\n--\n\nA view with axes moved to other places."},
    {"concat", cast(concatFunction), kKeywords,
     "concat(tensors, axis=0)\n--\n\nTensors joined along an existing axis; None flattens them "
     "first."},
    {"matmul", cast(matmulFunction), kKeywords,
     "matmul(x, y)\n--\n\nMatrix product over the last two axes, leading axes broadcast."},
    {"cond_take", cast(condTakeFunction), kKeywords,
     "cond_take(mask, x)\n--\n\nElements of x where mask is true, and their int64 flat positions."},
    {"_raise_type_error", raiseTypeError, METH_VARARGS, nullptr},
    {},
};

} // namespace tracec::python
