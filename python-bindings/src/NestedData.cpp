#include "NestedData.h"

#include "FromArray.h"
#include "Sequences.h"
#include "Sizes.h"
#include "TensorObject.h"
#include "tracec/Functional.h"
#include "tracert/Element.h"

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

/// What most leaves are; no user code runs for them.
bool isExactNumber(PyObject *object) {
  return PyFloat_CheckExact(object) || PyLong_CheckExact(object) || PyBool_Check(object);
}

} // namespace

bool Nest::scan(PyObject *object, size_t depth) {
  if (isExactNumber(object) || !isSequence(object)) {
    return scanLeaf(object, depth);
  }
  if (depth >= tracert::kMaxRank) {
    raiseFormat(PyExc_ValueError, "nested deeper than %zu levels", tracert::kMaxRank);
    return false;
  }
  Items items;
  if (!items.read(object)) {
    return false;
  }
  Py_ssize_t count = items.size();
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
    ok = scan(items[i], depth + 1);
  }
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
      raiseAdvice(PyExc_TypeError, "convert it to a Python number or a supported dtype first",
                  "unsupported element of type %s in a nested sequence", Py_TYPE(object)->tp_name);
      return false;
    }
    strong |= tracert::dtypeBit(*dtype);
  } else {
    raiseAdvice(PyExc_TypeError, "pass numbers, arrays, or nested lists of them",
                "tensor() expects numbers, got %s", Py_TYPE(object)->tp_name);
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

namespace {

Result<DType> dtypeOfNest(const Nest &nest) {
  if (!nest.strong) {
    return nest.hasFloat  ? DType::Float32
           : nest.hasInt  ? DType::Int32
           : nest.hasBool ? DType::Bool
                          : DType::Float32;
  }
  std::vector<Operand> operands;
  for (DType dtype : tracert::kAllDTypes) {
    if (nest.strong & tracert::dtypeBit(dtype)) {
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

/// Writes leaves one after another into memory of one dtype. The nest is walked again, so its shape
/// is checked again: user code may have changed it since it was scanned.
class LeafWriter {
public:
  LeafWriter(DType dtype, const Dims &shape, void *data, bool isInferred)
      : dtype(dtype), shape(shape), next(static_cast<char *>(data)), isInferred(isInferred) {}

  bool write(PyObject *object, size_t depth) {
    if (depth < shape.size()) {
      Items items;
      if (!isSequence(object)) {
        return failChanged();
      }
      bool ok = items.read(object) && (items.size() == shape[depth] || failChanged());
      for (Py_ssize_t i = 0; ok && i < items.size(); ++i) {
        ok = write(items[i], depth + 1);
      }
      return ok;
    }
    bool ok = dtype == DType::Bool        ? writeBool(object)
              : tracert::isInteger(dtype) ? writeInteger(object)
                                          : writeFloat(object);
    next += tracert::dtypeSize(dtype);
    return ok;
  }

private:
  static bool failChanged() {
    raiseFormat(PyExc_ValueError, "a nested sequence changed its shape while it was read");
    return false;
  }

  /// The low bytes; memory is little endian.
  void put(uint64_t bits) { std::memcpy(next, &bits, tracert::dtypeSize(dtype)); }

  bool writeBool(PyObject *object) {
    int truth = PyObject_IsTrue(object);
    *next = truth > 0;
    return truth >= 0;
  }

  /// An int; of one above int64 the bits of a uint64, of one outside both 1 or -1.
  struct Integer {
    int64_t value = 0;
    bool isUInt64 = false;
    bool isOutside = false;
  };

  bool writeInteger(PyObject *object) {
    Integer integer;
    if (PyIndex_Check(object)) {
      PyObject *number = PyNumber_Index(object);
      if (!number) {
        return false;
      }
      integer = readInteger(number);
      Py_DECREF(number);
    } else if (!truncate(object, integer)) {
      return false;
    }
    bool fits =
        integer.isUInt64 ? dtype == DType::UInt64 : tracert::integerFits(integer.value, dtype);
    if (integer.isOutside || !fits) {
      raiseFormat(PyExc_OverflowError, "%S does not fit %s%s", object,
                  tracert::dtypeName(dtype).data(),
                  isInferred ? "; pass dtype=tc.int64 for larger integers" : "");
      return false;
    }
    put(static_cast<uint64_t>(integer.value));
    return true;
  }

  static Integer readInteger(PyObject *number) {
    int overflow = 0;
    Integer integer;
    integer.value = PyLong_AsLongLongAndOverflow(number, &overflow);
    if (overflow != 0) {
      uint64_t bits = overflow > 0 ? PyLong_AsUnsignedLongLong(number) : 0;
      integer = {static_cast<int64_t>(bits), true, overflow < 0 || PyErr_Occurred() != nullptr};
      integer.value = integer.isOutside ? overflow : integer.value;
      PyErr_Clear();
    }
    return integer;
  }

  /// A float (or NumPy bool) towards zero.
  bool truncate(PyObject *object, Integer &integer) {
    double number = PyFloat_AsDouble(object);
    if (number == -1 && PyErr_Occurred()) {
      return false;
    }
    if (std::isnan(number)) {
      raiseFormat(PyExc_ValueError, "NaN does not fit %s", tracert::dtypeName(dtype).data());
      return false;
    }
    number = std::trunc(number);
    integer.isOutside = !(number >= -0x1p63 && number < 0x1p64);
    integer.isUInt64 = !integer.isOutside && number >= 0x1p63;
    if (!integer.isOutside) {
      integer.value = integer.isUInt64 ? static_cast<int64_t>(static_cast<uint64_t>(number))
                                       : static_cast<int64_t>(number);
    }
    return true;
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
    put(tracert::floatBits(value, dtype));
    return true;
  }

  /// Rounds once: an int64 must not go to float32 through double.
  bool writeIntegerAsFloat(PyObject *object) {
    PyObject *number = PyNumber_Index(object);
    if (!number) {
      return false;
    }
    Integer integer = readInteger(number);
    if (!integer.isOutside) {
      put(tracert::floatBitsOfInteger(integer.value, integer.isUInt64, dtype));
    } else {
      double value = PyLong_AsDouble(number);
      if (value == -1 && PyErr_Occurred()) {
        // Beyond double's range: rounds to infinity.
        PyErr_Clear();
        value = static_cast<double>(integer.value) * std::numeric_limits<double>::infinity();
      }
      put(tracert::floatBits(value, dtype));
    }
    Py_DECREF(number);
    return true;
  }

  DType dtype;
  const Dims &shape;
  char *next;
  bool isInferred;
};

} // namespace

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
  Result<Value> fresh = allocateValue({dtype, nest.shape});
  if (!fresh.ok()) {
    return fail(fresh.status());
  }
  LeafWriter writer(dtype, nest.shape, (*fresh)->view().data, !wanted && !nest.strong);
  if (!writer.write(object, 0)) {
    return false;
  }
  value = std::move(*fresh);
  return true;
}

} // namespace tracec::python
