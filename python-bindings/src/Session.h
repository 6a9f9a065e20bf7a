/// What the cold classes and functions of the module add to it; exceptions pass through.
#pragma once

#include "Binding.h"

#include "tracert/Executor.h"

namespace tracec::python {

/// _core.Trace.
void addTrace(nb::module_ &module);
/// _core.Model.
void addModel(nb::module_ &module);
/// tc.options and tc.stats.
void addOptions(nb::module_ &module);

/// The interpreter's lock and the user's line, for the core.
void installInterpreterHooks();

/// "best", "portable", "v3"/"x86-64-v3", "avx512"/"x86-64-v4", "aarch64"; ValueError otherwise.
bool readSection(PyObject *name, tracert::SectionChoice &section);

} // namespace tracec::python
