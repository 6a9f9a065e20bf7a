// _core.Trace holds the record of a traced function. Its calls are in TraceCall.cpp; arguments are
// flattened in tracec/trace.py.

#include "Arguments.h"
#include "Session.h"
#include "TraceCall.h"
#include "tracec/Compiler.h"
#include "tracec/InterpreterLock.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

namespace tracec::python {

using tracert::Target;

namespace {

struct Trace {
  std::shared_ptr<TracedFunction> function;

  /// (name, opt_level), which are the user's: CPython's converters say what is wrong with them.
  explicit Trace(const nb::args &arguments) {
    const char *name;
    TraceOptions options;
    check(PyArg_ParseTuple(arguments.ptr(), "si", &name, &options.optLevel) != 0);
    options.name = name;
    function = TracedFunction::create(std::move(options));
  }
};

template <CallScope::Purpose purpose>
nb::object begin(const Trace &trace, const nb::list &tensors, const nb::list &names,
                 const nb::str &structure) {
  return owned(beginCall(trace.function, tensors.ptr(), names.ptr(), structure.ptr(), purpose));
}

/// Text that may quote what is no UTF-8.
nb::object replacing(const std::string &text) {
  return owned(PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace"));
}

/// The text of the module after a stage.
nb::object printStage(const Trace &trace, nb::handle stage) {
  std::string name;
  check(readText(stage.ptr(), name));
  TraceGraph graph = take(trace.function->graph());
  const CompilerApi *compiler = take(loadCompiler());
  CompileOptions options;
  options.targets = {tracert::bestTarget()};
  options.optLevel = trace.function->optLevel();
  std::string text;
  check([&] {
    WithoutInterpreter pause;
    return compiler->printStage(graph, options, name, &text);
  }());
  return replacing(text);
}

/// As trace.Stats; of the sections that ran {name: runs}.
nb::tuple stats(const Trace &trace) {
  TracedFunction::Stats stats = trace.function->stats();
  nb::dict runs;
  for (size_t i = 0; i < stats.runsOnTarget.size(); ++i) {
    if (stats.runsOnTarget[i] != 0) {
      runs[tracert::kTargets[i].name.data()] = stats.runsOnTarget[i];
    }
  }
  return nb::make_tuple(stats.ops, stats.segments, stats.kernels, stats.specialisations,
                        stats.arenaBytes, stats.replays, stats.launches, stats.launchesReplaced,
                        stats.libraryKernels, runs);
}

const char *state(const Trace &trace) {
  switch (trace.function->state()) {
  case TracedFunction::State::Untraced:
    return "untraced";
  case TracedFunction::State::Traced:
    return "traced";
  case TracedFunction::State::Compiled:
    break;
  }
  return "compiled";
}

//===----------------------------------------------------------------------===//
// Dump
//===----------------------------------------------------------------------===//

/// [(input, axis, symbol name, min, max), ...]; equal names are one symbol.
void readDynamic(const nb::list &entries, DumpOptions &options) {
  for (nb::handle entry : entries) {
    unsigned int input;
    unsigned int axis;
    const char *name;
    long long min;
    long long max;
    check(PyArg_Parse(entry.ptr(), "(IIsLL)", &input, &axis, &name, &min, &max) != 0);
    auto known =
        std::find_if(options.symbols.begin(), options.symbols.end(),
                     [&](const tracert::SymbolDef &symbol) { return symbol.name == name; });
    auto symbol = static_cast<uint32_t>(known - options.symbols.begin());
    if (known == options.symbols.end()) {
      options.symbols.push_back({name, min, max});
    }
    options.dynamicDims.push_back({input, axis, symbol});
  }
}

std::vector<Target> targetsNamed(const std::vector<std::string> &names) {
  std::vector<Target> targets;
  for (const std::string &name : names) {
    std::optional<Target> target = tracert::targetFromName(name);
    if (!target) {
      raiseFormat(PyExc_ValueError, "unknown target '%s'", name.c_str());
      throw nb::python_error();
    }
    targets.push_back(*target);
  }
  return targets;
}

/// `check` is called with the path as str; what it raises is what dump raises.
Status callCheck(const nb::callable &check, const std::string &path) {
  PyObject *name =
      PyUnicode_DecodeFSDefaultAndSize(path.data(), static_cast<Py_ssize_t>(path.size()));
  PyObject *result = name ? PyObject_CallOneArg(check.ptr(), name) : nullptr;
  Py_XDECREF(name);
  Py_XDECREF(result);
  return result ? Status() : Status::internal("the file's check raised an exception");
}

using Tensors = std::vector<Tensor>;
using Texts = std::vector<std::string>;
/// (origin, arguments, arguments after, results, captures after)
using TestCallTuple = std::tuple<std::string, Tensors, Tensors, Tensors, Tensors>;

void dump(const Trace &trace, const nb::bytes &path, Texts inputNames, Texts outputNames,
          const Texts &targets, bool keepLocs, std::string userInfo, const nb::list &dynamic,
          std::vector<TestCallTuple> testCalls, bool keepsTestVectors,
          const nb::callable &fileCheck) {
  DumpOptions options;
  options.path.assign(path.c_str(), path.size());
  options.inputNames = std::move(inputNames);
  options.outputNames = std::move(outputNames);
  options.targets = targetsNamed(targets);
  options.keepLocs = keepLocs;
  options.userInfo = std::move(userInfo);
  readDynamic(dynamic, options);
  for (auto &[origin, arguments, after, results, captures] : testCalls) {
    options.testCalls.push_back({std::move(origin), std::move(arguments), std::move(after),
                                 std::move(results), std::move(captures)});
  }
  options.keepsTestVectors = keepsTestVectors;
  options.check = [&](const std::string &file) { return callCheck(fileCheck, file); };
  check(trace.function->dump(options));
}

} // namespace

void addTrace(nb::module_ &module) {
  nb::class_<Trace>(module, "Trace", nb::is_final())
      .def(nb::init<const nb::args &>())
      .def("begin", begin<CallScope::Purpose::Call>)
      .def("begin_for_dump", begin<CallScope::Purpose::RecordForDump>)
      .def_prop_ro("state", state)
      .def("explain", [](const Trace &trace) { return replacing(trace.function->explain()); })
      .def("graph", printStage)
      .def("stats", stats)
      .def("shares_arguments", [](const Trace &trace) { return trace.function->sharesArguments(); })
      .def("recorded_arguments",
           [](const Trace &trace) { return take(trace.function->recordedArguments()); })
      .def("written_captures",
           [](const Trace &trace) { return take(trace.function->writtenCaptures()); })
      .def("dump", dump);
}

} // namespace tracec::python
