/// What the cold classes of the module add to it.
#pragma once

#include "Errors.h"

#include "tracert/Target.h"

namespace tracec::python {

/// _core.Trace, _core.TraceCall, _core.ExcludeScope.
bool addTraceTypes(PyObject *module);
/// _core.Model.
bool addModelType(PyObject *module);

extern PyMethodDef traceFunctions[];  // TraceBindings.cpp
extern PyMethodDef optionFunctions[]; // Options.cpp

/// "best", "portable", "v3"/"x86-64-v3", "avx512"/"x86-64-v4", "aarch64"; ValueError otherwise.
struct Section {
  uint8_t kind; // tracert::SectionChoice::Kind
  tracert::Target target;
};
bool readSection(PyObject *name, Section &section);

} // namespace tracec::python
