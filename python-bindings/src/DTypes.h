/// The dtype objects tc.float32, ...: one per DType, compared by identity or by name.
///
///   std::optional<DType> dtype; if (!readDType(argument, dtype)) { return nullptr; }
///
/// readDType accepts a dtype object, a name, bool/int/float, a NumPy dtype or scalar type.
#pragma once

#include "Errors.h"

#include "tracert/DType.h"

#include <optional>

namespace tracec::python {

/// Borrowed reference to the object of `dtype`.
PyObject *dtypeObject(tracert::DType dtype);
/// None or missing: nullopt. TypeError for what names no supported dtype.
bool readDType(PyObject *argument, std::optional<tracert::DType> &dtype);
bool addDTypes(PyObject *module);

/// NumPy's dtype of the same name; that of bfloat16 is in ml_dtypes, without which there is a
/// TypeError. New reference.
PyObject *numpyDType(tracert::DType dtype);
/// numpy, imported on first use; new reference or null with an exception set.
PyObject *numpyModule();

} // namespace tracec::python
