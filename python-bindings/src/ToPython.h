/// From tensors to Python: host reads, NumPy arrays, nested lists, Python scalars, text.
///
///   Result<Value> host = readHost(value);   // Ready, and the trace knows that Python saw it
///
/// Exports are read-only and pin their value: a later write to the tensor makes a new one.
#pragma once

#include "Errors.h"

#include "tracec/Dispatch.h"

#include <string>

namespace tracec::python {

/// Tells the active trace that Python reads `value`, and waits for it.
Result<Value> readHost(const Value &value);

/// The element at `data` as a Python bool, int or float.
PyObject *elementToPython(DType dtype, const void *data);
/// The one element of `value`; ValueError when there is not exactly one.
PyObject *itemOf(PyObject *tensor, const char *function);
PyObject *toList(PyObject *tensor);
PyObject *toNumpy(PyObject *tensor);

/// NumPy's layout; "<pending>" for what is not there yet. Never waits.
std::string valueText(const Value &value);

} // namespace tracec::python
