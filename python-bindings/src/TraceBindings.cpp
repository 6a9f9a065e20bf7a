// Traced functions: _core.Trace holds the record, _core.TraceCall is one call. Arguments are
// flattened in tracec/trace.py.

#include "Arguments.h"
#include "Sequences.h"
#include "Session.h"
#include "TensorObject.h"
#include "tracec/Compiler.h"
#include "tracec/InterpreterLock.h"
#include "tracec/Trace.h"

#include <cassert>
#include <new>

#include <unistd.h>

namespace tracec::python {

using tracert::Target;

namespace {

struct TraceObject {
  PyObject_HEAD std::shared_ptr<TracedFunction> function;
};
struct CallObject {
  PyObject_HEAD std::unique_ptr<CallScope> scope;
};
struct ExcludeObject {
  PyObject_HEAD
      /// Entries of one object, nested or in several threads.
      std::vector<ExcludeScope>
          scopes;
};

PyTypeObject traceType = {PyVarObject_HEAD_INIT(nullptr, 0)};
PyTypeObject callType = {PyVarObject_HEAD_INIT(nullptr, 0)};
PyTypeObject excludeType = {PyVarObject_HEAD_INIT(nullptr, 0)};

TracedFunction &functionOf(PyObject *self) {
  return *reinterpret_cast<TraceObject *>(self)->function;
}

PyObject *none(const Status &status) { return status.ok() ? Py_NewRef(Py_None) : raise(status); }

bool readText(PyObject *object, std::string &text) {
  Py_ssize_t size;
  const char *utf8 = PyUnicode_Check(object) ? PyUnicode_AsUTF8AndSize(object, &size) : nullptr;
  if (!utf8) {
    PyErr_Clear();
    raiseAdvice(PyExc_TypeError, "pass a str", "expected a str, got %s", Py_TYPE(object)->tp_name);
    return false;
  }
  text.assign(utf8, static_cast<size_t>(size));
  return true;
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

//===----------------------------------------------------------------------===//
// Trace
//===----------------------------------------------------------------------===//

PyObject *newTrace(PyTypeObject *type, PyObject *args, PyObject *) {
  const char *name;
  TraceOptions options;
  if (!PyArg_ParseTuple(args, "si", &name, &options.optLevel)) {
    return nullptr;
  }
  options.name = name;
  PyObject *self = type->tp_alloc(type, 0);
  if (self) {
    new (&reinterpret_cast<TraceObject *>(self)->function)
        std::shared_ptr<TracedFunction>(TracedFunction::create(std::move(options)));
  }
  return self;
}

void deallocateTrace(PyObject *self) {
  reinterpret_cast<TraceObject *>(self)->function.~shared_ptr();
  Py_TYPE(self)->tp_free(self);
}

PyObject *beginCall(PyObject *self, PyObject *args, CallScope::Purpose purpose) {
  PyObject *tensors;
  PyObject *names;
  PyObject *structure;
  CallArguments arguments;
  if (!PyArg_ParseTuple(args, "O!O!U", &PyList_Type, &tensors, &PyList_Type, &names, &structure) ||
      !readTensors(tensors, arguments.tensors) || !readTexts(names, arguments.names) ||
      !readText(structure, arguments.structure)) {
    return nullptr;
  }
  auto scope = std::make_unique<CallScope>(reinterpret_cast<TraceObject *>(self)->function);
  Status status = scope->begin(arguments, purpose);
  if (!status.ok()) {
    return raise(status);
  }
  CallObject *call = PyObject_New(CallObject, &callType);
  if (call) {
    new (&call->scope) std::unique_ptr<CallScope>(std::move(scope));
  }
  return reinterpret_cast<PyObject *>(call);
}

/// begin(tensors, names, structure) -> TraceCall
PyObject *begin(PyObject *self, PyObject *args) {
  return beginCall(self, args, CallScope::Purpose::Call);
}

/// begin_for_dump(tensors, names, structure) -> TraceCall that records and commits nothing
PyObject *beginForDump(PyObject *self, PyObject *args) {
  return beginCall(self, args, CallScope::Purpose::RecordForDump);
}

PyObject *sharesArguments(PyObject *self, PyObject *) {
  return PyBool_FromLong(functionOf(self).sharesArguments());
}

PyObject *explain(PyObject *self, PyObject *) {
  std::string text = functionOf(self).explain();
  return PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace");
}

/// graph(stage) -> text of the module after that stage
PyObject *graph(PyObject *self, PyObject *stage) {
  std::string stageName;
  if (!readText(stage, stageName)) {
    return nullptr;
  }
  Result<TraceGraph> graph = functionOf(self).graph();
  if (!graph.ok()) {
    return raise(graph.status());
  }
  Result<const CompilerApi *> compiler = loadCompiler();
  if (!compiler.ok()) {
    return raise(compiler.status());
  }
  CompileOptions options;
  options.targets = {tracert::bestTarget()};
  options.optLevel = functionOf(self).optLevel();
  std::string text;
  Status status = [&] {
    WithoutInterpreter pause;
    return (*compiler)->printStage(*graph, options, stageName, &text);
  }();
  return status.ok()
             ? PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace")
             : raise(status);
}

/// {section name: runs} of the sections that ran.
PyObject *runsBySection(const std::array<uint64_t, std::size(tracert::kTargets)> &runsOnTarget) {
  PyObject *runs = PyDict_New();
  for (size_t i = 0; i < runsOnTarget.size(); ++i) {
    if (!runs || runsOnTarget[i] == 0) {
      continue;
    }
    PyObject *count = PyLong_FromUnsignedLongLong(runsOnTarget[i]);
    if (!count || PyDict_SetItemString(runs, tracert::kTargets[i].name.data(), count) < 0) {
      Py_CLEAR(runs);
    }
    Py_XDECREF(count);
  }
  return runs;
}

PyObject *stats(PyObject *self, PyObject *) {
  TracedFunction::Stats stats = functionOf(self).stats();
  auto size = [](size_t value) { return static_cast<Py_ssize_t>(value); };
  auto count = [](uint64_t value) { return static_cast<unsigned long long>(value); };
  return Py_BuildValue("(nnnnnKKKKN)", size(stats.ops), size(stats.segments), size(stats.kernels),
                       size(stats.specialisations), size(stats.arenaBytes), count(stats.replays),
                       count(stats.launches), count(stats.launchesReplaced),
                       count(stats.libraryKernels), runsBySection(stats.runsOnTarget));
}

PyObject *state(PyObject *self, void *) {
  switch (functionOf(self).state()) {
  case TracedFunction::State::Untraced:
    return PyUnicode_FromString("untraced");
  case TracedFunction::State::Traced:
    return PyUnicode_FromString("traced");
  case TracedFunction::State::Compiled:
    break;
  }
  return PyUnicode_FromString("compiled");
}

/// [(input, axis, symbol name, min, max), ...]; equal names are one symbol.
bool readDynamic(PyObject *list, DumpOptions &options) {
  Items items;
  if (!items.read(list)) {
    return false;
  }
  for (PyObject *item : items) {
    unsigned int input;
    unsigned int axis;
    const char *name;
    long long min;
    long long max;
    if (!PyArg_Parse(item, "(IIsLL)", &input, &axis, &name, &min, &max)) {
      return false;
    }
    uint32_t symbol = 0;
    while (symbol < options.symbols.size() && options.symbols[symbol].name != name) {
      ++symbol;
    }
    if (symbol == options.symbols.size()) {
      options.symbols.push_back({name, min, max});
    }
    options.dynamicDims.push_back({input, axis, symbol});
  }
  return true;
}

/// [(origin, arguments, arguments after, results, captures after), ...]
bool readTestCalls(PyObject *list, DumpOptions &options) {
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); ++i) {
    const char *origin;
    PyObject *arguments, *after, *results, *captures;
    TestCall call;
    if (!PyArg_ParseTuple(PyList_GET_ITEM(list, i), "sO!O!O!O!", &origin, &PyList_Type, &arguments,
                          &PyList_Type, &after, &PyList_Type, &results, &PyList_Type, &captures) ||
        !readTensors(arguments, call.arguments) || !readTensors(after, call.argumentsAfter) ||
        !readTensors(results, call.results) || !readTensors(captures, call.capturesAfter)) {
      return false;
    }
    call.origin = origin;
    options.testCalls.push_back(std::move(call));
  }
  return true;
}

/// `check` is called with the path as str; what it raises is what dump raises.
Status callCheck(PyObject *check, const std::string &path) {
  PyObject *name =
      PyUnicode_DecodeFSDefaultAndSize(path.data(), static_cast<Py_ssize_t>(path.size()));
  PyObject *result = name ? PyObject_CallOneArg(check, name) : nullptr;
  Py_XDECREF(name);
  Py_XDECREF(result);
  return result ? Status() : Status::internal("the file's check raised an exception");
}

/// dump(path, arg_names, output_names, targets, keep_locs, user_info, dynamic, calls, keep_vectors,
/// check)
PyObject *dump(PyObject *self, PyObject *args) {
  const char *path;
  Py_ssize_t pathSize;
  PyObject *calls;
  int keepVectors;
  PyObject *check;
  PyObject *inputNames;
  PyObject *outputNames;
  PyObject *targets;
  int keepLocs;
  const char *userInfo;
  PyObject *dynamic;
  DumpOptions options;
  if (!PyArg_ParseTuple(args, "y#O!O!O!psO!O!pO", &path, &pathSize, &PyList_Type, &inputNames,
                        &PyList_Type, &outputNames, &PyList_Type, &targets, &keepLocs, &userInfo,
                        &PyList_Type, &dynamic, &PyList_Type, &calls, &keepVectors, &check) ||
      !readTexts(inputNames, options.inputNames) || !readTexts(outputNames, options.outputNames) ||
      !readDynamic(dynamic, options) || !readTestCalls(calls, options)) {
    return nullptr;
  }
  options.path.assign(path, static_cast<size_t>(pathSize));
  options.keepsTestVectors = keepVectors != 0;
  options.check = [check](const std::string &file) { return callCheck(check, file); };
  options.keepLocs = keepLocs != 0;
  options.userInfo = userInfo;
  options.targets.clear();
  std::vector<std::string> names;
  if (!readTexts(targets, names)) {
    return nullptr;
  }
  for (const std::string &name : names) {
    std::optional<Target> target = tracert::targetFromName(name);
    if (!target) {
      return raiseFormat(PyExc_ValueError, "unknown target '%s'", name.c_str());
    }
    options.targets.push_back(*target);
  }
  return none(functionOf(self).dump(options));
}

PyObject *tensorList(Result<std::vector<Tensor>> tensors) {
  if (!tensors.ok()) {
    return raise(tensors.status());
  }
  PyObject *list = PyList_New(0);
  for (Tensor &tensor : *tensors) {
    PyObject *object = list ? wrapTensor(std::move(tensor)) : nullptr;
    if (list && (!object || PyList_Append(list, object) < 0)) {
      Py_CLEAR(list);
    }
    Py_XDECREF(object);
  }
  return list;
}

/// written_captures() -> list of tensors
PyObject *writtenCaptures(PyObject *self, PyObject *) {
  return tensorList(functionOf(self).writtenCaptures());
}

/// recorded_arguments() -> list of tensors that share nothing
PyObject *recordedArguments(PyObject *self, PyObject *) {
  return tensorList(functionOf(self).recordedArguments());
}

PyMethodDef traceMethods[] = {
    {"written_captures", writtenCaptures, METH_NOARGS, nullptr},
    {"recorded_arguments", recordedArguments, METH_NOARGS, nullptr},
    {"shares_arguments", sharesArguments, METH_NOARGS, nullptr},
    {"begin", begin, METH_VARARGS, nullptr},
    {"begin_for_dump", beginForDump, METH_VARARGS, nullptr},
    {"explain", explain, METH_NOARGS, nullptr},
    {"graph", graph, METH_O, nullptr},
    {"stats", stats, METH_NOARGS, nullptr},
    {"dump", dump, METH_VARARGS, nullptr},
    {},
};
PyGetSetDef traceAttributes[] = {
    {"state", state, nullptr, nullptr, nullptr},
    {},
};

//===----------------------------------------------------------------------===//
// One call
//===----------------------------------------------------------------------===//

void deallocateCall(PyObject *self) {
  reinterpret_cast<CallObject *>(self)->scope.~unique_ptr();
  PyObject_Free(self);
}

/// finish(results): runs what is pending and commits.
/// finish(results) -> whether the call was recorded with arguments that share memory
PyObject *finish(PyObject *self, PyObject *list) {
  std::unique_ptr<CallScope> scope = std::move(reinterpret_cast<CallObject *>(self)->scope);
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
  std::unique_ptr<CallScope> scope = std::move(reinterpret_cast<CallObject *>(self)->scope);
  if (!scope || isError != Py_True) {
    Py_RETURN_NONE;
  }
  return none(scope->abandon());
}

PyMethodDef callMethods[] = {
    {"finish", finish, METH_O, nullptr},
    {"abandon", abandon, METH_O, nullptr},
    {},
};

//===----------------------------------------------------------------------===//
// Excluded regions
//===----------------------------------------------------------------------===//

PyObject *newExclude(PyTypeObject *type, PyObject *args, PyObject *) {
  if (!PyArg_ParseTuple(args, "")) {
    return nullptr;
  }
  PyObject *self = type->tp_alloc(type, 0);
  if (self) {
    new (&reinterpret_cast<ExcludeObject *>(self)->scopes) std::vector<ExcludeScope>();
  }
  return self;
}

void deallocateExclude(PyObject *self) {
  reinterpret_cast<ExcludeObject *>(self)->scopes.~vector();
  Py_TYPE(self)->tp_free(self);
}

PyObject *enterExclude(PyObject *self, PyObject *) {
  ExcludeScope scope;
  Status status = scope.enter();
  if (!status.ok()) {
    return raise(status);
  }
  reinterpret_cast<ExcludeObject *>(self)->scopes.push_back(std::move(scope));
  return Py_NewRef(self);
}

PyObject *leaveExclude(PyObject *self, PyObject *) {
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

PyMethodDef excludeMethods[] = {
    {"__enter__", enterExclude, METH_NOARGS, nullptr},
    {"__exit__", leaveExclude, METH_VARARGS, nullptr},
    {},
};

PyObject *isTracing(PyObject *, PyObject *) { return PyBool_FromLong(creationSerial() != 0); }

InterpreterLock globalLock() {
  auto release = []() -> void * { return PyGILState_Check() ? PyEval_SaveThread() : nullptr; };
  auto take = [](void *released) {
    // A thread that outlives the interpreter must not unwind through frames that release objects.
    while (_Py_IsFinalizing()) {
      pause();
    }
    PyEval_RestoreThread(static_cast<PyThreadState *>(released));
  };
  return {release, take};
}

tracert::SourceLoc locationForCore() {
  assert(!holdsScopedLock() && "the current line is asked for without a mutex");
  PyGILState_STATE gil = PyGILState_Ensure();
  tracert::SourceLoc loc = userLocation();
  PyGILState_Release(gil);
  return loc;
}

} // namespace

PyMethodDef traceFunctions[] = {
    {"is_tracing", isTracing, METH_NOARGS, nullptr},
    {},
};

bool addTraceTypes(PyObject *module) {
  setLocationProvider(locationForCore);
  setInterpreterLock(globalLock());
  traceType.tp_name = "tracec._core.Trace";
  traceType.tp_basicsize = sizeof(TraceObject);
  traceType.tp_flags = Py_TPFLAGS_DEFAULT;
  traceType.tp_new = newTrace;
  traceType.tp_dealloc = deallocateTrace;
  traceType.tp_methods = traceMethods;
  traceType.tp_getset = traceAttributes;
  callType.tp_name = "tracec._core.TraceCall";
  callType.tp_basicsize = sizeof(CallObject);
  callType.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION;
  callType.tp_dealloc = deallocateCall;
  callType.tp_methods = callMethods;
  excludeType.tp_name = "tracec.exclude_from_trace";
  excludeType.tp_doc = "exclude_from_trace()\n--\n\nA region of a traced function whose ops run "
                       "eagerly on every call;\nwhat leaves it is external to the trace.";
  excludeType.tp_basicsize = sizeof(ExcludeObject);
  excludeType.tp_flags = Py_TPFLAGS_DEFAULT;
  excludeType.tp_new = newExclude;
  excludeType.tp_dealloc = deallocateExclude;
  excludeType.tp_methods = excludeMethods;
  return PyType_Ready(&traceType) == 0 && PyType_Ready(&callType) == 0 &&
         PyType_Ready(&excludeType) == 0 &&
         PyModule_AddObjectRef(module, "Trace", reinterpret_cast<PyObject *>(&traceType)) == 0 &&
         PyModule_AddObjectRef(module, "exclude_from_trace",
                               reinterpret_cast<PyObject *>(&excludeType)) == 0;
}

} // namespace tracec::python
