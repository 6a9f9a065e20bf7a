#include "Eager/Transforms/TraceDump.h"

#include "Eager/Evaluate.h"
#include "Eager/Transforms/TestVectors.h"
#include "tracec/Compiler.h"
#include "tracec/InterpreterLock.h"
#include "tracert/SavePath.h"

#include <algorithm>
#include <set>

namespace tracec {

using tracert::InputDef;
using tracert::kNoIndex;

namespace {

std::string locText(const tracert::SourceLoc &loc) {
  return loc.file + ":" + std::to_string(loc.line);
}

Status checkDumpable(const TraceRecord &record, const std::string &name) {
  if (record.sharesArguments()) {
    return Status::invalidArgument("'" + name +
                                   "' cannot be dumped: the recorded call's arguments " +
                                   "share memory, which a file's inputs do not")
        .withAdvice("call the function with tensors of their own before dump()");
  }
  for (size_t s = 0; s + 1 < record.segments.size(); ++s) {
    const TraceSegment &segment = record.segments[s];
    std::string what = segment.endsInExcluded ? "an excluded region" : "a host read";
    return Status::invalidArgument("'" + name + "' cannot be dumped: " + what + " at " +
                                   locText(segment.endLoc) +
                                   " needs Python; compute it with tc ops, or move it out of the "
                                   "function");
  }
  for (const TraceSlot &slot : record.slots) {
    if (slot.kind == TraceSlot::Kind::Loose) {
      return Status::invalidArgument("'" + name + "' cannot be dumped: it uses a value that is " +
                                     "neither an argument nor a captured tensor");
    }
  }
  return Status();
}

Status checkNames(const std::vector<std::string> &names, size_t wanted, const char *what) {
  if (names.size() != wanted) {
    return Status::invalidArgument("expected " + std::to_string(wanted) + " " + what +
                                   " names, got " + std::to_string(names.size()));
  }
  std::set<std::string> seen;
  for (const std::string &name : names) {
    if (name.empty() || !seen.insert(name).second) {
      return Status::invalidArgument(std::string(what) + " name '" + name +
                                     "' is empty or given twice; names must differ");
    }
  }
  return Status();
}

class Dumper : DumpedProgram {
public:
  Dumper(const TraceRecord &record, const TraceOptions &options, const DumpOptions &dump)
      : record(record), options(options), dump(dump) {}

  Status run() {
    TRACERT_TRY(tracert::checkSavePath(dump.path));
    TRACERT_TRY(checkDumpable(record, options.name));
    TRACERT_TRY(classifySlots());
    TRACERT_TRY(chooseNames());
    TRACERT_TRY(compile());
    TRACERT_TRY(fillSignature());
    TRACERT_TRY(addTestVectors(record, dump, *this));
    tracert::WriteOptions write;
    write.keepLocs = dump.keepLocs;
    write.check = dump.check;
    if (!dump.keepsTestVectors && !program->testVectors.empty()) {
      write.isTrial = true;
      TRACERT_TRY(writeProgram(*program, dump.path, write));
      write.isTrial = false;
    }
    write.keepTestVectors = dump.keepsTestVectors;
    return writeProgram(*program, dump.path, write);
  }

private:
  bool isWritten(uint32_t slot) const {
    return std::any_of(record.writes.begin(), record.writes.end(),
                       [&](const TraceWrite &write) { return write.slot == slot; });
  }

  Status classifySlots() {
    for (uint32_t i = 0; i < record.slots.size(); ++i) {
      const TraceSlot &slot = record.slots[i];
      if (slot.kind == TraceSlot::Kind::ArgumentBase) {
        continue;
      }
      if (slot.kind == TraceSlot::Kind::Captured && !isWritten(i)) {
        constantSlots.push_back(i);
        continue;
      }
      inputSlots.push_back(i);
      slot.kind == TraceSlot::Kind::Captured ? ++stateCount : ++argumentCount;
    }
    // Arguments first, so that callers number them as in Python.
    std::stable_sort(inputSlots.begin(), inputSlots.end(), [&](uint32_t a, uint32_t b) {
      return (record.slots[a].kind == TraceSlot::Kind::Captured) <
             (record.slots[b].kind == TraceSlot::Kind::Captured);
    });
    return Status();
  }

  Status chooseNames() {
    inputNames = dump.inputNames;
    if (inputNames.empty()) {
      for (uint32_t slot : inputSlots) {
        const TraceSlot &s = record.slots[slot];
        if (s.kind == TraceSlot::Kind::Argument) {
          inputNames.push_back(record.argumentNames[s.argument]);
        }
      }
    }
    TRACERT_TRY(checkNames(inputNames, argumentCount, "input"));
    for (size_t i = 0; i < stateCount; ++i) {
      inputNames.push_back("state" + std::to_string(i));
    }
    // Each returned tensor is an output, also when two are the same value.
    for (VarId var : record.results) {
      outputs.push_back({var, kNoIndex});
    }
    outputNames = dump.outputNames;
    if (outputNames.empty()) {
      for (size_t i = 0; i < outputs.size(); ++i) {
        outputNames.push_back("output" + std::to_string(i));
      }
    }
    TRACERT_TRY(checkNames(outputNames, outputs.size(), "output"));
    for (const TraceWrite &write : record.writes) {
      auto input = std::find(inputSlots.begin(), inputSlots.end(), write.slot);
      uint32_t index = static_cast<uint32_t>(input - inputSlots.begin());
      bool isState = record.slots[write.slot].kind == TraceSlot::Kind::Captured;
      outputs.push_back({write.var, isState ? index : kNoIndex});
      outputNames.push_back(inputNames[index] + "_out");
    }
    return Status();
  }

  Status compile() {
    std::vector<VarId> inputVars;
    for (uint32_t slot : inputSlots) {
      inputVars.push_back(record.slots[slot].var);
    }
    size_t runtimeInputs = inputVars.size();
    for (uint32_t slot : constantSlots) {
      inputVars.push_back(record.slots[slot].var);
    }
    std::vector<VarId> outputVars;
    for (const DumpedOutput &output : outputs) {
      outputVars.push_back(output.var);
    }
    TraceGraph graph = record.graph(options.name, 0, static_cast<uint32_t>(record.steps.size()),
                                    inputVars, outputVars, GuardSet::InFile);
    // Captures that are only read are weights.
    for (size_t i = 0; i < constantSlots.size(); ++i) {
      TRACERT_ASSIGN(Value weight, contiguousCopy(record.slots[constantSlots[i]].cell->value));
      VarId var = graph.inputs[runtimeInputs + i];
      graph.vars[var].type = weight->type();
      graph.vars[var].dims = weight->shape();
      graph.constants.push_back({var, weight->view().data,
                                 std::shared_ptr<const void>(new Value(weight), [](const void *p) {
                                   delete static_cast<const Value *>(p);
                                 })});
      slotValues[constantSlots[i]] = weight;
    }
    graph.inputs.resize(runtimeInputs);
    graph.inputNames = inputNames;
    graph.outputNames = outputNames;
    TRACERT_TRY(fixDims(graph));
    inferResults(graph);
    numberSizes(graph);
    CompileOptions compileOptions;
    compileOptions.targets = dump.targets;
    compileOptions.optLevel = options.optLevel;
    TRACERT_ASSIGN(const CompilerApi *compiler, loadCompiler());
    WithoutInterpreter pause;
    return compiler->compile(graph, compileOptions, &program);
  }

  /// With an explicit `dynamic`, every size that is not named there is fixed.
  Status fixDims(TraceGraph &graph) {
    if (dump.dynamicDims.empty()) {
      return Status();
    }
    for (size_t i = 0; i < graph.inputs.size(); ++i) {
      TraceVar &var = graph.vars[graph.inputs[i]];
      var.dims = var.type.shape;
    }
    for (const DumpOptions::DynamicDim &dim : dump.dynamicDims) {
      if (dim.input >= argumentCount ||
          dim.axis >= graph.vars[graph.inputs[dim.input]].dims.size()) {
        return Status::invalidArgument("dynamic names axis " + std::to_string(dim.axis) +
                                       " of input " + std::to_string(dim.input) +
                                       ", which does not exist");
      }
      int64_t size = graph.vars[graph.inputs[dim.input]].type.shape[dim.axis];
      const tracert::SymbolDef &symbol = dump.symbols[dim.symbol];
      if (size < symbol.min || size > symbol.max) {
        return Status::invalidArgument(
            "dynamic says that axis " + std::to_string(dim.axis) + " of '" + inputNames[dim.input] +
            "' is from " + std::to_string(symbol.min) + " to " + std::to_string(symbol.max) +
            ", and the recorded call has " + std::to_string(size) +
            "; call the function with a size in the range before dump()");
      }
      graph.vars[graph.inputs[dim.input]].dims[dim.axis] = tracert::kUnknownDim;
    }
    return Status();
  }

  /// The door of a file compares only sizes that have one name: others may meet in a broadcast,
  /// where 1 is as good as equal.
  void numberSizes(TraceGraph &graph) const {
    auto next = static_cast<int64_t>(dump.symbols.size());
    for (size_t i = 0; i < graph.inputs.size(); ++i) {
      std::vector<int64_t> &numbers = graph.sizeNumbers.emplace_back();
      for (int64_t size : graph.vars[graph.inputs[i]].dims) {
        std::optional<uint32_t> symbol =
            givenSymbol(static_cast<uint32_t>(i), static_cast<uint32_t>(numbers.size()));
        numbers.push_back(size != tracert::kUnknownDim ? -1 : symbol ? *symbol : next++);
      }
    }
  }

  std::optional<uint32_t> givenSymbol(uint32_t input, uint32_t axis) const {
    for (const DumpOptions::DynamicDim &dim : dump.dynamicDims) {
      if (dim.input == input && dim.axis == axis) {
        return dim.symbol;
      }
    }
    return std::nullopt;
  }

  /// The sizes of results again, now that those of weights and inputs are final: passes infer the
  /// types of new ops, which must agree with the declared ones.
  static void inferResults(TraceGraph &graph) {
    for (const TraceOp &op : graph.ops) {
      std::vector<tracert::OperandInfo> infos;
      for (VarId operand : op.operands) {
        infos.push_back({{graph.vars[operand].type.dtype, graph.vars[operand].dims}});
      }
      Result<tracert::ResultTypes> types = tracert::inferTypes(op.call, infos);
      for (size_t i = 0; types.ok() && i < op.results.size(); ++i) {
        graph.vars[op.results[i]].dims = (*types)[i].shape;
      }
    }
  }

  Status fillSignature() {
    program->userInfo = dump.userInfo;
    program->symbols = dump.symbols;
    for (size_t i = 0; i < program->inputs.size(); ++i) {
      InputDef &input = program->inputs[i];
      input.name = inputNames[i];
      const Dims &dims = program->values[input.value].dims;
      input.dimSymbols.assign(dims.size(), kNoIndex);
      for (size_t axis = 0; axis < dims.size(); ++axis) {
        if (dims[axis] == tracert::kUnknownDim) {
          input.dimSymbols[axis] = symbolFor(static_cast<uint32_t>(i), static_cast<uint32_t>(axis));
        }
      }
      if (i >= argumentCount) {
        TRACERT_TRY(makeState(input, inputSlots[i]));
      }
    }
    for (size_t i = 0; i < program->outputs.size(); ++i) {
      program->outputs[i].name = outputNames[i];
      program->outputs[i].stateInput = outputs[i].stateInput;
    }
    return Status();
  }

  uint32_t symbolFor(uint32_t input, uint32_t axis) {
    if (std::optional<uint32_t> given = givenSymbol(input, axis)) {
      return *given;
    }
    tracert::SymbolDef symbol{inputNames[input] + "_dim" + std::to_string(axis), 0, INT64_MAX};
    program->symbols.push_back(std::move(symbol));
    return static_cast<uint32_t>(program->symbols.size() - 1);
  }

  Status makeState(InputDef &input, uint32_t slot) {
    TRACERT_ASSIGN(Value initial, contiguousCopy(record.slots[slot].cell->value));
    slotValues[slot] = initial;
    tracert::ValueDef value{initial->dtype(), initial->shape()};
    program->values.push_back(value);
    input.isState = true;
    input.initialConstant = static_cast<uint32_t>(program->constants.size());
    program->constants.push_back({static_cast<tracert::ValueId>(program->values.size() - 1),
                                  initial->type(), keep(*program, initial)});
    return Status();
  }

  const TraceRecord &record;
  const TraceOptions &options;
  const DumpOptions &dump;
  std::vector<uint32_t> constantSlots;
  size_t argumentCount = 0;
  size_t stateCount = 0;
  std::vector<std::string> inputNames;
  std::vector<std::string> outputNames;
};

} // namespace

Result<std::vector<Tensor>> copyRecordedArguments(const TraceRecord &record) {
  std::vector<Tensor> copies(record.signature.sameAs.size());
  for (size_t i = 0; i < copies.size(); ++i) {
    uint32_t argument = record.signature.sameAs[i];
    auto slot = std::find_if(record.slots.begin(), record.slots.end(), [&](const TraceSlot &one) {
      return one.kind == TraceSlot::Kind::Argument && one.argument == argument;
    });
    const RecordedInput &input =
        record.recordedInputs[static_cast<size_t>(slot - record.slots.begin())];
    Value value = input.value;
    if (!value) {
      Tensor tensor = input.tensor.lock();
      if (!tensor.isDefined()) {
        return Status::invalidArgument("the recorded call's arguments share memory, which a file's "
                                       "inputs do not, and '" +
                                       record.argumentNames[i] +
                                       "' is gone, so that it cannot be recorded again")
            .withAdvice("call the function with tensors of their own before dump()");
      }
      TRACERT_ASSIGN(value, tensor.read());
    }
    TRACERT_ASSIGN(value, contiguousCopy(value));
    copies[i] = Tensor::fromValue(std::move(value));
  }
  return copies;
}

std::vector<Tensor> capturesWrittenBy(const TraceRecord &record) {
  std::vector<Tensor> captures;
  for (uint32_t i = 0; i < record.slots.size(); ++i) {
    bool isWritten = std::any_of(record.writes.begin(), record.writes.end(),
                                 [&](const TraceWrite &write) { return write.slot == i; });
    if (isWritten && record.slots[i].kind == TraceSlot::Kind::Captured) {
      captures.push_back(Tensor::fromCell(record.slots[i].cell));
    }
  }
  return captures;
}

Status dumpRecord(const TraceRecord &record, const TraceOptions &options, const DumpOptions &dump) {
  return Dumper(record, options, dump).run();
}

} // namespace tracec
