#include "FromPython.h"

#include "FromArray.h"
#include "NestedData.h"
#include "Sequences.h"
#include "Sizes.h"
#include "TensorObject.h"

#include <limits>

namespace tracec::python {

namespace {

bool fail(const Status &status) {
  raise(status);
  return false;
}

/// `row` with a new first axis, appended to `rows`, which must have the same rank.
bool appendRow(const Value &row, std::vector<Operand> &rows) {
  size_t rank = row->shape().size();
  if (!rows.empty() && rank + 1 != rows[0].value->shape().size()) {
    raiseFormat(PyExc_ValueError,
                "tensor() got a ragged nested sequence: entry %zu has rank %zu, entry 0 has %zu",
                rows.size(), rank, rows[0].value->shape().size() - 1);
    return false;
  }
  if (rank == tracert::kMaxRank) {
    raiseFormat(PyExc_ValueError, "a list of tensors of rank %zu gives one axis too many", rank);
    return false;
  }
  auto axes = std::make_shared<tracert::IndexItems>();
  axes->items.push_back({.kind = tracert::IndexItemKind::NewAxis});
  axes->items.resize(rank + 1);
  Result<Value> expanded = getItem(row, axes, {});
  if (!expanded.ok()) {
    return fail(expanded.status());
  }
  rows.push_back(Operand::of(std::move(*expanded)));
  return true;
}

/// A list with tensors in it: each entry with a new first axis, joined.
bool stackSequence(PyObject *object, std::optional<DType> dtype, Value &value) {
  Items items;
  // A sequence that makes its items may go on for ever.
  if (!items.read(object) || Py_EnterRecursiveCall(" while stacking tensors")) {
    return false;
  }
  std::vector<Operand> rows;
  bool ok = true;
  for (Py_ssize_t i = 0; ok && i < items.size(); ++i) {
    Value row;
    ok = readValue(items[i], std::nullopt, row) && appendRow(row, rows);
  }
  Py_LeaveRecursiveCall();
  if (!ok) {
    return false;
  }
  Result<Value> stacked = concat(rows, 0);
  if (!stacked.ok()) {
    return fail(stacked.status());
  }
  Result<Value> cast = dtype ? castTo(std::move(*stacked), *dtype) : std::move(stacked);
  if (!cast.ok()) {
    return fail(cast.status());
  }
  value = std::move(*cast);
  return true;
}

/// Ends the reading of host data.
bool enter(Value &value) {
  Result<Value> seen = stack().onHostData(std::move(value));
  if (!seen.ok()) {
    return fail(seen.status());
  }
  value = std::move(*seen);
  return true;
}

bool readTensor(PyObject *object, Value &value) {
  const Tensor &tensor = tensorOf(object);
  if (!tensor.isView() && !hasTransforms()) [[likely]] {
    value = tensor.cellRef()->value;
    return true;
  }
  Result<Value> read = tensor.read();
  if (!read.ok()) [[unlikely]] {
    return fail(read.status());
  }
  value = std::move(*read);
  return true;
}

/// A Size is read as the int 1, which promotes alike; resolveSizes puts its value in.
Reading tryOperand(PyObject *object, Operand &operand) {
  if (isTensor(object)) [[likely]] {
    return readTensor(object, operand.value) ? Reading::Ok : Reading::Error;
  }
  if (isPythonScalar(object)) {
    operand.scalar = readScalar(object);
    operand.isScalar = true;
    return Reading::Ok;
  }
  if (isSize(object)) {
    operand.scalar.intValue = 1;
    operand.isScalar = true;
    return Reading::Ok;
  }
  if (isSequence(object) || isArrayLike(object)) {
    return readValue(object, std::nullopt, operand.value) ? Reading::Ok : Reading::Error;
  }
  return Reading::NotANumber;
}

bool resolveSizes(PyObject *const *objects, size_t count, Operand *operands) {
  Result<DType> dtype = promote({operands, count});
  if (!dtype.ok()) {
    return fail(dtype.status());
  }
  for (size_t i = 0; i < count; ++i) {
    if (!isSize(objects[i])) {
      continue;
    }
    Result<Value> value = sizeValue(objects[i]);
    if (!value.ok()) {
      return fail(value.status());
    }
    Result<Value> cast = sizeAs(std::move(*value), *dtype);
    if (!cast.ok()) {
      return fail(cast.status());
    }
    operands[i] = Operand::of(std::move(*cast));
  }
  return true;
}

} // namespace

Result<Value> ownValue(Value value, PyObject *source) {
  // Not by the value alone: that of a whole tensor may lie in another one's memory by chance, which
  // a later replay could not know.
  bool isPart = isTensor(source) && tensorOf(source).isView() && value->isAlias;
  return isPart ? copyValue(std::move(value)) : value;
}

Result<Value> copyValue(Value value) {
  if (value->shape().empty()) {
    return value;
  }
  Operand operand = Operand::of(std::move(value));
  return concat({&operand, 1}, 0);
}

bool isPythonScalar(PyObject *object) {
  return PyFloat_CheckExact(object) || PyLong_CheckExact(object) || PyBool_Check(object) ||
         // np.float64 is a float, but a strong one.
         ((PyLong_Check(object) || PyFloat_Check(object)) && !PyObject_CheckBuffer(object));
}

PythonScalar readScalar(PyObject *object) {
  PythonScalar scalar;
  if (PyBool_Check(object)) {
    scalar.kind = PythonScalar::Kind::Bool;
    scalar.intValue = object == Py_True;
    return scalar;
  }
  if (PyFloat_Check(object)) {
    scalar.kind = PythonScalar::Kind::Float;
    scalar.floatValue = PyFloat_AS_DOUBLE(object);
    return scalar;
  }
  int overflow = 0;
  scalar.intValue = PyLong_AsLongLongAndOverflow(object, &overflow);
  if (overflow) {
    scalar.isBigInt = true;
    scalar.intValue = overflow > 0 ? static_cast<int64_t>(PyLong_AsUnsignedLongLong(object)) : 0;
    if (PyErr_Occurred()) {
      PyErr_Clear();
      scalar.intValue = 0;
    }
    scalar.floatValue = PyLong_AsDouble(object);
    if (PyErr_Occurred()) {
      PyErr_Clear();
      scalar.floatValue = overflow * std::numeric_limits<double>::infinity();
    }
  }
  return scalar;
}

Reading tryOperands(PyObject *const *objects, size_t count, Operand *operands) {
  bool hasSizes = false;
  for (size_t i = 0; i < count; ++i) {
    Reading reading = tryOperand(objects[i], operands[i]);
    if (reading != Reading::Ok) [[unlikely]] {
      return reading;
    }
    hasSizes |= operands[i].isScalar && isSize(objects[i]);
  }
  if (hasSizes && !resolveSizes(objects, count, operands)) {
    return Reading::Error;
  }
  return Reading::Ok;
}

bool readOperands(PyObject *const *objects, size_t count, const char *function, Operand *operands) {
  for (size_t i = 0; i < count; ++i) {
    bool isNumber = isTensor(objects[i]) || isPythonScalar(objects[i]) || isSize(objects[i]) ||
                    isSequence(objects[i]) || isArrayLike(objects[i]);
    if (!isNumber) {
      raiseAdvice(PyExc_TypeError, "convert it to a number, an array or a tensor first",
                  "%s() expects tensors, arrays or numbers, got %s", function,
                  Py_TYPE(objects[i])->tp_name);
      return false;
    }
  }
  return tryOperands(objects, count, operands) == Reading::Ok;
}

bool readValue(PyObject *object, std::optional<DType> dtype, Value &value) {
  if (isTensor(object)) {
    if (!readTensor(object, value)) {
      return false;
    }
    Result<Value> cast = dtype ? castTo(std::move(value), *dtype) : std::move(value);
    if (!cast.ok()) {
      return fail(cast.status());
    }
    value = std::move(*cast);
    return true;
  }
  if (!isPythonScalar(object) && !isSequence(object) && isArrayLike(object)) {
    return copyArray(object, /*widenIntegers=*/false, value) &&
           (!dtype || castOnHost(value, *dtype)) && enter(value);
  }
  Nest nest;
  if (!nest.scan(object, 0)) {
    return false;
  }
  if (nest.hasTensors) {
    return stackSequence(object, dtype, value);
  }
  return buildNest(object, nest, dtype, value) && enter(value);
}

bool readIndexArray(PyObject *object, Value &value) {
  if (isTensor(object)) {
    return readTensor(object, value);
  }
  if (!isSequence(object) && isArrayLike(object)) {
    if (copyArray(object, /*widenIntegers=*/true, value)) {
      return enter(value);
    }
    if (PyErr_ExceptionMatches(PyExc_TypeError)) {
      PyErr_Clear();
      raiseFormat(PyExc_IndexError, "an index array must have integers or bools, got %s of %S",
                  Py_TYPE(object)->tp_name, Py_TYPE(object));
    }
    return false;
  }
  Nest nest;
  if (!nest.scan(object, 0)) {
    if (PyErr_ExceptionMatches(PyExc_TypeError) || PyErr_ExceptionMatches(PyExc_ValueError)) {
      PyErr_Clear();
      raiseFormat(PyExc_IndexError,
                  "a sequence used as an index must hold integers or bools, got %R", object);
    }
    return false;
  }
  if (nest.hasTensors) {
    return stackSequence(object, std::nullopt, value);
  }
  bool isMask = nest.hasBool && !nest.hasInt && !nest.hasFloat && !nest.strong;
  if (nest.hasFloat || nest.hasStrong(tracert::DTypeCategory::Float)) {
    raiseFormat(PyExc_IndexError, "an index must be integers or bools, got floats");
    return false;
  }
  isMask |= nest.strong == tracert::dtypeBit(DType::Bool) && !nest.hasInt;
  return buildNest(object, nest, isMask ? DType::Bool : DType::Int64, value) && enter(value);
}

bool borrowArray(PyObject *object, Value &value) {
  if (!isArrayLike(object) || isPythonScalar(object)) {
    raiseFormat(PyExc_ValueError, "copy=False needs an array, got %s", Py_TYPE(object)->tp_name);
    return false;
  }
  return shareArray(object, value) && enter(value);
}

} // namespace tracec::python
