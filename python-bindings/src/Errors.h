/// The one place where a Status becomes a Python exception, and where the user's line is found.
///
///   Result<Value> y = ...; if (!y.ok()) { return raise(y.status()); }
///
/// Every message becomes "TC0103 index 5 is ... (at model.py:12)" and a second line that says what
/// to do; the executor's own location is brought to that form, so that eager and compiled code say
/// the same. Needs the GIL.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "tracert/Program.h"
#include "tracert/Status.h"

namespace tracec::python {

/// Sets the exception for `status` (not Ok) and returns null.
PyObject *raise(const tracert::Status &status);
/// The same for functions that return -1 on error.
int raiseInt(const tracert::Status &status);
/// TypeError / ValueError / ... with the user's line, formatted as PyErr_Format does.
PyObject *raiseFormat(PyObject *kind, const char *format, ...);
/// The same with a second line of its own: what to do.
PyObject *raiseAdvice(PyObject *kind, const char *advice, const char *format, ...);

/// The line of the innermost frame outside this package; empty when there is none.
tracert::SourceLoc userLocation();

/// Adds AxisError, TraceError, LoadError and CompileError to the module.
bool addErrors(PyObject *module);

} // namespace tracec::python
