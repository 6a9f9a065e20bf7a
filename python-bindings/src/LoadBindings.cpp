// _core.Model: a loaded file with an executor. The signature is given to Python as plain tuples.

#include "DTypes.h"
#include "FromPython.h"
#include "Sequences.h"
#include "Session.h"
#include "TensorObject.h"
#include "ToPython.h"
#include "tracec/InterpreterLock.h"
#include "tracert/Device.h"
#include "tracert/Element.h"
#include "tracert/Executor.h"
#include "tracert/Limits.h"
#include "tracert/RunControl.h"

#include <cstring>
#include <new>

namespace tracec::python {

using tracert::Executor;
using tracert::InputDef;
using tracert::kNoIndex;
using tracert::OutputDef;
using tracert::OwnedTensor;
using tracert::Program;
using tracert::SectionChoice;
using tracert::ValueDef;

namespace {

struct Loaded {
  std::shared_ptr<const Program> program;
  /// The executor runs on it.
  std::shared_ptr<tracert::ThreadPool> pool;
  /// Of each run and each test vector; 0: none.
  uint64_t timeLimitMs = 0;
  uint64_t memoryLimit = 0;
  tracert::RunControl control;
  std::unique_ptr<Executor> executor;
};
struct ModelObject {
  PyObject_HEAD Loaded *loaded;
};

PyTypeObject modelType = {PyVarObject_HEAD_INIT(nullptr, 0)};

Loaded &loadedOf(PyObject *self) { return *reinterpret_cast<ModelObject *>(self)->loaded; }

/// The path belongs into each message of the loader.
Status named(const std::string &path, const Status &status) {
  bool isNamed = status.message().find(path) != std::string::npos;
  return isNamed ? status : status.withMessage(path + ": " + status.message());
}

/// Maps the section's code, which other executors of the program may be waiting for.
Result<std::unique_ptr<Executor>> makeExecutor(std::shared_ptr<const Program> program,
                                               const tracert::ExecutorOptions &options) {
  WithoutInterpreter pause;
  return Executor::create(std::move(program), options);
}

/// Model(path, section, verify_all, copy=False, load_limit=0, memory_limit=0, time_limit_ms=0)
PyObject *newModel(PyTypeObject *type, PyObject *args, PyObject *) {
  const char *pathText;
  Py_ssize_t pathSize;
  PyObject *sectionName;
  int verifyAll;
  int copy = 0;
  unsigned long long loadLimit = 0, memoryLimit = 0, timeLimitMs = 0;
  Section section;
  if (!PyArg_ParseTuple(args, "y#Op|pKKK", &pathText, &pathSize, &sectionName, &verifyAll, &copy,
                        &loadLimit, &memoryLimit, &timeLimitMs) ||
      !readSection(sectionName, section)) {
    return nullptr;
  }
  std::string path(pathText, static_cast<size_t>(pathSize));
  tracert::LoadOptions options;
  options.verifyAll = verifyAll != 0;
  options.portableOnly = section.kind == SectionChoice::Portable;
  options.copy = copy != 0;
  options.memoryLimit = loadLimit;
  Result<std::shared_ptr<const Program>> program = [&] {
    WithoutInterpreter pause;
    return tracert::loadProgram(path, options);
  }();
  if (!program.ok()) {
    return raise(named(path, program.status()));
  }
  tracert::ExecutorOptions executorOptions;
  executorOptions.section = {static_cast<SectionChoice::Kind>(section.kind), section.target};
  std::shared_ptr<tracert::ThreadPool> pool = evalOptions().pool;
  executorOptions.pool = pool.get();
  auto loaded = std::make_unique<Loaded>();
  loaded->timeLimitMs = timeLimitMs;
  loaded->memoryLimit = executorOptions.memoryLimit = memoryLimit;
  Result<std::unique_ptr<Executor>> executor = makeExecutor(*program, executorOptions);
  if (!executor.ok()) {
    return raise(named(path, executor.status()));
  }
  loaded->program = std::move(*program);
  loaded->pool = std::move(pool);
  loaded->executor = std::move(*executor);
  PyObject *self = type->tp_alloc(type, 0);
  if (self) {
    reinterpret_cast<ModelObject *>(self)->loaded = loaded.release();
  }
  return self;
}

void deallocate(PyObject *self) {
  delete reinterpret_cast<ModelObject *>(self)->loaded;
  Py_TYPE(self)->tp_free(self);
}

/// (min, max) symbols are names; static sizes ints.
PyObject *describeShape(const Program &program, const ValueDef &value,
                        const std::vector<uint32_t> *symbols) {
  PyObject *shape = PyTuple_New(static_cast<Py_ssize_t>(value.dims.size()));
  for (size_t i = 0; shape && i < value.dims.size(); ++i) {
    PyObject *item;
    if (symbols && i < symbols->size() && (*symbols)[i] != kNoIndex) {
      item = PyUnicode_FromString(program.symbols[(*symbols)[i]].name.c_str());
    } else if (value.dims[i] == tracert::kUnknownDim) {
      item = PyUnicode_FromString("?");
    } else {
      item = PyLong_FromLongLong(value.dims[i]);
    }
    if (!item) {
      Py_CLEAR(shape);
      break;
    }
    PyTuple_SET_ITEM(shape, static_cast<Py_ssize_t>(i), item);
  }
  return shape;
}

bool append(PyObject *list, PyObject *item) {
  bool ok = item && PyList_Append(list, item) == 0;
  Py_XDECREF(item);
  return ok;
}

/// ([(name, dtype, shape, is_state)], [(name, dtype, shape, is_state)], [(symbol, min, max)])
PyObject *signature(PyObject *self, PyObject *) {
  const Program &program = *loadedOf(self).program;
  PyObject *inputs = PyList_New(0);
  PyObject *outputs = PyList_New(0);
  PyObject *symbols = PyList_New(0);
  bool ok = inputs && outputs && symbols;
  for (const InputDef &input : program.inputs) {
    const ValueDef &value = program.values[input.value];
    ok = ok && append(inputs, Py_BuildValue("(sONO)", input.name.c_str(), dtypeObject(value.dtype),
                                            describeShape(program, value, &input.dimSymbols),
                                            input.isState ? Py_True : Py_False));
  }
  for (const OutputDef &output : program.outputs) {
    const ValueDef &value = program.values[output.value];
    ok =
        ok && append(outputs, Py_BuildValue("(sONO)", output.name.c_str(), dtypeObject(value.dtype),
                                            describeShape(program, value, nullptr),
                                            output.stateInput != kNoIndex ? Py_True : Py_False));
  }
  for (const tracert::SymbolDef &symbol : program.symbols) {
    ok = ok && append(symbols, Py_BuildValue("(sLL)", symbol.name.c_str(),
                                             static_cast<long long>(symbol.min),
                                             static_cast<long long>(symbol.max)));
  }
  if (!ok) {
    Py_XDECREF(inputs);
    Py_XDECREF(outputs);
    Py_XDECREF(symbols);
    return nullptr;
  }
  return Py_BuildValue("(NNN)", inputs, outputs, symbols);
}

PyObject *sections(PyObject *self, PyObject *) {
  PyObject *names = PyList_New(0);
  bool ok = names && append(names, PyUnicode_FromString("portable"));
  for (const tracert::NativeSection &section : loadedOf(self).program->sections) {
    ok = ok && append(names, PyUnicode_FromString(tracert::targetName(section.target).data()));
  }
  if (!ok) {
    Py_CLEAR(names);
  }
  return names;
}

PyObject *userInfo(PyObject *self, PyObject *) {
  const std::string &text = loadedOf(self).program->userInfo;
  return PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "surrogateescape");
}

/// Reads one argument for `input`; lists and numbers take its dtype.
bool readInput(const Program &program, const InputDef &input, PyObject *argument, Value &value) {
  DType wanted = program.values[input.value].dtype;
  bool hasOwnDType = isTensor(argument) || (!isSequence(argument) && !isPythonScalar(argument));
  if (!readValue(argument, hasOwnDType ? std::nullopt : std::optional(wanted), value)) {
    return false;
  }
  if (value->dtype() != wanted) {
    raiseAdvice(PyExc_TypeError, "convert it with .astype(...) first",
                "input '%s' expects %s, got %s", input.name.c_str(),
                tracert::dtypeName(wanted).data(), tracert::dtypeName(value->dtype()).data());
    return false;
  }
  Result<Value> host = stack().onHostRead(value);
  if (!host.ok()) {
    raise(host.status());
    return false;
  }
  value = std::move(*host);
  return true;
}

/// run(list of arguments) -> list of results, without state
PyObject *run(PyObject *self, PyObject *list) {
  Loaded &loaded = loadedOf(self);
  const Program &program = *loaded.program;
  if (!PyList_Check(list)) {
    return raiseAdvice(PyExc_TypeError, "pass a list", "run() takes a list");
  }
  Items arguments;
  if (!arguments.read(list)) {
    return nullptr;
  }
  size_t wanted = 0;
  for (const InputDef &input : program.inputs) {
    wanted += !input.isState;
  }
  if (static_cast<size_t>(arguments.size()) != wanted) {
    return raiseAdvice(PyExc_TypeError, "give each input of model.signature.inputs once",
                       "this model takes %zu inputs, got %zd", wanted, arguments.size());
  }
  Values values;
  std::vector<TensorView> views;
  Py_ssize_t next = 0;
  for (const InputDef &input : program.inputs) {
    if (input.isState) {
      continue;
    }
    Value value;
    if (!readInput(program, input, arguments[next++], value)) {
      return nullptr;
    }
    views.push_back(value->view());
    values.push_back(std::move(value));
  }
  std::vector<OwnedTensor> outputs;
  tracert::RunScope scope(loaded.control, loaded.timeLimitMs);
  Status status = loaded.executor->run(views, outputs);
  if (!status.ok()) {
    return raise(status);
  }
  PyObject *results = PyList_New(0);
  for (size_t i = 0; results && i < outputs.size(); ++i) {
    bool isState = i < program.outputs.size() && program.outputs[i].stateInput != kNoIndex;
    if (!isState && !append(results, wrapValue(ValueImpl::makeReady(std::move(outputs[i].buffer),
                                                                    std::move(outputs[i].view))))) {
      Py_CLEAR(results);
    }
  }
  return results;
}

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

/// Elements that differ in bits and are not both NaN, and the first of them; outputs are
/// contiguous.
std::pair<int64_t, int64_t> findDifferences(const TensorView &got,
                                            const tracert::TestTensor &expected) {
  size_t size = tracert::dtypeSize(got.dtype);
  const char *a = static_cast<const char *>(got.data);
  const char *b = static_cast<const char *>(expected.data);
  int64_t differences = 0;
  int64_t first = -1;
  for (int64_t i = 0; i < got.elementCount(); ++i, a += size, b += size) {
    if (std::memcmp(a, b, size) != 0 &&
        !(tracert::isNaNAt(a, got.dtype) && tracert::isNaNAt(b, got.dtype))) {
      first = differences++ == 0 ? i : first;
    }
  }
  return {differences, first};
}

/// Runs one vector.
Status verifyVector(const Program &program, Executor &executor, const tracert::TestVector &vector) {
  std::vector<TensorView> inputs;
  for (const tracert::TestTensor &input : vector.inputs) {
    inputs.push_back(TensorView::contiguous(const_cast<void *>(input.data), input.type));
  }
  std::vector<OwnedTensor> outputs;
  TRACERT_TRY(executor.run(inputs, outputs));
  for (size_t i = 0; i < vector.outputs.size() && i < outputs.size(); ++i) {
    const std::string &name = program.outputs[i].name;
    const tracert::TestTensor &expected = vector.outputs[i];
    if (!(outputs[i].view.type() == expected.type)) {
      return Status::invalidArgument("output '" + name + "' is " + outputs[i].view.type().str() +
                                     " instead of " + expected.type.str());
    }
    auto [count, first] = findDifferences(outputs[i].view, expected);
    if (count > 0) {
      return Status::invalidArgument("output '" + name + "' differs in " + std::to_string(count) +
                                     " of " + std::to_string(expected.type.elementCount()) +
                                     " elements, first in element " + std::to_string(first));
    }
  }
  return Status();
}

/// Runs all vectors in one section.
Status verifySection(Loaded &loaded, SectionChoice section) {
  const std::shared_ptr<const Program> &program = loaded.program;
  tracert::ExecutorOptions options;
  options.section = section;
  options.memoryLimit = loaded.memoryLimit;
  // Without vectors the section must still be one that can be made ready to run.
  TRACERT_TRY(makeExecutor(program, options).status());
  for (const tracert::TestVector &vector : program->testVectors) {
    // A new executor each: session state starts from the file.
    TRACERT_ASSIGN(std::unique_ptr<Executor> executor, makeExecutor(program, options));
    tracert::RunScope scope(loaded.control, loaded.timeLimitMs);
    Status status = verifyVector(*program, *executor, vector);
    if (!status.ok()) {
      return status.withMessage("test vector '" + vector.origin + "': " + status.message());
    }
  }
  return Status();
}

/// verify() -> {section: "" or what is wrong}, for the sections this processor can run
PyObject *verify(PyObject *self, PyObject *) {
  Loaded &loaded = loadedOf(self);
  PyObject *report = PyDict_New();
  auto check = [&](const char *name, SectionChoice section) {
    Status status = verifySection(loaded, section);
    PyObject *text = PyUnicode_FromString(status.message().c_str());
    bool ok = report && text && PyDict_SetItemString(report, name, text) == 0;
    Py_XDECREF(text);
    if (!ok) {
      Py_CLEAR(report);
    }
  };
  check("portable", {SectionChoice::Portable, tracert::kPortable});
  for (const tracert::NativeSection &section : loaded.program->sections) {
    if (tracert::hostDevice().supports(section.target)) {
      check(tracert::targetName(section.target).data(), {SectionChoice::Native, section.target});
    }
  }
  return report;
}

/// (section, runs, plans, launches, launches_replaced, library_kernels, arena_bytes)
PyObject *stats(PyObject *self, PyObject *) {
  Executor::Stats stats = loadedOf(self).executor->stats();
  auto count = [](uint64_t value) { return static_cast<unsigned long long>(value); };
  return Py_BuildValue("(sKKKKKK)", tracert::targetName(stats.section).data(), count(stats.runs),
                       count(stats.plans), count(stats.launchesRun),
                       count(stats.launchesReplacedByOps), count(stats.libraryKernelsRun),
                       count(stats.arenaBytes));
}

PyObject *vectorCount(PyObject *self, PyObject *) {
  return PyLong_FromSize_t(loadedOf(self).program->testVectors.size());
}

/// (load, memory, milliseconds): what load(untrusted=True) sets where the caller does not.
PyObject *untrustedLimits(PyObject *, PyObject *) {
  return Py_BuildValue("(KKK)", static_cast<unsigned long long>(tracert::kUntrustedLoadMemory),
                       static_cast<unsigned long long>(tracert::kUntrustedRunMemory),
                       static_cast<unsigned long long>(tracert::kUntrustedTimeMs));
}

PyMethodDef methods[] = {
    {"untrusted_limits", untrustedLimits, METH_NOARGS | METH_STATIC, nullptr},
    {"run", run, METH_O, nullptr},
    {"signature", signature, METH_NOARGS, nullptr},
    {"sections", sections, METH_NOARGS, nullptr},
    {"user_info", userInfo, METH_NOARGS, nullptr},
    {"verify", verify, METH_NOARGS, nullptr},
    {"stats", stats, METH_NOARGS, nullptr},
    {"vector_count", vectorCount, METH_NOARGS, nullptr},
    {},
};

} // namespace

bool addModelType(PyObject *module) {
  modelType.tp_name = "tracec._core.Model";
  modelType.tp_basicsize = sizeof(ModelObject);
  modelType.tp_flags = Py_TPFLAGS_DEFAULT;
  modelType.tp_new = newModel;
  modelType.tp_dealloc = deallocate;
  modelType.tp_methods = methods;
  return PyType_Ready(&modelType) == 0 &&
         PyModule_AddObjectRef(module, "Model", reinterpret_cast<PyObject *>(&modelType)) == 0;
}

} // namespace tracec::python
