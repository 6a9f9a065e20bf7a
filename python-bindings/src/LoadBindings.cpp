// _core.Model: a loaded file with an executor. The signature is given to Python as plain tuples.

#include "DTypes.h"
#include "FromPython.h"
#include "Sequences.h"
#include "Session.h"
#include "TensorObject.h"
#include "ToPython.h"
#include "VerifyModel.h"
#include "tracec/InterpreterLock.h"
#include "tracert/Device.h"
#include "tracert/Limits.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include <algorithm>

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

/// The path belongs into each message of the loader.
Status named(const std::string &path, const Status &status) {
  bool isNamed = status.ok() || status.message().find(path) != std::string::npos;
  return isNamed ? status : status.withMessage(path + ": " + status.message());
}

std::shared_ptr<const Program> openProgram(const std::string &path,
                                           const tracert::LoadOptions &options) {
  Result<std::shared_ptr<const Program>> program = [&] {
    WithoutInterpreter pause;
    return tracert::loadProgram(path, options);
  }();
  check(named(path, program.status()));
  return std::move(*program);
}

/// Sizes that may change are names; static ones ints.
nb::tuple describeShape(const Program &program, const ValueDef &value,
                        const std::vector<uint32_t> &symbols) {
  nb::list shape;
  for (size_t i = 0; i < value.dims.size(); ++i) {
    if (i < symbols.size() && symbols[i] != kNoIndex) {
      shape.append(program.symbols[symbols[i]].name);
    } else if (value.dims[i] == tracert::kUnknownDim) {
      shape.append("?");
    } else {
      shape.append(value.dims[i]);
    }
  }
  return nb::tuple(shape);
}

/// (name, dtype, shape, is_state)
nb::tuple describeValue(const Program &program, const std::string &name, uint32_t index,
                        const std::vector<uint32_t> &symbols, bool isState) {
  const ValueDef &value = program.values[index];
  return nb::make_tuple(name, nb::borrow(dtypeObject(value.dtype)),
                        describeShape(program, value, symbols), isState);
}

/// Reads one argument for `input`; lists and numbers take its dtype.
Value readInput(const Program &program, const InputDef &input, PyObject *argument) {
  DType wanted = program.values[input.value].dtype;
  bool hasOwnDType = isTensor(argument) || (!isSequence(argument) && !isPythonScalar(argument));
  Value value;
  check(readValue(argument, hasOwnDType ? std::nullopt : std::optional(wanted), value));
  if (value->dtype() != wanted) {
    raiseAdvice(PyExc_TypeError, "convert it with .astype(...) first",
                "input '%s' expects %s, got %s", input.name.c_str(),
                tracert::dtypeName(wanted).data(), tracert::dtypeName(value->dtype()).data());
    throw nb::python_error();
  }
  return take(stack().onHostRead(value));
}

class Model {
public:
  /// Limits: bytes and milliseconds; 0: none.
  Model(const nb::bytes &path, nb::handle section, bool verifyAll, bool copy, uint64_t loadLimit,
        uint64_t memoryLimit, uint64_t timeLimitMs)
      : pool(evalOptions().pool), limits{memoryLimit, timeLimitMs} {
    SectionChoice choice;
    check(readSection(section.ptr(), choice));
    std::string name(path.c_str(), path.size());
    tracert::LoadOptions options;
    options.verifyAll = verifyAll;
    options.portableOnly = choice.kind == SectionChoice::Portable;
    options.copy = copy;
    options.memoryLimit = loadLimit;
    program = openProgram(name, options);
    Result<std::unique_ptr<Executor>> made =
        makeExecutor(program, {.section = choice, .pool = pool.get(), .memoryLimit = memoryLimit});
    check(named(name, made.status()));
    executor = std::move(*made);
  }

  /// ([(name, dtype, shape, is_state)], [(name, dtype, shape, is_state)], [(symbol, min, max)])
  nb::tuple signature() const {
    nb::list inputs;
    for (const InputDef &input : program->inputs) {
      inputs.append(
          describeValue(*program, input.name, input.value, input.dimSymbols, input.isState));
    }
    nb::list outputs;
    for (const OutputDef &output : program->outputs) {
      outputs.append(
          describeValue(*program, output.name, output.value, {}, output.stateInput != kNoIndex));
    }
    nb::list symbols;
    for (const tracert::SymbolDef &symbol : program->symbols) {
      symbols.append(nb::make_tuple(symbol.name, symbol.min, symbol.max));
    }
    return nb::make_tuple(inputs, outputs, symbols);
  }

  nb::list sections() const {
    nb::list names;
    names.append("portable");
    for (const tracert::NativeSection &section : program->sections) {
      names.append(tracert::targetName(section.target));
    }
    return names;
  }

  nb::object userInfo() const {
    const std::string &text = program->userInfo;
    return owned(
        PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "surrogateescape"));
  }

  size_t vectorCount() const { return program->testVectors.size(); }

  /// Results without state.
  nb::list run(const nb::tuple &arguments) {
    auto wanted = std::count_if(program->inputs.begin(), program->inputs.end(),
                                [](const InputDef &input) { return !input.isState; });
    if (static_cast<ptrdiff_t>(arguments.size()) != wanted) {
      raiseAdvice(PyExc_TypeError, "give each input of model.signature.inputs once",
                  "this model takes %zd inputs, got %zu", wanted, arguments.size());
      throw nb::python_error();
    }
    Values values;
    std::vector<TensorView> views;
    Py_ssize_t next = 0;
    for (const InputDef &input : program->inputs) {
      if (!input.isState) {
        values.push_back(readInput(*program, input, PyTuple_GET_ITEM(arguments.ptr(), next++)));
        views.push_back(values.back()->view());
      }
    }
    std::vector<OwnedTensor> outputs;
    tracert::RunScope scope(control, limits.timeMs);
    check(executor->run(views, outputs));
    nb::list results;
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (i >= program->outputs.size() || program->outputs[i].stateInput == kNoIndex) {
        results.append(owned(wrapValue(
            ValueImpl::makeReady(std::move(outputs[i].buffer), std::move(outputs[i].view)))));
      }
    }
    return results;
  }

  /// {section: "" or what is wrong}, for the sections this processor can run
  nb::dict verify() {
    nb::dict report;
    auto verifyOne = [&](std::string_view name, SectionChoice section) {
      report[nb::str(name.data(), name.size())] =
          verifySection(program, section, control, limits).message();
    };
    verifyOne("portable", {SectionChoice::Portable, tracert::kPortable});
    for (const tracert::NativeSection &section : program->sections) {
      if (tracert::hostDevice().supports(section.target)) {
        verifyOne(tracert::targetName(section.target), {SectionChoice::Native, section.target});
      }
    }
    return report;
  }

  /// (section, runs, plans, launches, launches_replaced, library_kernels, arena_bytes)
  nb::tuple stats() const {
    Executor::Stats stats = executor->stats();
    return nb::make_tuple(tracert::targetName(stats.section), stats.runs, stats.plans,
                          stats.launchesRun, stats.launchesReplacedByOps, stats.libraryKernelsRun,
                          stats.arenaBytes);
  }

private:
  std::shared_ptr<const Program> program;
  /// The executor runs on it.
  std::shared_ptr<tracert::ThreadPool> pool;
  /// Of each run and each test vector.
  RunLimits limits;
  tracert::RunControl control;
  std::unique_ptr<Executor> executor;
};

/// (load, memory, milliseconds): what load(untrusted=True) sets where the caller does not.
nb::tuple untrustedLimits() {
  return nb::make_tuple(tracert::kUntrustedLoadMemory, tracert::kUntrustedRunMemory,
                        tracert::kUntrustedTimeMs);
}

} // namespace

void addModel(nb::module_ &module) {
  nb::class_<Model>(module, "Model", nb::is_final())
      .def(nb::init<const nb::bytes &, nb::handle, bool, bool, uint64_t, uint64_t, uint64_t>(),
           nb::arg("path"), nb::arg("section"), nb::arg("verify_all"), nb::arg("copy") = false,
           nb::arg("load_limit") = 0, nb::arg("memory_limit") = 0, nb::arg("time_limit_ms") = 0)
      .def_static("untrusted_limits", untrustedLimits)
      .def("signature", &Model::signature)
      .def("sections", &Model::sections)
      .def("user_info", &Model::userInfo)
      .def("vector_count", &Model::vectorCount)
      .def("run", &Model::run)
      .def("verify", &Model::verify)
      .def("stats", &Model::stats);
}

} // namespace tracec::python
