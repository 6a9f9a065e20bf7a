// x[index], x[index] = value, len, iteration and `in`. A Python index becomes RawIndex entries here
// and nowhere else; normalizeIndex does the rest.

#include "FromArray.h"
#include "FromPython.h"
#include "Sequences.h"
#include "Sizes.h"
#include "TensorObject.h"
#include "ToPython.h"
#include "tracert/IndexNormalizer.h"

#include <cstring>
#include <memory>
#include <new>
#include <utility>

namespace tracec::python {

using tracert::AttrValue;
using tracert::IndexItems;
using tracert::OpCall;
using tracert::OpKind;
using tracert::RawIndex;

namespace {

bool fail(const Status &status) {
  raise(status);
  return false;
}

/// A Python index, read but not yet normalised.
struct ParsedIndex {
  std::vector<RawIndex> entries;
  /// Operands of the entries, in order.
  Values extras;
  bool isIntsOnly = true;

  /// `rank` is that of the indexed tensor.
  bool read(PyObject *index, size_t rank);

private:
  bool readEntry(PyObject *entry);
  bool readSlice(PyObject *slice);
  bool readBound(PyObject *bound, std::optional<int64_t> &literal, bool &isOperand);
  bool readInt(PyObject *entry);
  bool readBool(bool value);
  bool readArray(PyObject *entry);
};

std::shared_ptr<const IndexItems> normalize(const ParsedIndex &parsed, size_t rank) {
  Result<IndexItems> items = tracert::normalizeIndex(parsed.entries, rank);
  if (!items.ok()) {
    raise(items.status());
    return nullptr;
  }
  return std::make_shared<const IndexItems>(std::move(*items));
}

/// An exception set aside; the first one that is held stays.
class HeldError {
public:
  HeldError() = default;
  HeldError(const HeldError &) = delete;
  HeldError &operator=(const HeldError &) = delete;
  ~HeldError() {
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(trace);
  }
  bool isHeld() const { return type != nullptr; }
  void hold() {
    if (isHeld()) {
      PyErr_Clear();
    } else {
      PyErr_Fetch(&type, &value, &trace);
    }
  }
  void restore() {
    PyErr_Restore(std::exchange(type, nullptr), std::exchange(value, nullptr),
                  std::exchange(trace, nullptr));
  }

private:
  PyObject *type = nullptr;
  PyObject *value = nullptr;
  PyObject *trace = nullptr;
};

bool ParsedIndex::read(PyObject *index, size_t rank) {
  if (!PyTuple_Check(index)) {
    entries.reserve(1);
    return readEntry(index);
  }
  Items items;
  if (!items.read(index)) {
    return false;
  }
  entries.reserve(static_cast<size_t>(items.size()));
  // What is no index at all, or one entry too many, wins over a bad slice, as in NumPy.
  HeldError sliceError;
  for (PyObject *item : items) {
    if (readEntry(item)) {
      continue;
    }
    if (!PySlice_Check(item)) {
      return false;
    }
    sliceError.hold();
    entries.push_back(RawIndex::slice({}, {}));
  }
  if (!sliceError.isHeld()) {
    return true;
  }
  if (normalize(*this, rank)) {
    sliceError.restore();
  }
  return false;
}

bool ParsedIndex::readEntry(PyObject *entry) {
  if (PyLong_CheckExact(entry)) {
    return readInt(entry);
  }
  if (PySlice_Check(entry)) {
    isIntsOnly = false;
    return readSlice(entry);
  }
  if (entry == Py_None) {
    isIntsOnly = false;
    entries.push_back(RawIndex::newAxis());
    return true;
  }
  if (entry == Py_Ellipsis) {
    isIntsOnly = false;
    entries.push_back(RawIndex::ellipsis());
    return true;
  }
  if (PyBool_Check(entry)) {
    return readBool(entry == Py_True);
  }
  if (isSize(entry)) {
    RawIndex position{.kind = RawIndex::Kind::Int, .beginIsOperand = true};
    Result<Value> value = sizeValue(entry);
    if (!value.ok()) {
      return fail(value.status());
    }
    entries.push_back(position);
    extras.push_back(std::move(*value));
    return true;
  }
  // NumPy scalars have __index__, too, and so have arrays, which differ in being writable.
  bool isScalar =
      PyIndex_Check(entry) && !isTensor(entry) &&
      !PyObject_HasAttrString(reinterpret_cast<PyObject *>(Py_TYPE(entry)), "__setitem__");
  if (isScalar && PyObject_CheckBuffer(entry) && arrayDType(entry) == DType::Bool) {
    int truth = PyObject_IsTrue(entry);
    return truth >= 0 && readBool(truth != 0);
  }
  if (isScalar) {
    return readInt(entry);
  }
  return readArray(entry);
}

bool ParsedIndex::readInt(PyObject *entry) {
  PyObject *number = PyNumber_Index(entry);
  if (!number) {
    return false;
  }
  int overflow = 0;
  int64_t position = PyLong_AsLongLongAndOverflow(number, &overflow);
  Py_DECREF(number);
  if (overflow) {
    raiseFormat(PyExc_IndexError, "index %S is out of range", entry);
    return false;
  }
  entries.push_back(RawIndex::integer(position));
  return true;
}

bool ParsedIndex::readBool(bool value) {
  PythonScalar scalar;
  scalar.kind = PythonScalar::Kind::Bool;
  scalar.intValue = value;
  Result<Value> mask = scalarValue(scalar, DType::Bool);
  if (!mask.ok()) {
    return fail(mask.status());
  }
  isIntsOnly = false;
  entries.push_back(RawIndex::mask(0));
  extras.push_back(std::move(*mask));
  return true;
}

bool ParsedIndex::readArray(PyObject *entry) {
  Value value;
  if (!isTensor(entry) && !isSequence(entry) && !isArrayLike(entry)) {
    raiseFormat(PyExc_IndexError,
                "an index must be ints, slices, None, ... or integer or bool arrays, got %s",
                Py_TYPE(entry)->tp_name);
    return false;
  }
  if (!readIndexArray(entry, value)) {
    return false;
  }
  isIntsOnly = false;
  if (tracert::isBool(value->dtype())) {
    entries.push_back(RawIndex::mask(value->shape().size()));
  } else if (tracert::isInteger(value->dtype())) {
    entries.push_back(RawIndex::intArray());
  } else {
    raiseFormat(PyExc_IndexError, "an index tensor must have integers or bools, got %s",
                value->type().str().c_str());
    return false;
  }
  extras.push_back(std::move(value));
  return true;
}

bool ParsedIndex::readBound(PyObject *bound, std::optional<int64_t> &literal, bool &isOperand) {
  if (bound == Py_None) {
    return true;
  }
  if (isSize(bound) || isTensor(bound)) {
    Result<Value> value = isSize(bound) ? sizeValue(bound) : tensorOf(bound).read();
    if (!value.ok()) {
      return fail(value.status());
    }
    if (!(*value)->shape().empty() || !tracert::isInteger((*value)->dtype())) {
      raiseAdvice(PyExc_TypeError, "pass an int, or a rank-0 tensor of integers",
                  "a slice bound must be an int or an integer tensor of rank 0, got %s",
                  (*value)->type().str().c_str());
      return false;
    }
    // A uint64 beyond int64 clamps as any bound; a cast would wrap it.
    bool isWide = (*value)->dtype() == DType::UInt64;
    Result<Value> wide = isWide ? *value : castTo(std::move(*value), DType::Int64);
    if (!wide.ok()) {
      return fail(wide.status());
    }
    extras.push_back(std::move(*wide));
    isOperand = true;
    return true;
  }
  if (!PyIndex_Check(bound)) {
    raiseAdvice(PyExc_TypeError, "write ints between the colons, e.g. with int(...)",
                "a slice bound must be an int, None or an integer tensor, got %s",
                Py_TYPE(bound)->tp_name);
    return false;
  }
  // Bounds clamp, so those beyond 64 bits do, too.
  Py_ssize_t number = PyNumber_AsSsize_t(bound, nullptr);
  if (number == -1 && PyErr_Occurred()) {
    return false;
  }
  literal = number;
  return true;
}

bool ParsedIndex::readSlice(PyObject *object) {
  auto *slice = reinterpret_cast<PySliceObject *>(object);
  RawIndex raw{.kind = RawIndex::Kind::Slice};
  if (!readBound(slice->start, raw.begin, raw.beginIsOperand) ||
      !readBound(slice->stop, raw.end, raw.endIsOperand)) {
    return false;
  }
  if (slice->step != Py_None) {
    if (!PyIndex_Check(slice->step)) {
      raiseAdvice(PyExc_TypeError, "write an int after the second colon, e.g. with int(...)",
                  "a slice step must be an int, got %s", Py_TYPE(slice->step)->tp_name);
      return false;
    }
    Py_ssize_t step = PyNumber_AsSsize_t(slice->step, nullptr);
    if (step == -1 && PyErr_Occurred()) {
      return false;
    }
    raw.step = step < -PY_SSIZE_T_MAX ? -PY_SSIZE_T_MAX : step;
  }
  entries.push_back(raw);
  return true;
}

PyObject *getAt(const Tensor &tensor, const ParsedIndex &parsed, size_t rank) {
  std::shared_ptr<const IndexItems> items = normalize(parsed, rank);
  if (!items) {
    return nullptr;
  }
  // Ints that use up every axis give a value of their own; other basic indices give views.
  bool isElement = parsed.isIntsOnly && parsed.entries.size() == rank;
  if (items->isBasic() && !isElement) {
    return wrapResult(
        tensor.view(OpCall{OpKind::subtensor, {AttrValue::index(items)}}, parsed.extras));
  }
  Result<Value> value = tensor.read();
  if (!value.ok()) {
    return raise(value.status());
  }
  return wrapResult(getItem(*value, items, parsed.extras));
}

PyObject *getSubscript(PyObject *self, PyObject *index) {
  ParsedIndex parsed;
  Result<TensorType> type = tensorOf(self).type();
  if (!type.ok()) {
    return raise(type.status());
  }
  return parsed.read(index, type->rank()) ? getAt(tensorOf(self), parsed, type->rank()) : nullptr;
}

/// The right-hand side of a setitem: Python numbers by their own rule, data cast unsafely.
bool readAssigned(PyObject *object, DType dtype, Value &value) {
  if (isPythonScalar(object)) {
    Result<Value> scalar = setItemScalar(readScalar(object), dtype);
    if (!scalar.ok()) {
      return fail(scalar.status());
    }
    value = std::move(*scalar);
    return true;
  }
  if (isSize(object)) {
    Result<Value> size = sizeValue(object);
    if (!size.ok()) {
      return fail(size.status());
    }
    Result<Value> cast = sizeAs(std::move(*size), dtype);
    if (!cast.ok()) {
      return fail(cast.status());
    }
    value = std::move(*cast);
    return true;
  }
  return readValue(object, std::nullopt, value);
}

int setSubscript(PyObject *self, PyObject *index, PyObject *object) {
  if (!object) {
    raiseFormat(PyExc_ValueError, "del of elements of a tensor is not possible");
    return -1;
  }
  Tensor &tensor = tensorOf(self);
  Result<TensorType> type = tensor.type();
  if (!type.ok()) {
    return raiseInt(type.status());
  }
  ParsedIndex parsed;
  Value value;
  if (!parsed.read(index, type->rank())) {
    return -1;
  }
  std::shared_ptr<const IndexItems> items = normalize(parsed, type->rank());
  if (!items || !readAssigned(object, type->dtype, value)) {
    return -1;
  }
  Status status = tensor.setItem(items, std::move(value), parsed.extras);
  return status.ok() ? 0 : raiseInt(status);
}

Py_ssize_t length(PyObject *self) {
  Result<TensorType> type = tensorOf(self).type();
  if (!type.ok()) {
    return raiseInt(type.status());
  }
  if (type->rank() == 0) {
    raiseAdvice(PyExc_TypeError, "use x.size for the number of elements, or x.reshape(1)",
                "a tensor of rank 0 has no length");
    return -1;
  }
  Result<int64_t> size = hostSize(tensorOf(self), 0);
  return size.ok() ? *size : raiseInt(size.status());
}

PyObject *rowOf(const Tensor &tensor, int64_t position) {
  Result<TensorType> type = tensor.type();
  if (!type.ok()) {
    return raise(type.status());
  }
  ParsedIndex parsed;
  parsed.entries.push_back(RawIndex::integer(position));
  return getAt(tensor, parsed, type->rank());
}

PyObject *sequenceItem(PyObject *self, Py_ssize_t position) {
  return rowOf(tensorOf(self), position);
}

/// (self == value).any()
int contains(PyObject *self, PyObject *value) {
  PyObject *equal = PyObject_RichCompare(self, value, Py_EQ);
  if (!equal || !isTensor(equal)) {
    int truth = equal ? PyObject_IsTrue(equal) : -1;
    Py_XDECREF(equal);
    return truth;
  }
  Result<Value> host = tensorOf(equal).readForHost();
  Py_DECREF(equal);
  if (!host.ok()) {
    return raiseInt(host.status());
  }
  const EvalOptions &options = evalOptions();
  return tracert::countTrue({options.pool.get(), options.target, &tracert::processAllocator(),
                             tracert::IndexMode::Checked},
                            (*host)->view()) > 0;
}

struct IteratorObject {
  PyObject_HEAD PyObject *tensor;
  int64_t next;
  int64_t count;
};

PyTypeObject iteratorType = {PyVarObject_HEAD_INIT(nullptr, 0)};

void deallocateIterator(PyObject *self) {
  Py_XDECREF(reinterpret_cast<IteratorObject *>(self)->tensor);
  PyObject_Free(self);
}

PyObject *nextRow(PyObject *self) {
  auto *iterator = reinterpret_cast<IteratorObject *>(self);
  return iterator->next < iterator->count ? rowOf(tensorOf(iterator->tensor), iterator->next++)
                                          : nullptr;
}

/// What an update of a tensor takes, read from Python.
struct Update {
  Value x;
  ParsedIndex parsed;
  std::shared_ptr<const IndexItems> items;
  Operand value;

  /// False with an exception set.
  bool read(PyObject *tensor, PyObject *index, PyObject *given, const char *function) {
    PyObject *objects[] = {tensor, given};
    Operand operands[2];
    if (!readOperands(objects, 2, function, operands)) {
      return false;
    }
    if (operands[0].isScalar) {
      return fail(Status::invalidType("'" + std::string(function) +
                                      "' expects a tensor to change, got a number"));
    }
    x = std::move(operands[0].value);
    value = std::move(operands[1]);
    size_t rank = x->shape().size();
    if (!parsed.read(index, rank)) {
      return false;
    }
    items = normalize(parsed, rank);
    return items != nullptr;
  }
};

} // namespace

PyObject *updateTensor(OpKind set, const char *function, PyObject *x, PyObject *index,
                       PyObject *value) {
  Update update;
  if (!update.read(x, index, value, function)) {
    return nullptr;
  }
  return wrapResult(updated(set, update.x, update.items, update.value, update.parsed.extras));
}

PyObject *updateTensorInPlace(OpKind set, const char *function, PyObject *x, PyObject *index,
                              PyObject *value) {
  Update update;
  if (!update.read(x, index, value, function)) {
    return nullptr;
  }
  // Its reference would keep the tensor from being changed in place.
  update.x = Value();
  Status status = updateInPlace(set, tensorOf(x), update.items, update.value, update.parsed.extras);
  return status.ok() ? Py_NewRef(Py_None) : raise(status);
}

PyObject *iterateTensor(PyObject *self) {
  Py_ssize_t count = length(self);
  if (count < 0) {
    return nullptr;
  }
  IteratorObject *iterator = PyObject_New(IteratorObject, &iteratorType);
  if (iterator) {
    iterator->tensor = Py_NewRef(self);
    iterator->next = 0;
    iterator->count = count;
  }
  return reinterpret_cast<PyObject *>(iterator);
}

bool addIndexTypes() {
  iteratorType.tp_name = "tracec.tensor_iterator";
  iteratorType.tp_basicsize = sizeof(IteratorObject);
  iteratorType.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION;
  iteratorType.tp_dealloc = deallocateIterator;
  iteratorType.tp_iter = PyObject_SelfIter;
  iteratorType.tp_iternext = nextRow;
  return PyType_Ready(&iteratorType) == 0;
}

PyMappingMethods tensorMapping = {length, getSubscript, setSubscript};
PySequenceMethods tensorSequence = {
    .sq_length = length,
    .sq_item = sequenceItem,
    .sq_contains = contains,
};

} // namespace tracec::python
