#include "Eager/Transforms/TraceRecord.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

namespace tracec {

using tracert::AttrValue;
using tracert::OpKind;

TypeKey TypeKey::of(DType dtype, const Dims &shape) {
  TypeKey key{dtype, shape.size(), 0};
  for (size_t i = 0; i < shape.size(); ++i) {
    key.onesMask |= static_cast<uint64_t>(shape[i] == 1) << i;
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
  GraphBuilder(const TraceRecord &record, TraceGraph &graph) : record(record), graph(graph) {}

  void addInput(VarId var, const TensorType &type, std::string name) {
    if (local.contains(var)) {
      return;
    }
    graph.inputs.push_back(define(var, type, dynamicDims(type.shape)));
    graph.inputNames.push_back(std::move(name));
  }

  void addOp(const OpStep &step, uint32_t id) {
    TraceOp op;
    op.call = step.call;
    for (VarId operand : step.operands) {
      op.operands.push_back(localOf(operand, id));
    }
    std::vector<Dims> dims = resultDims(step, op.operands);
    for (size_t i = 0; i < step.results.size(); ++i) {
      VarId result = step.results[i];
      op.results.push_back(define(result, record.vars[result], std::move(dims[i])));
    }
    op.loc = step.loc;
    op.indexMode = step.indexMode;
    op.id = id;
    graph.ops.push_back(std::move(op));
  }

  /// `id`: of the op before which the guard must hold.
  void addGuard(const TraceGuard &guard, uint32_t id) {
    TraceOp op;
    op.call = guard.call;
    for (VarId operand : guard.operands) {
      op.operands.push_back(localOf(operand, id));
    }
    graph.vars.push_back({{DType::Int64, {}}, {}});
    op.results.push_back(static_cast<VarId>(graph.vars.size() - 1));
    op.loc = guard.loc;
    op.id = id;
    graph.ops.push_back(std::move(op));
  }

  void addOutput(VarId var, std::string name) {
    graph.outputs.push_back(localOf(var, static_cast<uint32_t>(record.ops.size())));
    graph.outputNames.push_back(std::move(name));
  }

private:
  VarId define(VarId var, const TensorType &type, Dims dims) {
    VarId number = static_cast<VarId>(graph.vars.size());
    local.emplace(var, number);
    graph.vars.push_back({type, std::move(dims)});
    return number;
  }

  /// Constants are defined where they are used first, by op `user`.
  VarId localOf(VarId var, uint32_t user) {
    auto known = local.find(var);
    if (known != local.end()) {
      return known->second;
    }
    uint32_t constant = record.constantOfVar[var];
    return constant == ~0u ? ~0u : addConstant(record.constants[constant], user);
  }

  VarId addConstant(const ConstantStep &constant, uint32_t user) {
    const TensorView &view = constant.value->view();
    VarId var = define(constant.var, view.type(), dynamicDims(view.shape));
    if (view.rank() == 0) {
      // A number is an op without operands, which the compiler folds into its users.
      tracert::Scalar scalar{view.dtype, 0};
      std::memcpy(&scalar.bits, view.data, tracert::dtypeSize(view.dtype));
      TraceOp op;
      op.call = {OpKind::full, {AttrValue::ints({}), AttrValue::scalar(scalar)}};
      op.results = {var};
      op.loc = constant.loc;
      op.id = user;
      graph.ops.push_back(std::move(op));
      return var;
    }
    graph.constants.push_back(
        {var, view.data, std::shared_ptr<const void>(new Value(constant.value), [](const void *p) {
           delete static_cast<const Value *>(p);
         })});
    return var;
  }

  /// A result that had size 1 while recording need not have it again (the count of a mask, x[1:]):
  /// it is static only where the type rule says so.
  std::vector<Dims> resultDims(const OpStep &step, const std::vector<VarId> &operands) const {
    std::vector<tracert::OperandInfo> infos;
    for (VarId operand : operands) {
      const TraceVar &var = graph.vars[operand];
      infos.push_back({{var.type.dtype, var.dims}});
    }
    Result<tracert::ResultTypes> types = tracert::inferTypes(step.call, infos);
    std::vector<Dims> dims;
    for (size_t i = 0; i < step.results.size(); ++i) {
      dims.push_back(types.ok()
                         ? dynamicDims((*types)[i].shape)
                         : Dims(record.vars[step.results[i]].shape.size(), tracert::kUnknownDim));
    }
    return dims;
  }

  const TraceRecord &record;
  TraceGraph &graph;
  std::unordered_map<VarId, VarId> local;
};

} // namespace

TraceGraph TraceRecord::graph(const std::string &name, uint32_t first, uint32_t end,
                              const std::vector<VarId> &inputs, const std::vector<VarId> &outputs,
                              GuardSet guardSet, std::span<const TensorType> inputTypes) const {
  TraceGraph result;
  result.name = name;
  GraphBuilder builder(*this, result);
  for (size_t i = 0; i < inputs.size(); ++i) {
    VarId var = inputs[i];
    uint32_t slot = slotOfVar[var];
    bool isArgument = slot != ~0u && slots[slot].kind == TraceSlot::Kind::Argument;
    builder.addInput(var, inputTypes.empty() ? vars[var] : inputTypes[i],
                     isArgument ? argumentNames[slots[slot].argument]
                                : "value" + std::to_string(var));
  }
  auto guard = std::find_if(guards.begin(), guards.end(), [&](const TraceGuard &candidate) {
    return segments[candidate.segment].firstStep >= first;
  });
  auto addGuardsUpTo = [&](uint32_t step) {
    for (; guard != guards.end() && guard->afterStep <= step &&
           segments[guard->segment].endStep <= end;
         ++guard) {
      bool isWanted = (guardSet == GuardSet::OnData && guard->hangsOnData) ||
                      (guardSet == GuardSet::InFile && guard->isInFile);
      if (isWanted) {
        builder.addGuard(*guard, opAfter(guard->afterStep));
      }
    }
  };
  for (uint32_t i = first; i < end; ++i) {
    addGuardsUpTo(i);
    if (!steps[i].isConstant) {
      builder.addOp(ops[steps[i].index], steps[i].index);
    }
  }
  addGuardsUpTo(end);
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
  return graph(name, 0, static_cast<uint32_t>(steps.size()), inputs, outputs, GuardSet::None);
}

bool TraceRecord::sharesArguments() const {
  for (uint32_t i = 0; i < signature.sameAs.size(); ++i) {
    if (signature.sameAs[i] != i) {
      return true;
    }
  }
  std::vector<uint8_t> isUsed(vars.size(), 0);
  for (const OpStep &op : ops) {
    for (VarId operand : op.operands) {
      isUsed[operand] = 1;
    }
  }
  for (const TraceWrite &write : writes) {
    const TraceSlot &slot = slots[write.slot];
    isUsed[slot.var] = 1;
    // Another argument of the written cell.
    for (uint32_t i = 0; slot.kind == TraceSlot::Kind::Argument && i < signature.cellOf.size();
         ++i) {
      if (i != slot.argument && signature.cellOf[i] == signature.cellOf[slot.argument]) {
        return true;
      }
    }
  }
  for (const TraceGuard &guard : guards) {
    const TraceSlot *root = guard.isInFile && slotOfVar[guard.operands[0]] != ~0u
                                ? &slots[slotOfVar[guard.operands[0]]]
                                : nullptr;
    // The file's own test vector lies in order.
    if (root && guard.isOnStrides() && !root->isContiguous &&
        root->kind == TraceSlot::Kind::Argument) {
      return true;
    }
  }
  return std::any_of(slots.begin(), slots.end(), [&](const TraceSlot &slot) {
    return slot.kind == TraceSlot::Kind::ArgumentBase && isUsed[slot.var];
  });
}

uint32_t TraceRecord::opAfter(uint32_t step) const {
  while (step < steps.size() && steps[step].isConstant) {
    ++step;
  }
  return step < steps.size() ? steps[step].index : static_cast<uint32_t>(ops.size());
}

std::vector<uint64_t> TraceRecord::alwaysOnesOf(const OpStep &op, size_t resultCount) const {
  std::vector<tracert::OperandInfo> infos;
  for (VarId operand : op.operands) {
    Dims dims(vars[operand].shape.size(), tracert::kUnknownDim);
    for (size_t i = 0; i < dims.size(); ++i) {
      if ((alwaysOnes[operand] >> i & 1) != 0) {
        dims[i] = 1;
      }
    }
    infos.push_back({{vars[operand].dtype, std::move(dims)}});
  }
  std::vector<uint64_t> ones(resultCount, 0);
  Result<tracert::ResultTypes> types = tracert::inferTypes(op.call, infos);
  for (size_t i = 0; types.ok() && i < resultCount; ++i) {
    ones[i] = TypeKey::of((*types)[i]).onesMask;
  }
  return ones;
}

void TraceRecord::completeSegments() {
  constantOfVar.assign(vars.size(), ~0u);
  for (uint32_t i = 0; i < constants.size(); ++i) {
    constantOfVar[constants[i].var] = i;
  }
  findGuardsOnData();
  findSegmentInputs();
  giveSegmentInputs();
}

/// What a later segment reads is an output of the segment that computes it, also when only a guard
/// reads it and Python had let go of it.
void TraceRecord::giveSegmentInputs() {
  std::vector<uint32_t> producer(vars.size(), ~0u);
  for (uint32_t s = 0; s < segments.size(); ++s) {
    for (uint32_t i = segments[s].firstStep; i < segments[s].endStep; ++i) {
      if (!steps[i].isConstant) {
        for (VarId result : ops[steps[i].index].results) {
          producer[result] = s;
        }
      }
    }
  }
  std::vector<uint8_t> isOutput(vars.size(), 0);
  for (const TraceSegment &segment : segments) {
    for (VarId output : segment.outputs) {
      isOutput[output] = 1;
    }
  }
  for (const TraceSegment &segment : segments) {
    for (VarId input : segment.inputs) {
      if (producer[input] != ~0u && !isOutput[input]) {
        segments[producer[input]].outputs.push_back(input);
        isOutput[input] = 1;
      }
    }
  }
}

void TraceRecord::findSegmentInputs() {
  std::vector<uint32_t> seenIn(vars.size(), ~0u);
  for (uint32_t s = 0; s < segments.size(); ++s) {
    TraceSegment &segment = segments[s];
    for (uint32_t i = segment.firstStep; i < segment.endStep; ++i) {
      if (steps[i].isConstant) {
        continue;
      }
      const OpStep &op = ops[steps[i].index];
      for (VarId operand : op.operands) {
        if (seenIn[operand] != s && constantOfVar[operand] == ~0u) {
          segment.inputs.push_back(operand);
          seenIn[operand] = s;
        }
      }
      for (VarId result : op.results) {
        seenIn[result] = s;
      }
    }
    for (const TraceGuard &guard : guards) {
      bool isHere = guard.hangsOnData && guard.segment == s;
      for (VarId operand : isHere ? guard.operands : std::vector<VarId>()) {
        if (seenIn[operand] != s && constantOfVar[operand] == ~0u) {
          segment.inputs.push_back(operand);
          seenIn[operand] = s;
        }
      }
    }
  }
}

namespace {

/// The types that a call with the recorded sizes has, but for what depends on data: counts, and
/// bounds and sizes that are no sizes of tensors.
class KnownTypes {
public:
  explicit KnownTypes(const TraceRecord &record)
      : types(record.vars), isSize(record.vars.size(), 0) {
    for (const ConstantStep &constant : record.constants) {
      isSize[constant.var] = 1;
    }
  }

  const TensorType &of(VarId var) const { return types[var]; }
  bool isSizeValue(VarId var) const { return isSize[var]; }

  void add(const OpStep &op) {
    const tracert::OpInfo &info = op.call.info();
    std::vector<tracert::OperandInfo> infos;
    bool areKnown = !info.has(tracert::kTraitDataDependentShape);
    bool areSizes = !op.operands.empty();
    for (size_t i = 0; i < op.operands.size(); ++i) {
      VarId operand = op.operands[i];
      bool isExtra = info.operandCount >= 0 && i >= static_cast<size_t>(info.operandCount);
      areSizes = areSizes && isSize[operand];
      areKnown = areKnown && types[operand].isFullyKnown() && (!isExtra || isSize[operand]);
      infos.push_back({types[operand]});
    }
    isSize[op.results[0]] =
        (info.has(tracert::kTraitSizeOnly) && areKnown) || (info.isPointwise() && areSizes);
    if (areKnown) {
      return;
    }
    if (Result<tracert::ResultTypes> results = tracert::inferTypes(op.call, infos); results.ok()) {
      std::copy(results->begin(), results->end(), types.begin() + op.results[0]);
    }
  }

private:
  std::vector<TensorType> types;
  /// Numbers that a replay knows before it has computed anything.
  std::vector<uint8_t> isSize;
};

} // namespace

void TraceRecord::findGuardsOnData() {
  KnownTypes known(*this);
  auto guard = guards.begin();
  for (uint32_t step = 0; step <= steps.size(); ++step) {
    for (; guard != guards.end() && guard->afterStep <= step; ++guard) {
      guard->hangsOnData =
          std::any_of(guard->operands.begin(), guard->operands.end(), [&](VarId operand) {
            return !known.of(operand).isFullyKnown() ||
                   (guard->isOnValue() && !known.isSizeValue(operand));
          });
    }
    if (step < steps.size() && !steps[step].isConstant) {
      known.add(ops[steps[step].index]);
    }
  }
}

} // namespace tracec
