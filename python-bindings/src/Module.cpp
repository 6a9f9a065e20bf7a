// tracec._core. The public names are re-exported by tracec/__init__.py.

#include "DTypes.h"
#include "Errors.h"
#include "Operations.h"
#include "Session.h"
#include "Sizes.h"
#include "TensorObject.h"

#include "tracert/Target.h"

namespace tracec::python {

namespace {

PyModuleDef moduleDefinition = {
    .m_base = PyModuleDef_HEAD_INIT,
    .m_name = "tracec._core",
    .m_doc = "The C++ part of tracec.",
    .m_size = -1,
};

bool fill(PyObject *module) {
  if (!addErrors(module)) {
    return false;
  }
  if (Status limit = tracert::checkTargetLimit(); !limit.ok()) {
    raise(limit);
    return false;
  }
  if (!addDTypes(module) || !addTensorType(module) || !addSizeType(module) ||
      !addTraceTypes(module) || !addModelType(module) ||
      PyModule_AddFunctions(module, moduleFunctions) < 0 ||
      PyModule_AddFunctions(module, createFunctions) < 0 ||
      PyModule_AddFunctions(module, traceFunctions) < 0 ||
      PyModule_AddFunctions(module, optionFunctions) < 0) {
    return false;
  }
  rebuildFunction = PyObject_GetAttrString(module, "_rebuild");
  return rebuildFunction != nullptr;
}

} // namespace
} // namespace tracec::python

PyMODINIT_FUNC PyInit__core() {
  PyObject *module = PyModule_Create(&tracec::python::moduleDefinition);
  if (module && !tracec::python::fill(module)) {
    Py_CLEAR(module);
  }
  return module;
}
