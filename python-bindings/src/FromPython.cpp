#include "FromPython.h"

#include "FromArray.h"
#include "Sizes.h"
#include "TensorObject.h"

#include <cmath>
#include <cstring>
#include <limits>

namespace tracec::python {

using tracert::AttrValue;
using tracert::OpCall;
using tracert::OpKind;

namespace {

bool fail(const Status &status) {
  raise(status);
  return false;
}

//===----------------------------------------------------------------------===//
// Nested lists
//===----------------------------------------------------------------------===//

bool isSequence(PyObject *object) {
  return PyList_Check(object) || PyTuple_Check(object) || Py_IS_TYPE(object, &PyRange_Type);
}

/// Shape and leaf types of a nest, found in one walk before anything is allocated.
struct Nest {
  Dims shape;
  bool isRankFixed = false;
  /// Python leaves seen.
  bool hasBool = false;
  bool hasInt = false;
  bool hasFloat = false;
  /// Bit per DType of NumPy scalar leaves.
  uint32_t strong = 0;
  /// Tensors or arrays among the leaves: a stack.
  bool hasTensors = false;

  bool scan(PyObject *object, size_t depth);

private:
  bool scanLeaf(PyObject *object, size_t depth);
  bool raggedAt(size_t depth) {
    raiseFormat(
        PyExc_ValueError,
        "tensor() got a ragged nested sequence: the lists at depth %zu differ in length or depth",
        depth);
    return false;
  }
};

bool Nest::scan(PyObject *object, size_t depth) {
  if (!isSequence(object)) {
    return scanLeaf(object, depth);
  }
  if (depth >= tracert::kMaxRank) {
    raiseFormat(PyExc_ValueError, "nested deeper than %zu levels", tracert::kMaxRank);
    return false;
  }
  PyObject *items = PySequence_Fast(object, "expected a sequence");
  if (!items) {
    return false;
  }
  Py_ssize_t count = PySequence_Fast_GET_SIZE(items);
  bool ok = true;
  if (depth == shape.size()) {
    ok = !isRankFixed || raggedAt(depth);
    shape.push_back(count);
  } else {
    ok = shape[depth] == count || raggedAt(depth);
  }
  if (ok && count == 0) {
    ok = !isRankFixed || shape.size() == depth + 1 || raggedAt(depth);
    isRankFixed = true;
  }
  for (Py_ssize_t i = 0; ok && i < count; ++i) {
    ok = scan(PySequence_Fast_GET_ITEM(items, i), depth + 1);
  }
  Py_DECREF(items);
  return ok;
}

bool Nest::scanLeaf(PyObject *object, size_t depth) {
  if (isTensor(object)) {
    hasTensors = true;
    return true;
  }
  if (PyBool_Check(object)) {
    hasBool = true;
  } else if (isSize(object) || (PyLong_Check(object) && !PyObject_CheckBuffer(object))) {
    hasInt = true;
  } else if (PyFloat_Check(object) && !PyObject_CheckBuffer(object)) {
    hasFloat = true;
  } else if (isArrayLike(object)) {
    std::optional<DType> dtype = arrayDType(object);
    PyObject *rank = PyObject_GetAttrString(object, "ndim");
    bool isScalar = rank && PyLong_Check(rank) && PyLong_AsLong(rank) == 0;
    Py_XDECREF(rank);
    PyErr_Clear();
    if (!isScalar) {
      hasTensors = true;
      return true;
    }
    if (!dtype) {
      raiseFormat(PyExc_TypeError, "unsupported element of type %s in a nested sequence",
                  Py_TYPE(object)->tp_name);
      return false;
    }
    strong |= 1u << static_cast<int>(*dtype);
  } else {
    raiseFormat(PyExc_TypeError, "tensor() expects numbers, got %s", Py_TYPE(object)->tp_name);
    return false;
  }
  if (hasTensors) {
    return true;
  }
  if (isRankFixed && depth != shape.size()) {
    return raggedAt(depth);
  }
  isRankFixed = true;
  return depth == shape.size() || raggedAt(depth);
}

Result<DType> dtypeOfNest(const Nest &nest) {
  if (!nest.strong) {
    return nest.hasFloat  ? DType::Float32
           : nest.hasInt  ? DType::Int32
           : nest.hasBool ? DType::Bool
                          : DType::Float32;
  }
  std::vector<Operand> operands;
  for (DType dtype : tracert::kAllDTypes) {
    if (nest.strong & (1u << static_cast<int>(dtype))) {
      TRACERT_ASSIGN(Value example, allocateValue({dtype, {}}));
      operands.push_back(Operand::of(std::move(example)));
    }
  }
  using Kind = PythonScalar::Kind;
  const std::pair<bool, Kind> weak[] = {
      {nest.hasBool, Kind::Bool}, {nest.hasInt, Kind::Int}, {nest.hasFloat, Kind::Float}};
  for (auto [isSeen, kind] : weak) {
    if (isSeen) {
      operands.push_back(Operand::of(PythonScalar{.kind = kind}));
    }
  }
  return promote(operands);
}

/// Writes leaves one after another into memory of one dtype.
class LeafWriter {
public:
  LeafWriter(DType dtype, void *data, bool isInferred)
      : dtype(dtype), next(static_cast<char *>(data)), isInferred(isInferred) {}

  bool write(PyObject *object) {
    if (isSequence(object)) {
      PyObject *items = PySequence_Fast(object, "expected a sequence");
      bool ok = items != nullptr;
      for (Py_ssize_t i = 0; ok && i < PySequence_Fast_GET_SIZE(items); ++i) {
        ok = write(PySequence_Fast_GET_ITEM(items, i));
      }
      Py_XDECREF(items);
      return ok;
    }
    bool ok = dtype == DType::Bool        ? writeBool(object)
              : tracert::isInteger(dtype) ? writeInteger(object)
                                          : writeFloat(object);
    next += tracert::dtypeSize(dtype);
    return ok;
  }

private:
  bool writeBool(PyObject *object) {
    int truth = PyObject_IsTrue(object);
    *next = truth > 0;
    return truth >= 0;
  }

  bool writeInteger(PyObject *object) {
    int64_t value = 0;
    int overflow = 0;
    if (PyIndex_Check(object)) {
      PyObject *number = PyNumber_Index(object);
      if (!number) {
        return false;
      }
      value = PyLong_AsLongLongAndOverflow(number, &overflow);
      Py_DECREF(number);
    } else if (!truncate(object, &value, &overflow)) {
      return false;
    }
    if (overflow || !fits(value)) {
      raiseFormat(PyExc_OverflowError, "%S does not fit %s%s", object,
                  tracert::dtypeName(dtype).data(),
                  isInferred ? "; pass dtype=tc.int64 for larger integers" : "");
      return false;
    }
    std::memcpy(next, &value, tracert::dtypeSize(dtype)); // little endian
    return true;
  }

  /// A float (or NumPy bool) towards zero.
  bool truncate(PyObject *object, int64_t *value, int *overflow) {
    double number = PyFloat_AsDouble(object);
    if (number == -1 && PyErr_Occurred()) {
      return false;
    }
    if (std::isnan(number)) {
      raiseFormat(PyExc_ValueError, "NaN does not fit %s", tracert::dtypeName(dtype).data());
      return false;
    }
    number = std::trunc(number);
    *overflow = !(number >= -0x1p63 && number < 0x1p63);
    *value = *overflow ? 0 : static_cast<int64_t>(number);
    return true;
  }

  bool fits(int64_t value) const {
    switch (dtype) {
    case DType::UInt8:
      return value >= 0 && value <= std::numeric_limits<uint8_t>::max();
    case DType::Int32:
      return value >= std::numeric_limits<int32_t>::min() &&
             value <= std::numeric_limits<int32_t>::max();
    default:
      return true;
    }
  }

  bool writeFloat(PyObject *object) {
    double value;
    if (PyFloat_CheckExact(object)) {
      value = PyFloat_AS_DOUBLE(object);
    } else if (isSize(object) || PyLong_Check(object)) {
      return writeIntegerAsFloat(object);
    } else {
      value = PyFloat_AsDouble(object);
      if (value == -1 && PyErr_Occurred()) {
        return false;
      }
    }
    if (dtype == DType::Float32) {
      float narrow = static_cast<float>(value);
      std::memcpy(next, &narrow, sizeof(narrow));
    } else {
      std::memcpy(next, &value, sizeof(value));
    }
    return true;
  }

  /// Rounds once: an int64 must not go to float32 through double.
  bool writeIntegerAsFloat(PyObject *object) {
    PyObject *number = PyNumber_Index(object);
    if (!number) {
      return false;
    }
    int overflow = 0;
    int64_t value = PyLong_AsLongLongAndOverflow(number, &overflow);
    double wide = static_cast<double>(value);
    if (overflow) {
      wide = PyLong_AsDouble(number);
      if (wide == -1 && PyErr_Occurred()) {
        // Beyond double's range: rounds to infinity.
        PyErr_Clear();
        wide = overflow * std::numeric_limits<double>::infinity();
      }
    }
    Py_DECREF(number);
    if (dtype == DType::Float32) {
      float narrow = overflow ? static_cast<float>(wide) : static_cast<float>(value);
      std::memcpy(next, &narrow, sizeof(narrow));
    } else {
      std::memcpy(next, &wide, sizeof(wide));
    }
    return true;
  }

  DType dtype;
  char *next;
  bool isInferred;
};

/// A cast of host data, below all transforms: it is no op of the user's.
bool castOnHost(Value &value, DType dtype) {
  if (value->dtype() == dtype) {
    return true;
  }
  OpCall call{OpKind::cast, {AttrValue::dtype(dtype)}};
  Result<Values> results = evaluate(call, {&value, 1});
  if (!results.ok()) {
    return fail(results.status());
  }
  value = std::move(results->front());
  return true;
}

bool buildNest(PyObject *object, const Nest &nest, std::optional<DType> wanted, Value &value) {
  Result<DType> inferred = dtypeOfNest(nest);
  if (!inferred.ok()) {
    return fail(inferred.status());
  }
  DType dtype = wanted.value_or(*inferred);
  // Half is no arithmetic type: leaves are gathered in double and rounded once by the cast.
  DType stored = dtype == DType::Float16 ? DType::Float64 : dtype;
  Result<Value> fresh = allocateValue({stored, nest.shape});
  if (!fresh.ok()) {
    return fail(fresh.status());
  }
  LeafWriter writer(stored, (*fresh)->view().data, !wanted && !nest.strong);
  if (!writer.write(object)) {
    return false;
  }
  value = std::move(*fresh);
  return castOnHost(value, dtype);
}

/// A list with tensors in it: each entry with a new first axis, joined.
bool stackSequence(PyObject *object, std::optional<DType> dtype, Value &value) {
  PyObject *items = PySequence_Fast(object, "expected a sequence");
  if (!items) {
    return false;
  }
  std::vector<Operand> rows;
  bool ok = true;
  for (Py_ssize_t i = 0; ok && i < PySequence_Fast_GET_SIZE(items); ++i) {
    Value row;
    ok = readValue(PySequence_Fast_GET_ITEM(items, i), std::nullopt, row);
    if (ok && !rows.empty() && row->shape().size() + 1 != rows[0].value->shape().size()) {
      raiseFormat(PyExc_ValueError,
                  "tensor() got a ragged nested sequence: entry %zd has rank %zu, entry 0 has %zu",
                  i, row->shape().size(), rows[0].value->shape().size() - 1);
      ok = false;
    }
    if (ok) {
      auto axes = std::make_shared<tracert::IndexItems>();
      axes->items.push_back({.kind = tracert::IndexItemKind::NewAxis});
      axes->items.resize(row->shape().size() + 1);
      Result<Value> expanded = getItem(row, axes, {});
      ok = expanded.ok() || fail(expanded.status());
      if (ok) {
        rows.push_back(Operand::of(std::move(*expanded)));
      }
    }
  }
  Py_DECREF(items);
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
  Result<Value> seen = enterTransforms(std::move(value));
  if (!seen.ok()) {
    return fail(seen.status());
  }
  value = std::move(*seen);
  return true;
}

bool readTensor(PyObject *object, Value &value) {
  const Tensor &tensor = tensorOf(object);
  if (!tensor.isView() && !activeTransform(TransformSlot::Trace)) [[likely]] {
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
    if (*dtype == DType::UInt8 || *dtype == DType::Bool) {
      // Whether it fits is an error of the value, so the number is needed.
      Result<int64_t> number = bakeSize(objects[i]);
      if (!number.ok()) {
        return fail(number.status());
      }
      operands[i].scalar.intValue = *number;
      continue;
    }
    Result<Value> value = sizeValue(objects[i]);
    if (!value.ok()) {
      return fail(value.status());
    }
    Result<Value> cast = castTo(std::move(*value), *dtype);
    if (!cast.ok()) {
      return fail(cast.status());
    }
    operands[i] = Operand::of(std::move(*cast));
  }
  return true;
}

} // namespace

Result<Value> enterTransforms(Value value) {
  for (int slot = 0; slot < static_cast<int>(TransformSlot::Count); ++slot) {
    if (Transform *transform = activeTransform(static_cast<TransformSlot>(slot))) {
      TRACERT_ASSIGN(value, transform->onHostData(std::move(value)));
    }
  }
  return value;
}

Result<Value> ownValue(Value value) {
  if (!value->isAlias || value->shape().empty()) {
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
      raiseFormat(PyExc_TypeError, "%s() expects tensors, arrays or numbers, got %s", function,
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
  if (nest.hasFloat || (nest.strong & (1u << static_cast<int>(DType::Float16) |
                                       1u << static_cast<int>(DType::Float32) |
                                       1u << static_cast<int>(DType::Float64)))) {
    raiseFormat(PyExc_IndexError, "an index must be integers or bools, got floats");
    return false;
  }
  isMask |= nest.strong == 1u << static_cast<int>(DType::Bool) && !nest.hasInt;
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
