#include "Operations.h"

#include "DTypes.h"
#include "FromPython.h"
#include "TensorObject.h"
#include "Views.h"

namespace tracec::python {

using tracert::OpKind;

const Tensor *tensorArgument(PyObject *argument, Tensor &storage) {
  if (isTensor(argument)) {
    return &tensorOf(argument);
  }
  Value value;
  if (!readValue(argument, std::nullopt, value)) {
    return nullptr;
  }
  storage = Tensor::fromValue(std::move(value));
  return &storage;
}

PyObject *reduceTensor(OpKind kind, PyObject *x, PyObject *axis, PyObject *keepdims,
                       PyObject *dtype) {
  std::optional<Dims> axes;
  std::optional<DType> accumulate;
  bool keep = false;
  Tensor storage;
  const Tensor *tensor = tensorArgument(x, storage);
  if (!tensor || !readAxes(axis, axes) || !readFlag(keepdims, keep) ||
      !readDType(dtype, accumulate)) {
    return nullptr;
  }
  Result<Value> value = tensor->read();
  if (!value.ok()) {
    return raise(value.status());
  }
  return wrapResult(reduce(kind, *value, axes, keep, accumulate));
}

PyObject *castTensor(PyObject *x, PyObject *dtype) {
  std::optional<DType> target;
  Value value;
  if (!readDType(dtype, target)) {
    return nullptr;
  }
  if (!target) {
    return raiseAdvice(PyExc_TypeError, "pass a dtype, e.g. tc.float32",
                       "expected a dtype, got None");
  }
  if (!readValue(x, std::nullopt, value)) {
    return nullptr;
  }
  // A cast to the same dtype is a copy, too.
  Result<Value> cast = castTo(std::move(value), *target);
  return cast.ok() ? wrapResult(ownValue(std::move(*cast), x)) : raise(cast.status());
}

PyObject *reshapeOf(PyObject *x, std::vector<SizeArg> &sizes) {
  Tensor storage;
  const Tensor *tensor = tensorArgument(x, storage);
  return tensor ? wrapResult(reshapeTensor(*tensor, sizes)) : nullptr;
}

PyObject *broadcastOf(PyObject *x, std::vector<SizeArg> &sizes) {
  Tensor storage;
  const Tensor *tensor = tensorArgument(x, storage);
  return tensor ? wrapResult(broadcastTensor(*tensor, sizes)) : nullptr;
}

PyObject *transposeOf(PyObject *x, PyObject *axes) {
  std::optional<Dims> order;
  Tensor storage;
  const Tensor *tensor = tensorArgument(x, storage);
  return tensor && readAxes(axes, order) ? wrapResult(permuteTensor(*tensor, order)) : nullptr;
}

PyObject *swapAxesOf(PyObject *x, PyObject *first, PyObject *second) {
  int64_t a = 0;
  int64_t b = 0;
  Tensor storage;
  const Tensor *tensor = tensorArgument(x, storage);
  bool ok = tensor && readInt(first, "an axis", a) && readInt(second, "an axis", b);
  return ok ? wrapResult(swapAxes(*tensor, a, b)) : nullptr;
}

PyObject *moveAxesOf(PyObject *x, PyObject *from, PyObject *to) {
  std::optional<Dims> source;
  std::optional<Dims> target;
  Tensor storage;
  const Tensor *tensor = tensorArgument(x, storage);
  if (!tensor || !readAxes(from, source) || !readAxes(to, target)) {
    return nullptr;
  }
  return wrapResult(moveAxes(*tensor, source.value_or(Dims()), target.value_or(Dims())));
}

PyObject *squeezeOf(PyObject *x, PyObject *axis) {
  std::optional<Dims> axes;
  Tensor storage;
  const Tensor *tensor = tensorArgument(x, storage);
  return tensor && readAxes(axis, axes) ? wrapResult(squeezeAxes(*tensor, axes)) : nullptr;
}

PyObject *expandOf(PyObject *x, PyObject *axis) {
  std::optional<Dims> axes;
  Tensor storage;
  const Tensor *tensor = tensorArgument(x, storage);
  if (!tensor || !readAxes(axis, axes)) {
    return nullptr;
  }
  if (!axes) {
    return raiseAdvice(PyExc_TypeError, "pass an int or a tuple of ints",
                       "expand_dims() needs an axis, got None");
  }
  return wrapResult(expandAxes(*tensor, *axes));
}

PyObject *flipOf(PyObject *x, PyObject *axis) {
  std::optional<Dims> axes;
  Tensor storage;
  const Tensor *tensor = tensorArgument(x, storage);
  return tensor && readAxes(axis, axes) ? wrapResult(flipAxes(*tensor, axes)) : nullptr;
}

PyObject *copyTensor(PyObject *x, bool keepsConst) {
  Result<Value> value = tensorOf(x).read();
  PyObject *copy = value.ok() ? wrapResult(ownValue(std::move(*value), x)) : raise(value.status());
  if (copy) {
    auto *from = reinterpret_cast<TensorObject *>(x);
    reinterpret_cast<TensorObject *>(copy)->name = Py_XNewRef(from->name);
    tensorOf(copy).cellRef()->isConst = keepsConst && tensorOf(x).cellRef()->isConst;
  }
  return copy;
}

} // namespace tracec::python
