#include "FromArray.h"

#include "DTypes.h"
#include "tracec/Dispatch.h"
#include "tracec/InterpreterLock.h"
#include "tracert/Kernels.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cctype>
#include <cstring>
#include <memory>
#include <vector>

namespace tracec::python {

using tracert::DTypeCategory;

namespace {

static_assert(std::endian::native == std::endian::little);

/// What one element of a buffer is.
struct Element {
  DTypeCategory kind;
  size_t size;
  bool isSwapped;

  bool isBfloat = false;

  std::optional<DType> dtype() const {
    return isBfloat ? DType::BFloat16 : tracert::dtypeOf(kind, size);
  }
};

/// Sizes that a format letter can have, as bits; native and standard sizes differ for l.
size_t sizesOf(char letter) {
  switch (letter) {
  case '?':
  case 'b':
  case 'B':
    return 1;
  case 'h':
  case 'H':
  case 'e':
    return 2;
  case 'i':
  case 'I':
  case 'f':
    return 4;
  case 'l':
  case 'L':
    return 4 | 8;
  case 'q':
  case 'Q':
  case 'n':
  case 'N':
  case 'd':
    return 8;
  default:
    return 0;
  }
}

std::optional<Element> parseFormat(const Py_buffer &buffer) {
  const char *format = buffer.format ? buffer.format : "B";
  bool isSwapped = *format == '>' || *format == '!';
  if (std::strchr("@=<>!", *format) && *format) {
    ++format;
  }
  size_t size = static_cast<size_t>(buffer.itemsize);
  bool isOne = format[0] != '\0' && format[1] == '\0';
  if (!isOne || !std::has_single_bit(size) || (sizesOf(*format) & size) == 0) {
    return std::nullopt;
  }
  DTypeCategory kind = *format == '?'                ? DTypeCategory::Bool
                       : std::strchr("efd", *format) ? DTypeCategory::Float
                       : std::islower(*format)       ? DTypeCategory::Signed
                                                     : DTypeCategory::Unsigned;
  return Element{kind, size, isSwapped && size > 1};
}

/// Releases the buffer when it goes out of scope.
struct BufferGuard {
  /// As exported.
  Py_buffer held{};
  bool isHeld = false;
  /// The same with shape and strides, which point here when the exporter left them out.
  Py_buffer buffer{};
  std::vector<Py_ssize_t> ownShape;
  std::vector<Py_ssize_t> ownStrides;
  ~BufferGuard() {
    if (isHeld) {
      PyBuffer_Release(&held);
    }
  }
};

bool failDType(PyObject *object) {
  PyErr_Clear();
  PyObject *dtype = PyObject_GetAttrString(object, "dtype");
  PyErr_Clear();
  if (dtype) {
    raiseAdvice(PyExc_TypeError, "convert the array first, e.g. with array.astype('float32')",
                "unsupported array dtype %S", dtype);
    Py_DECREF(dtype);
  } else {
    raiseAdvice(PyExc_TypeError, "pass an array of a supported dtype, or a list of numbers",
                "unsupported element format of %s", Py_TYPE(object)->tp_name);
  }
  return false;
}

/// PEP 3118 lets an exporter leave shape and strides null, whatever was asked for.
bool fillGaps(PyObject *object, BufferGuard &guard) {
  Py_buffer &buffer = guard.buffer;
  if (buffer.ndim < 0 || buffer.ndim > static_cast<int>(tracert::kMaxRank)) {
    raiseFormat(PyExc_ValueError, "%s has %d axes, the limit is %zu", Py_TYPE(object)->tp_name,
                buffer.ndim, tracert::kMaxRank);
    return false;
  }
  size_t rank = static_cast<size_t>(buffer.ndim);
  if (!buffer.shape && rank > 1) {
    raiseFormat(PyExc_ValueError, "the buffer of %s has %zu axes but no shape",
                Py_TYPE(object)->tp_name, rank);
    return false;
  }
  if (!buffer.shape) {
    guard.ownShape.assign(rank, buffer.len / buffer.itemsize);
    buffer.shape = guard.ownShape.data();
  }
  if (!buffer.strides) {
    guard.ownStrides.assign(rank, buffer.itemsize);
    for (size_t axis = rank; axis-- > 1;) {
      guard.ownStrides[axis - 1] = guard.ownStrides[axis] * buffer.shape[axis];
    }
    buffer.strides = guard.ownStrides.data();
  }
  return true;
}

/// The rows of a buffer are found through pointers.
bool isIndirect(const Py_buffer &buffer) {
  for (int axis = 0; buffer.suboffsets && axis < buffer.ndim; ++axis) {
    if (buffer.suboffsets[axis] >= 0) {
      return true;
    }
  }
  return false;
}

bool openBuffer(PyObject *object, BufferGuard &guard, std::optional<Element> &element);

/// Buffers have no letter for ml_dtypes' bfloat16, so its bits are read.
bool openBfloats(PyObject *object, BufferGuard &guard, std::optional<Element> &element) {
  PyObject *bits = PyObject_CallMethod(object, "view", "s", "uint16");
  bool ok = bits && openBuffer(bits, guard, element);
  Py_XDECREF(bits);
  if (ok) {
    element->isBfloat = true;
  }
  return ok;
}

/// The buffer of `object`, or of what its __array__ gives.
bool openBuffer(PyObject *object, BufferGuard &guard, std::optional<Element> &element) {
  if (PyObject_CheckBuffer(object)) {
    if (PyObject_GetBuffer(object, &guard.held, PyBUF_FULL_RO) < 0) {
      PyErr_Clear();
      return arrayDType(object) == DType::BFloat16 ? openBfloats(object, guard, element)
                                                   : failDType(object);
    }
    guard.isHeld = true;
    guard.buffer = guard.held;
    element = parseFormat(guard.buffer);
    return element ? fillGaps(object, guard) : failDType(object);
  }
  PyObject *array = PyObject_CallMethod(object, "__array__", nullptr);
  if (!array) {
    return false;
  }
  bool isArray = PyObject_CheckBuffer(array) && !PyBytes_Check(array) && !PyByteArray_Check(array);
  bool ok = isArray ? openBuffer(array, guard, element)
                    : (raiseAdvice(PyExc_TypeError, "make __array__ return a numpy.ndarray",
                                   "__array__ of %s gave no array", Py_TYPE(object)->tp_name),
                       false);
  Py_DECREF(array);
  return ok;
}

/// Calls visit(source) for each element in row-major order.
template <class F>
void eachElement(const Py_buffer &buffer, int axis, const char *data, F &&visit) {
  if (axis == buffer.ndim) {
    visit(data);
    return;
  }
  for (Py_ssize_t i = 0; i < buffer.shape[axis]; ++i) {
    const char *part = data + i * buffer.strides[axis];
    if (buffer.suboffsets && buffer.suboffsets[axis] >= 0) {
      const char *pointed;
      std::memcpy(static_cast<void *>(&pointed), part, sizeof(pointed));
      part = pointed + buffer.suboffsets[axis];
    }
    eachElement(buffer, axis + 1, part, visit);
  }
}

void loadElement(const char *source, const Element &element, char *target) {
  std::memcpy(target, source, element.size);
  if (element.isSwapped) {
    std::reverse(target, target + element.size);
  }
}

/// The integer as int64; false for an unsigned one that does not fit.
bool widen(const char *source, const Element &element, int64_t *target) {
  char bytes[8] = {};
  loadElement(source, element, bytes);
  uint64_t bits;
  std::memcpy(&bits, bytes, sizeof(bits));
  if (element.kind == DTypeCategory::Signed) {
    int shift = static_cast<int>(64 - 8 * element.size);
    *target = static_cast<int64_t>(bits << shift) >> shift;
    return true;
  }
  *target = static_cast<int64_t>(bits);
  return *target >= 0;
}

bool isAligned(const Py_buffer &buffer, size_t size) {
  auto misaligned = reinterpret_cast<uintptr_t>(buffer.buf) % size;
  for (int i = 0; i < buffer.ndim; ++i) {
    misaligned |= static_cast<uintptr_t>(buffer.strides[i]) % size;
  }
  return misaligned == 0;
}

TensorView viewOfBuffer(const Py_buffer &buffer, DType dtype) {
  TensorView view;
  view.data = buffer.buf;
  view.dtype = dtype;
  view.shape = Dims(buffer.shape, buffer.shape + buffer.ndim);
  view.strides = Dims(buffer.strides, buffer.strides + buffer.ndim);
  return view;
}

/// Any non-zero byte counts as true, as in NumPy; ours are 0 and 1 only.
void normaliseBools(const TensorView &view) {
  auto *bytes = static_cast<uint8_t *>(view.data);
  for (int64_t i = 0; i < view.elementCount(); ++i) {
    bytes[i] = bytes[i] != 0;
  }
}

bool widenAll(const Py_buffer &buffer, const Element &element, Value &value) {
  Result<Value> fresh =
      allocateValue({DType::Int64, Dims(buffer.shape, buffer.shape + buffer.ndim)});
  if (!fresh.ok()) {
    raise(fresh.status());
    return false;
  }
  auto *target = static_cast<int64_t *>((*fresh)->view().data);
  bool fits = true;
  eachElement(buffer, 0, static_cast<const char *>(buffer.buf),
              [&](const char *source) { fits &= widen(source, element, target++); });
  if (!fits) {
    raiseFormat(PyExc_IndexError, "an index of an unsigned array is 2**63 or more");
    return false;
  }
  value = std::move(*fresh);
  return true;
}

} // namespace

bool isArrayLike(PyObject *object) {
  if (PyBytes_Check(object) || PyByteArray_Check(object) || PyUnicode_Check(object) ||
      PyType_Check(object)) {
    return false;
  }
  return PyObject_CheckBuffer(object) ||
         PyObject_HasAttrString(reinterpret_cast<PyObject *>(Py_TYPE(object)), "__array__");
}

std::optional<DType> arrayDType(PyObject *object) {
  PyObject *attribute = PyObject_GetAttrString(object, "dtype");
  std::optional<DType> dtype;
  if (!attribute || !readDType(attribute, dtype)) {
    PyErr_Clear();
  }
  Py_XDECREF(attribute);
  return dtype;
}

bool copyArray(PyObject *object, bool widenIntegers, Value &value) {
  BufferGuard guard;
  std::optional<Element> element;
  if (!openBuffer(object, guard, element)) {
    return false;
  }
  const Py_buffer &buffer = guard.buffer;
  std::optional<DType> dtype = element->dtype();
  if (!dtype) {
    bool isInteger =
        element->kind == DTypeCategory::Signed || element->kind == DTypeCategory::Unsigned;
    return widenIntegers && isInteger ? widenAll(buffer, *element, value) : failDType(object);
  }
  Result<Value> fresh = allocateValue({*dtype, Dims(buffer.shape, buffer.shape + buffer.ndim)});
  if (!fresh.ok()) {
    raise(fresh.status());
    return false;
  }
  const TensorView &target = (*fresh)->view();
  if (element->isSwapped || !isAligned(buffer, element->size) || isIndirect(buffer)) {
    char *bytes = static_cast<char *>(target.data);
    eachElement(buffer, 0, static_cast<const char *>(buffer.buf), [&](const char *source) {
      loadElement(source, *element, bytes);
      bytes += element->size;
    });
  } else {
    const EvalOptions &options = evalOptions();
    tracert::copyView({options.pool.get(), options.target, &tracert::processAllocator(),
                       tracert::IndexMode::Checked},
                      viewOfBuffer(buffer, *dtype), target);
  }
  if (*dtype == DType::Bool) {
    normaliseBools(target);
  }
  value = std::move(*fresh);
  return true;
}

bool shareArray(PyObject *object, Value &value) {
  auto guard = std::make_unique<BufferGuard>();
  std::optional<Element> element;
  if (!openBuffer(object, *guard, element)) {
    return false;
  }
  const Py_buffer &buffer = guard->buffer;
  std::optional<DType> dtype = element->dtype();
  // Bytes of a bool array may be other than 0 and 1.
  if (!dtype || *dtype == DType::Bool || element->isSwapped || !isAligned(buffer, element->size) ||
      isIndirect(buffer)) {
    raiseFormat(PyExc_ValueError, "copy=False, but this array must be converted");
    return false;
  }
  TensorView view = viewOfBuffer(buffer, *dtype);
  auto release = [](void *owner) {
    assert(!holdsScopedLock() && "values are dropped without a mutex");
    PyGILState_STATE state = PyGILState_Ensure();
    delete static_cast<BufferGuard *>(owner);
    PyGILState_Release(state);
  };
  tracert::BufferRef foreign(
      tracert::Buffer::foreign(buffer.buf, static_cast<size_t>(buffer.len), release, guard.get()));
  if (!foreign) {
    raise(Status::outOfMemory("out of memory for a borrowed array"));
    return false;
  }
  // The buffer owns it now.
  (void)guard.release();
  value = ValueImpl::makeReady(std::move(foreign), std::move(view));
  return true;
}

} // namespace tracec::python
