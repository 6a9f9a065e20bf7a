#include "ToPython.h"

#include "DTypes.h"
#include "TensorObject.h"

#include <cstring>

namespace tracec::python {

namespace {

/// What an exported buffer keeps alive, and the arrays that Py_buffer points at.
struct ExportedBuffer {
  Value value;
  Py_ssize_t shape[tracert::kMaxRank];
  Py_ssize_t strides[tracert::kMaxRank];
};

/// In the letters of NumPy's own dtypes, so that arrays get the canonical type.
const char *bufferFormat(DType dtype) {
  switch (dtype) {
  case DType::Bool:
    return "?";
  case DType::UInt8:
    return "B";
  case DType::Int32:
    return "i";
  case DType::Int64:
    return "l";
  case DType::Float16:
    return "e";
  case DType::Float32:
    return "f";
  case DType::Float64:
    return "d";
  }
  return "B";
}
static_assert(sizeof(long) == 8);

int failBuffer(const char *message) {
  PyErr_SetString(PyExc_BufferError, message);
  return -1;
}

int getBuffer(PyObject *self, Py_buffer *buffer, int flags) {
  buffer->obj = nullptr;
  if (flags & PyBUF_WRITABLE) {
    return failBuffer(
        "a tensor's buffer is read-only; copy it, or write through tensor[...] = value");
  }
  Result<Value> host = tensorOf(self).readForHost();
  if (!host.ok()) {
    return raiseInt(host.status());
  }
  const TensorView &view = (*host)->view();
  bool isContiguous = view.isContiguous();
  if ((flags & PyBUF_STRIDES) != PyBUF_STRIDES && !isContiguous) {
    return failBuffer("this tensor is not contiguous");
  }
  if ((flags & PyBUF_F_CONTIGUOUS) == PyBUF_F_CONTIGUOUS && view.rank() > 1) {
    return failBuffer("this tensor is not Fortran contiguous");
  }
  auto *exported = new ExportedBuffer{*host, {}, {}};
  for (size_t i = 0; i < view.rank(); ++i) {
    exported->shape[i] = view.shape[i];
    exported->strides[i] = view.strides[i];
  }
  buffer->buf = view.data;
  buffer->obj = Py_NewRef(self);
  buffer->len = view.elementCount() * static_cast<Py_ssize_t>(tracert::dtypeSize(view.dtype));
  buffer->itemsize = static_cast<Py_ssize_t>(tracert::dtypeSize(view.dtype));
  buffer->readonly = 1;
  buffer->ndim = static_cast<int>(view.rank());
  buffer->format = flags & PyBUF_FORMAT ? const_cast<char *>(bufferFormat(view.dtype)) : nullptr;
  buffer->shape = flags & PyBUF_ND ? exported->shape : nullptr;
  buffer->strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? exported->strides : nullptr;
  buffer->suboffsets = nullptr;
  buffer->internal = exported;
  return 0;
}

void releaseBuffer(PyObject *, Py_buffer *buffer) {
  delete static_cast<ExportedBuffer *>(buffer->internal);
}

PyObject *listOf(const TensorView &view, size_t axis, const char *data) {
  if (axis == view.rank()) {
    return elementToPython(view.dtype, data);
  }
  PyObject *list = PyList_New(view.shape[axis]);
  for (int64_t i = 0; list && i < view.shape[axis]; ++i) {
    PyObject *item = listOf(view, axis + 1, data + i * view.strides[axis]);
    if (!item) {
      Py_CLEAR(list);
      break;
    }
    PyList_SET_ITEM(list, i, item);
  }
  return list;
}

} // namespace

PyBufferProcs tensorBuffer = {getBuffer, releaseBuffer};

PyObject *elementToPython(DType dtype, const void *data) {
  switch (dtype) {
  case DType::Bool:
    return PyBool_FromLong(*static_cast<const uint8_t *>(data) != 0);
  case DType::UInt8:
    return PyLong_FromLong(*static_cast<const uint8_t *>(data));
  case DType::Int32:
    return PyLong_FromLong(*static_cast<const int32_t *>(data));
  case DType::Int64:
    return PyLong_FromLongLong(*static_cast<const int64_t *>(data));
  case DType::Float16:
    return PyFloat_FromDouble(PyFloat_Unpack2(static_cast<const char *>(data), /*le=*/1));
  case DType::Float32:
    return PyFloat_FromDouble(*static_cast<const float *>(data));
  case DType::Float64:
    return PyFloat_FromDouble(*static_cast<const double *>(data));
  }
  return raise(Status::internal("unknown dtype"));
}

PyObject *itemOf(PyObject *tensor, const char *function) {
  Result<Value> host = tensorOf(tensor).readForHost();
  if (!host.ok()) {
    return raise(host.status());
  }
  const TensorView &view = (*host)->view();
  if (view.elementCount() != 1) {
    return raiseFormat(PyExc_ValueError, "%s() needs a tensor of one element, got %lld of shape %s",
                       function, static_cast<long long>(view.elementCount()),
                       tracert::shapeString(view.shape).c_str());
  }
  return elementToPython(view.dtype, view.data);
}

PyObject *toList(PyObject *tensor) {
  Result<Value> host = tensorOf(tensor).readForHost();
  if (!host.ok()) {
    return raise(host.status());
  }
  const TensorView &view = (*host)->view();
  return listOf(view, 0, static_cast<const char *>(view.data));
}

PyObject *toNumpy(PyObject *tensor) {
  // NumPy forgets why a buffer could not be had and comes back through __array__.
  if (Result<Value> host = tensorOf(tensor).readForHost(); !host.ok()) {
    return raise(host.status());
  }
  PyObject *numpy = numpyModule();
  PyObject *array = numpy ? PyObject_CallMethod(numpy, "asarray", "O", tensor) : nullptr;
  Py_XDECREF(numpy);
  return array;
}

} // namespace tracec::python
