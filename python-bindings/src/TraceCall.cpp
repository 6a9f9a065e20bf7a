#include "TraceCall.h"

#include "Arguments.h"
#include "TensorObject.h"

#include <new>

namespace tracec::python {

namespace {

struct CallObject {
  PyObject_HEAD std::unique_ptr<CallScope> scope;
};

PyTypeObject callType = {PyVarObject_HEAD_INIT(nullptr, 0)};

/// A call ends once, whatever comes of it.
std::unique_ptr<CallScope> takeScope(PyObject *self) {
  return std::move(reinterpret_cast<CallObject *>(self)->scope);
}

/// A list of str.
bool readTexts(PyObject *list, std::vector<std::string> &texts) {
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); ++i) {
    std::string text;
    if (!readText(PyList_GET_ITEM(list, i), text)) {
      return false;
    }
    texts.push_back(std::move(text));
  }
  return true;
}

bool readTensors(PyObject *list, std::vector<Tensor> &tensors) {
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); ++i) {
    PyObject *item = PyList_GET_ITEM(list, i);
    if (!isTensor(item)) {
      raiseAdvice(PyExc_TypeError, "pass tensors", "expected tensors, got %s",
                  Py_TYPE(item)->tp_name);
      return false;
    }
    tensors.push_back(tensorOf(item));
  }
  return true;
}

void deallocate(PyObject *self) {
  reinterpret_cast<CallObject *>(self)->scope.~unique_ptr();
  PyObject_Free(self);
}

/// Runs what is pending and commits.
/// finish(results) -> whether the call was recorded with arguments that share memory
PyObject *finish(PyObject *self, PyObject *list) {
  std::unique_ptr<CallScope> scope = takeScope(self);
  std::vector<Tensor> results;
  if (!PyList_Check(list) || !scope) {
    return raiseAdvice(PyExc_TypeError, "use tc.trace", "finish() takes a list, once");
  }
  if (!readTensors(list, results)) {
    return nullptr;
  }
  if (Status status = scope->finish(results); !status.ok()) {
    return raise(status);
  }
  return PyBool_FromLong(scope->recordedSharedArguments());
}

/// abandon(is_error): raises the data error that eager code would have met before an exception.
PyObject *abandon(PyObject *self, PyObject *isError) {
  std::unique_ptr<CallScope> scope = takeScope(self);
  if (!scope || isError != Py_True) {
    Py_RETURN_NONE;
  }
  if (Status status = scope->abandon(); !status.ok()) {
    return raise(status);
  }
  Py_RETURN_NONE;
}

PyMethodDef methods[] = {
    {"finish", finish, METH_O, nullptr},
    {"abandon", abandon, METH_O, nullptr},
    {},
};

PyObject *isTracing(PyObject *, PyObject *) { return PyBool_FromLong(creationSerial() != 0); }

} // namespace

PyObject *beginCall(std::shared_ptr<TracedFunction> function, PyObject *tensors, PyObject *names,
                    PyObject *structure, CallScope::Purpose purpose) {
  CallArguments arguments;
  if (!readTensors(tensors, arguments.tensors) || !readTexts(names, arguments.names) ||
      !readText(structure, arguments.structure)) {
    return nullptr;
  }
  auto scope = std::make_unique<CallScope>(std::move(function));
  if (Status status = scope->begin(arguments, purpose); !status.ok()) {
    return raise(status);
  }
  CallObject *call = PyObject_New(CallObject, &callType);
  if (call) {
    new (&call->scope) std::unique_ptr<CallScope>(std::move(scope));
  }
  return reinterpret_cast<PyObject *>(call);
}

PyMethodDef callFunctions[] = {
    {"is_tracing", isTracing, METH_NOARGS, nullptr},
    {},
};

bool addCallType() {
  callType.tp_name = "tracec._core.TraceCall";
  callType.tp_basicsize = sizeof(CallObject);
  callType.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION;
  callType.tp_dealloc = deallocate;
  callType.tp_methods = methods;
  return PyType_Ready(&callType) == 0;
}

} // namespace tracec::python
