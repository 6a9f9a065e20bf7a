/// From tensors to Python: NumPy arrays, nested lists, Python scalars, text.
///
/// Exports are read-only and pin their value: a later write to the tensor makes a new one.
#pragma once

#include "Errors.h"

#include "tracec/Dispatch.h"

#include <string>

namespace tracec::python {

/// The element at `data` as a Python bool, int or float.
PyObject *elementToPython(DType dtype, const void *data);
/// The one element of `value`; ValueError when there is not exactly one.
PyObject *itemOf(PyObject *tensor, const char *function);
PyObject *toList(PyObject *tensor);
/// A NumPy array; of bfloat16 one of ml_dtypes, without which there is a TypeError.
PyObject *toNumpy(PyObject *tensor);
/// A memoryview of the elements; of bfloat16 as uint16.
PyObject *memoryOf(PyObject *tensor);

/// NumPy's layout; "<pending>" for what is not there yet. Never waits. Of a transform's wrapper the
/// text of what it wraps.
std::string valueText(const Value &value);

} // namespace tracec::python
