#include "ToPython.h"

#include "DTypes.h"
#include "TensorObject.h"
#include "tracert/Element.h"

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
template <class T> constexpr char kLetter = '\0';
template <> constexpr char kLetter<int8_t> = 'b';
template <> constexpr char kLetter<int16_t> = 'h';
template <> constexpr char kLetter<int32_t> = 'i';
template <> constexpr char kLetter<int64_t> = 'l';
template <> constexpr char kLetter<uint8_t> = 'B';
template <> constexpr char kLetter<uint16_t> = 'H';
template <> constexpr char kLetter<uint32_t> = 'I';
template <> constexpr char kLetter<uint64_t> = 'L';
template <> constexpr char kLetter<float> = 'f';
template <> constexpr char kLetter<double> = 'd';

const char *bufferFormat(DType dtype) {
  return tracert::visitDType(dtype, [](auto tag) {
    using D = decltype(tag);
    constexpr char letter = tracert::isBoolTag<D>          ? '?'
                            : tracert::isNarrowFloatTag<D> ? 'e'
                                                           : kLetter<typename D::Storage>;
    static_assert(letter != '\0');
    static constexpr char format[] = {letter, '\0'};
    return static_cast<const char *>(format);
  });
}
static_assert(sizeof(long) == 8);

/// Whether bfloat16, for which buffers have no letter, is exported as uint16.
thread_local bool exportsBits = false;

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
  bool isBfloat = view.dtype == DType::BFloat16;
  if (isBfloat && !exportsBits) {
    return failBuffer("buffers have no bfloat16; use x.numpy() or x.astype(tc.float32)");
  }
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
  buffer->format = flags & PyBUF_FORMAT
                       ? const_cast<char *>(bufferFormat(isBfloat ? DType::UInt16 : view.dtype))
                       : nullptr;
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
  if (tracert::isBool(dtype)) {
    return PyBool_FromLong(tracert::integerAt(data, dtype));
  }
  if (tracert::isFloat(dtype)) {
    return PyFloat_FromDouble(tracert::floatAt(data, dtype));
  }
  if (tracert::isUnsigned(dtype)) {
    uint64_t bits = 0;
    std::memcpy(&bits, data, tracert::dtypeSize(dtype));
    return PyLong_FromUnsignedLongLong(bits);
  }
  return PyLong_FromLongLong(tracert::integerAt(data, dtype));
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

PyObject *memoryOf(PyObject *tensor) {
  exportsBits = true;
  PyObject *memory = PyMemoryView_FromObject(tensor);
  exportsBits = false;
  return memory;
}

PyObject *toNumpy(PyObject *tensor) {
  // NumPy forgets why a buffer could not be had and comes back through __array__.
  Result<Value> host = tensorOf(tensor).readForHost();
  if (!host.ok()) {
    return raise(host.status());
  }
  bool isBfloat = (*host)->dtype() == DType::BFloat16;
  PyObject *dtype = isBfloat ? numpyDType(DType::BFloat16) : nullptr;
  if (isBfloat && !dtype) {
    return nullptr;
  }
  exportsBits = isBfloat;
  PyObject *numpy = numpyModule();
  PyObject *array = numpy ? PyObject_CallMethod(numpy, "asarray", "O", tensor) : nullptr;
  exportsBits = false;
  Py_XDECREF(numpy);
  if (array && isBfloat) {
    Py_SETREF(array, PyObject_CallMethod(array, "view", "O", dtype));
  }
  Py_XDECREF(dtype);
  return array;
}

} // namespace tracec::python
