/// The Python object of a tensor, and how C++ values become one.
///
///   if (isTensor(object)) { Result<Value> value = tensorOf(object).read(); }
///   return wrapValue(std::move(value));       // a new tensor with a cell of its own
///
/// Needs the GIL. Objects come from a free list.
#pragma once

#include "Errors.h"

#include "tracec/Tensor.h"

namespace tracec::python {

struct TensorObject {
  PyObject_HEAD Tensor tensor;
  /// A str, or null.
  PyObject *name;
  PyObject *weakReferences;
};

extern PyTypeObject tensorType;

inline bool isTensor(PyObject *object) { return Py_IS_TYPE(object, &tensorType); }
inline Tensor &tensorOf(PyObject *object) {
  return reinterpret_cast<TensorObject *>(object)->tensor;
}

/// New references; null with an exception set.
PyObject *wrapTensor(Tensor tensor);
PyObject *wrapValue(Value value);
PyObject *wrapResult(Result<Value> result);
PyObject *wrapResult(Result<Tensor> result);

/// Parts of the type, one file each.
extern PyNumberMethods tensorNumber;                               // TensorNumber.cpp
extern PyMappingMethods tensorMapping;                             // TensorIndex.cpp
extern PySequenceMethods tensorSequence;                           // TensorIndex.cpp
extern PyBufferProcs tensorBuffer;                                 // ToPython.cpp
extern PyMethodDef tensorMethods[];                                // TensorMethods.cpp
extern PyGetSetDef tensorAttributes[];                             // TensorMethods.cpp
PyObject *compareTensors(PyObject *left, PyObject *right, int op); // TensorNumber.cpp
PyObject *iterateTensor(PyObject *self);                           // TensorIndex.cpp
PyObject *tensorText(PyObject *self);                              // ToText.cpp

bool addTensorType(PyObject *module);
/// The iterator type.
bool addIndexTypes(); // TensorIndex.cpp

} // namespace tracec::python
