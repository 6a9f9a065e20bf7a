#include "Eager/Transforms/TraceRecord.h"

#include "Eager/Evaluate.h"

#include <algorithm>

namespace tracec {

using tracert::AttrValue;
using tracert::OpKind;

TypeKey TypeKey::of(const TensorType &type) {
  TypeKey key{type.dtype, type.shape.size(), 0};
  for (size_t i = 0; i < type.shape.size(); ++i) {
    key.onesMask |= static_cast<uint64_t>(type.shape[i] == 1) << i;
  }
  return key;
}

namespace {

/// Sizes of 1 are static; any other may change from call to call.
Dims dynamicDims(const Dims &shape) {
  Dims dims = shape;
  for (int64_t &dim : dims) {
    dim = dim == 1 ? 1 : tracert::kUnknownDim;
  }
  return dims;
}

class GraphBuilder {
public:
  GraphBuilder(const TraceRecord &record, TraceGraph &graph)
      : record(record), graph(graph), local(record.vars.size(), ~0u) {}

  void addInput(VarId var, std::string name) {
    if (local[var] != ~0u) {
      return;
    }
    graph.inputs.push_back(define(var));
    graph.inputNames.push_back(std::move(name));
  }

  void addStep(const TraceStep &step, uint32_t nextOp) {
    if (!step.isConstant) {
      addOp(record.ops[step.index], step.index);
      return;
    }
    const ConstantStep &constant = record.constants[step.index];
    const TensorView &view = constant.value->view();
    VarId var = define(constant.var);
    if (view.rank() == 0) {
      // A number is an op without operands, which the compiler folds into its users.
      tracert::Scalar scalar{view.dtype, 0};
      std::memcpy(&scalar.bits, view.data, tracert::dtypeSize(view.dtype));
      TraceOp op;
      op.call = {OpKind::full, {AttrValue::ints({}), AttrValue::scalar(scalar)}};
      op.results = {var};
      op.loc = constant.loc;
      op.id = nextOp;
      graph.ops.push_back(std::move(op));
      return;
    }
    graph.constants.push_back(
        {var, view.data, std::shared_ptr<const void>(new Value(constant.value), [](const void *p) {
           delete static_cast<const Value *>(p);
         })});
  }

  void addOutput(VarId var, std::string name) {
    graph.outputs.push_back(local[var]);
    graph.outputNames.push_back(std::move(name));
  }

private:
  VarId define(VarId var) {
    local[var] = static_cast<VarId>(graph.vars.size());
    graph.vars.push_back({record.vars[var], dynamicDims(record.vars[var].shape)});
    return local[var];
  }
  void addOp(const OpStep &step, uint32_t id) {
    TraceOp op;
    op.call = step.call;
    for (VarId operand : step.operands) {
      op.operands.push_back(local[operand]);
    }
    for (VarId result : step.results) {
      op.results.push_back(define(result));
    }
    op.loc = step.loc;
    op.indexMode = step.indexMode;
    op.id = id;
    graph.ops.push_back(std::move(op));
  }

  const TraceRecord &record;
  TraceGraph &graph;
  std::vector<VarId> local;
};

} // namespace

TraceGraph TraceRecord::graph(const std::string &name, uint32_t first, uint32_t end,
                              const std::vector<VarId> &inputs,
                              const std::vector<VarId> &outputs) const {
  TraceGraph result;
  result.name = name;
  GraphBuilder builder(*this, result);
  for (VarId var : inputs) {
    uint32_t slot = slotOfVar[var];
    bool isArgument = slot != ~0u && slots[slot].kind == TraceSlot::Kind::Argument;
    builder.addInput(var, isArgument ? argumentNames[slots[slot].argument]
                                     : "value" + std::to_string(var));
  }
  // Constants of earlier segments are constants here, too.
  for (uint32_t i = 0; i < first; ++i) {
    if (steps[i].isConstant) {
      builder.addStep(steps[i], 0);
    }
  }
  for (uint32_t i = first; i < end; ++i) {
    uint32_t nextOp = 0;
    for (uint32_t j = i; j < end && steps[i].isConstant; ++j) {
      if (!steps[j].isConstant) {
        nextOp = steps[j].index;
        break;
      }
    }
    builder.addStep(steps[i], nextOp);
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    builder.addOutput(outputs[i], "output" + std::to_string(i));
  }
  return result;
}

TraceGraph TraceRecord::wholeGraph(const std::string &name) const {
  std::vector<VarId> inputs;
  for (const TraceSlot &slot : slots) {
    inputs.push_back(slot.var);
  }
  std::vector<VarId> outputs;
  auto add = [&](VarId var) {
    if (var != ~0u && std::find(outputs.begin(), outputs.end(), var) == outputs.end()) {
      outputs.push_back(var);
    }
  };
  std::for_each(results.begin(), results.end(), add);
  for (const TraceWrite &write : writes) {
    add(write.var);
  }
  return graph(name, 0, static_cast<uint32_t>(steps.size()), inputs, outputs);
}

void TraceRecord::findSegmentInputs() {
  std::vector<uint8_t> isConstant(vars.size(), 0);
  for (const ConstantStep &constant : constants) {
    isConstant[constant.var] = 1;
  }
  std::vector<uint32_t> seenIn(vars.size(), ~0u);
  for (uint32_t s = 0; s < segments.size(); ++s) {
    TraceSegment &segment = segments[s];
    for (uint32_t i = segment.firstStep; i < segment.endStep; ++i) {
      if (steps[i].isConstant) {
        continue;
      }
      const OpStep &op = ops[steps[i].index];
      for (VarId operand : op.operands) {
        if (seenIn[operand] != s && !isConstant[operand]) {
          segment.inputs.push_back(operand);
          seenIn[operand] = s;
        }
      }
      for (VarId result : op.results) {
        seenIn[result] = s;
      }
    }
  }
}

//===----------------------------------------------------------------------===//
// Compiled segments
//===----------------------------------------------------------------------===//

Result<CompiledRecord::SegmentState::IdleExecutor> CompiledRecord::takeExecutor(size_t index) {
  const EvalOptions &eval = evalOptions();
  tracert::SectionChoice section{static_cast<tracert::SectionChoice::Kind>(eval.sectionKind),
                                 eval.isa};
  std::lock_guard lock(mutex);
  SegmentState &state = states[index];
  for (size_t i = 0; i < state.idle.size(); ++i) {
    SegmentState::IdleExecutor &idle = state.idle[i];
    if (idle.section.kind == section.kind && idle.section.isa == section.isa &&
        idle.pool == eval.pool) {
      SegmentState::IdleExecutor taken = std::move(idle);
      state.idle.erase(state.idle.begin() + static_cast<ptrdiff_t>(i));
      return taken;
    }
  }
  // The portable section runs in the program compiled for any level; code is made for one only.
  tracert::Isa isa = section.kind == tracert::SectionChoice::Native ? section.isa
                                                                    : tracert::bestIsa();
  std::shared_ptr<const tracert::Program> &program = state.programs[isa];
  if (!program) {
    TRACERT_ASSIGN(const CompilerApi *compiler, loadCompiler());
    const TraceSegment &segment = record.segments[index];
    TraceGraph graph = record.graph(options.name, segment.firstStep, segment.endStep,
                                    segment.inputs, segment.outputs);
    CompileOptions compileOptions;
    if (isa != tracert::Isa::Portable) {
      compileOptions.targets = {isa};
    }
    compileOptions.optLevel = options.optLevel;
    std::shared_ptr<tracert::Program> fresh;
    TRACERT_TRY(compiler->compile(graph, compileOptions, &fresh));
    program = std::move(fresh);
  }
  if (section.kind == tracert::SectionChoice::Best && isa == tracert::Isa::Portable) {
    section.kind = tracert::SectionChoice::Portable;
  }
  tracert::ExecutorOptions executorOptions;
  executorOptions.section = section;
  executorOptions.pool = eval.pool;
  TRACERT_ASSIGN(std::unique_ptr<tracert::Executor> executor,
                 tracert::Executor::create(program, executorOptions));
  return SegmentState::IdleExecutor{section, eval.pool, std::move(executor)};
}

Status CompiledRecord::runSegment(size_t index, std::span<const TensorView> inputs,
                                  std::vector<tracert::OwnedTensor> &outputs) {
  TRACERT_ASSIGN(SegmentState::IdleExecutor taken, takeExecutor(index));
  Status status = taken.executor->run(inputs, outputs);
  std::lock_guard lock(mutex);
  states[index].idle.push_back(std::move(taken));
  return status;
}

TracedFunction::Stats CompiledRecord::stats() const {
  std::lock_guard lock(mutex);
  TracedFunction::Stats stats;
  stats.ops = record.ops.size();
  stats.segments = record.segments.size();
  for (const SegmentState &state : states) {
    if (!state.programs.empty() && !state.programs.rbegin()->second->sections.empty()) {
      stats.kernels += state.programs.rbegin()->second->sections.front().kernels.size();
    }
    for (const SegmentState::IdleExecutor &idle : state.idle) {
      stats.arenaBytes += idle.executor->stats().arenaBytes;
      stats.replays += idle.executor->stats().runs;
    }
  }
  return stats;
}

} // namespace tracec
