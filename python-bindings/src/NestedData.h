/// Nested lists and tuples of Python numbers and NumPy scalars.
///
///   Nest nest; if (nest.scan(object, 0) && !nest.hasTensors) { buildNest(object, nest, dtype, v);
///   }
///
/// All functions return false with an exception set.
#pragma once

#include "Errors.h"

#include "tracec/Value.h"

#include <optional>

namespace tracec::python {

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
  bool hasStrong(tracert::DTypeCategory category) const {
    return std::any_of(
        std::begin(tracert::kAllDTypes), std::end(tracert::kAllDTypes), [&](DType dtype) {
          return tracert::dtypeCategory(dtype) == category && (strong & tracert::dtypeBit(dtype));
        });
  }

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

/// The nest as a value of `dtype`, by default that of its leaves. No transform sees it.
bool buildNest(PyObject *object, const Nest &nest, std::optional<DType> dtype, Value &value);
/// A cast of host data, below all transforms: it is no op of the user's.
bool castOnHost(Value &value, DType dtype);

} // namespace tracec::python
