/// _core.TraceCall: one call of a traced function. Each call of the user makes one, so it uses the
/// C API, as do the regions that a call leaves out.
#pragma once

#include "Errors.h"

#include "tracec/Trace.h"

namespace tracec::python {

/// A new TraceCall that has begun: `tensors` and `names` are lists, `structure` a str. Null with an
/// exception set.
PyObject *beginCall(std::shared_ptr<TracedFunction> function, PyObject *tensors, PyObject *names,
                    PyObject *structure, CallScope::Purpose purpose);

/// is_tracing
extern PyMethodDef callFunctions[];
bool addCallType();
/// tc.exclude_from_trace.
bool addExcludeType(PyObject *module); // ExcludeRegion.cpp

} // namespace tracec::python
