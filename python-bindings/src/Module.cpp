// tracec._core. The public names are re-exported by tracec/__init__.py.

#include "DTypes.h"
#include "Operations.h"
#include "Session.h"
#include "Sizes.h"
#include "TensorObject.h"
#include "TraceCall.h"

#include "tracert/Target.h"

namespace tracec::python {

namespace {

void fill(nb::module_ &module) {
  PyObject *raw = module.ptr();
  module.doc() = "The C++ part of tracec.";
  check(addErrors(raw) && addDTypes(raw) && addTensorType(raw) && addSizeType(raw) &&
        addCallType() && addExcludeType(raw) && PyModule_AddFunctions(raw, moduleFunctions) == 0 &&
        PyModule_AddFunctions(raw, createFunctions) == 0 &&
        PyModule_AddFunctions(raw, callFunctions) == 0);
  installInterpreterHooks();
  addTrace(module);
  addModel(module);
  addOptions(module);
  module.def("check_target_limit", [] { check(tracert::checkTargetLimit()); });
  rebuildFunction = nb::object(module.attr("_rebuild")).release().ptr();
}

} // namespace
} // namespace tracec::python

NB_MODULE(_core, module) {
  // Types are made once in a process: a module that is imported again has the same ones. Never
  // freed, so that they also outlast what the end of the interpreter leaves behind.
  static PyObject *first = nullptr;
  if (first) {
    module.attr("__dict__").attr("update")(nanobind::handle(first).attr("__dict__"));
    return;
  }
  nanobind::set_leak_warnings(false);
  tracec::python::fill(module);
  first = module.inc_ref().ptr();
}
