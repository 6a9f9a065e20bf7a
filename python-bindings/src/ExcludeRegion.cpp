// tc.exclude_from_trace: regions of a traced function that run eagerly. Entered by replays, so it
// uses the C API.

#include "TraceCall.h"

#include <new>
#include <vector>

namespace tracec::python {

namespace {

struct ExcludeObject {
  PyObject_HEAD
      /// Entries of one object, nested or in several threads.
      std::vector<ExcludeScope>
          scopes;
};

PyTypeObject excludeType = {PyVarObject_HEAD_INIT(nullptr, 0)};

PyObject *create(PyTypeObject *type, PyObject *args, PyObject *) {
  if (!PyArg_ParseTuple(args, "")) {
    return nullptr;
  }
  PyObject *self = type->tp_alloc(type, 0);
  if (self) {
    new (&reinterpret_cast<ExcludeObject *>(self)->scopes) std::vector<ExcludeScope>();
  }
  return self;
}

void deallocate(PyObject *self) {
  reinterpret_cast<ExcludeObject *>(self)->scopes.~vector();
  Py_TYPE(self)->tp_free(self);
}

PyObject *enter(PyObject *self, PyObject *) {
  ExcludeScope scope;
  Status status = scope.enter();
  if (!status.ok()) {
    return raise(status);
  }
  reinterpret_cast<ExcludeObject *>(self)->scopes.push_back(std::move(scope));
  return Py_NewRef(self);
}

PyObject *leave(PyObject *self, PyObject *) {
  auto &scopes = reinterpret_cast<ExcludeObject *>(self)->scopes;
  // The last entry of this thread; a generator may also be closed by another thread.
  size_t position = scopes.size();
  while (position > 0 && !scopes[position - 1].isOfThisThread()) {
    --position;
  }
  ExcludeScope scope;
  if (!scopes.empty()) {
    auto entry =
        scopes.begin() + static_cast<ptrdiff_t>(position ? position - 1 : scopes.size() - 1);
    scope = std::move(*entry);
    scopes.erase(entry);
  }
  Status status = scope.leave();
  return status.ok() ? Py_NewRef(Py_False) : raise(status);
}

PyMethodDef methods[] = {
    {"__enter__", enter, METH_NOARGS, nullptr},
    {"__exit__", leave, METH_VARARGS, nullptr},
    {},
};

} // namespace

bool addExcludeType(PyObject *module) {
  excludeType.tp_name = "tracec.exclude_from_trace";
  excludeType.tp_doc = "exclude_from_trace()\n--\n\nA region of a traced function whose ops run "
                       "eagerly on every call;\nwhat leaves it is external to the trace.";
  excludeType.tp_basicsize = sizeof(ExcludeObject);
  excludeType.tp_flags = Py_TPFLAGS_DEFAULT;
  excludeType.tp_new = create;
  excludeType.tp_dealloc = deallocate;
  excludeType.tp_methods = methods;
  return PyType_Ready(&excludeType) == 0 &&
         PyModule_AddObjectRef(module, "exclude_from_trace",
                               reinterpret_cast<PyObject *>(&excludeType)) == 0;
}

} // namespace tracec::python
