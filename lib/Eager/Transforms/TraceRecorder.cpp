#include "Eager/Transforms/TraceSession.h"

#include "Eager/DeviceValues.h"
#include "Eager/Evaluate.h"

namespace tracec {

namespace {
/// Of the recorded arguments: a trace keeps no more memory than this alive.
constexpr size_t kMaxKeptValueBytes = size_t(64) << 10;
constexpr size_t kMaxKeptBytes = size_t(1) << 20;

/// `value` without the rest of a larger buffer that it views; null when it is itself too large.
Value smallCopy(const Value &value) {
  if (value->buffer() && value->buffer()->size() <= kMaxKeptValueBytes) {
    return value;
  }
  if (static_cast<size_t>(value->type().byteCount()) > kMaxKeptValueBytes) {
    return {};
  }
  Result<Value> copy = allocateValue(value->type());
  // Ops that compute it again want it where it was.
  if (!copy.ok() || placeOf(value)) {
    return {};
  }
  copyView(kernelContext(), value->view(), (*copy)->view());
  return *copy;
}
} // namespace

TraceRecorder::TraceRecorder(const CallArguments &call, CallSignature signature, bool commits)
    : TraceSession(call), commits(commits) {
  record.signature = std::move(signature);
  record.argumentNames = call.names;
  record.segments.push_back({});
  for (uint32_t i = 0; i < call.tensors.size(); ++i) {
    const Tensor &tensor = call.tensors[i];
    Cell *cell = tensor.cellRef().get();
    if (record.signature.sameAs[i] != i) {
      continue;
    }
    // This call is not on the stack yet, so this reads the committed value.
    Result<Value> value = tensor.read();
    if (!value.ok()) {
      continue;
    }
    VarId var = newSlot({TraceSlot::Kind::Argument, i, {}, 0}, innermost(*value));
    if (tensor.isView()) {
      viewArguments.push_back({cell, tensor.pathIdentity(), innermost(*value)});
    } else {
      slotOfCell[cell] = record.slotOfVar[var];
    }
  }
}

VarId TraceRecorder::newVar(const TensorType &type, uint32_t slot, uint64_t alwaysOnes) {
  record.vars.push_back(type);
  record.slotOfVar.push_back(slot);
  record.alwaysOnes.push_back(alwaysOnes);
  madeAtStep.push_back(kNoStep);
  held.emplace_back();
  producerOf.push_back(~0u);
  isKnownSize.push_back(false);
  hangsOnData.push_back(false);
  return static_cast<VarId>(record.vars.size() - 1);
}

VarId TraceRecorder::newSlot(TraceSlot slot, const Value &value) {
  slot.var = newVar(value->type(), static_cast<uint32_t>(record.slots.size()),
                    TypeKey::of(value->type()).onesMask);
  slot.firstStep = static_cast<uint32_t>(record.steps.size());
  slot.isContiguous = value->view().isContiguous();
  record.slots.push_back(std::move(slot));
  rememberInput(record.slots.back(), value);
  externals.emplace(value.get(), External{record.slots.back().var, value});
  return record.slots.back().var;
}

void TraceRecorder::rememberInput(const TraceSlot &slot, const Value &value) {
  RecordedInput &input = record.recordedInputs.emplace_back();
  // Captured tensors are read when they are needed; a loose value makes the trace undumpable.
  if (slot.kind != TraceSlot::Kind::Argument && slot.kind != TraceSlot::Kind::ArgumentBase) {
    return;
  }
  const Tensor &tensor = arguments.tensors[slot.argument];
  Value kept = smallCopy(value);
  size_t bytes = kept && kept->buffer() ? kept->buffer()->size() : 0;
  if (kept && keptBytes + bytes <= kMaxKeptBytes) {
    keptBytes += bytes;
    input.value = std::move(kept);
  } else if (slot.kind == TraceSlot::Kind::Argument) {
    input.tensor = WeakTensor(tensor);
  } else {
    input.tensor = WeakTensor(*tensor.cellRef().get());
  }
}

void TraceRecorder::markOwn(const Value &value, VarId var) {
  value->traceSerial = ownSerial;
  value->traceVar = var;
  held[var] = value;
}

VarId TraceRecorder::varOf(const Value &value) {
  if (value->traceSerial == ownSerial) {
    return value->traceVar;
  }
  auto known = externals.find(value.get());
  if (known != externals.end()) {
    return known->second.var;
  }
  return newSlot({TraceSlot::Kind::Loose, 0, {}, 0}, value);
}

Result<Values> TraceRecorder::apply(const OpCall &call, std::span<const Value> operands,
                                    Next next) {
  OpStep step{call, {}, {}, currentLocation(), evalOptions().indexMode};
  TRACERT_ASSIGN(Values results, next.apply(call, operands));
  for (const Value &operand : operands) {
    step.operands.push_back(varOf(operand));
  }
  step.isAlias = results.front()->isAlias;
  std::vector<uint64_t> ones = record.alwaysOnesOf(step, results.size());
  for (size_t i = 0; i < results.size(); ++i) {
    VarId var = newVar(results[i]->type(), ~0u, ones[i]);
    markOwn(results[i], var);
    madeAtStep[var] = static_cast<int64_t>(record.steps.size());
    step.results.push_back(var);
    producerOf[var] = static_cast<uint32_t>(record.ops.size());
    noteSizes(step, var);
  }
  record.steps.push_back({false, static_cast<uint32_t>(record.ops.size())});
  record.ops.push_back(std::move(step));
  return results;
}

void TraceRecorder::noteSizes(const OpStep &step, VarId result) {
  const tracert::OpInfo &info = step.call.info();
  bool areSizes = !step.operands.empty();
  bool hangs = info.has(tracert::kTraitDataDependentShape);
  for (size_t i = 0; i < step.operands.size(); ++i) {
    VarId operand = step.operands[i];
    bool isExtra = info.operandCount >= 0 && i >= static_cast<size_t>(info.operandCount);
    hangs = hangs || hangsOnData[operand] || (isExtra && !isKnownSize[operand]);
    areSizes = areSizes && isKnownSize[operand];
  }
  hangsOnData[result] = hangs;
  isKnownSize[result] =
      !hangs && (info.has(tracert::kTraitSizeOnly) || (info.isPointwise() && areSizes));
}

Result<Value> TraceRecorder::onConstant(ConstantTag tag, const PythonScalar &scalar, Value value) {
  VarId var = newVar(value->type(), ~0u, TypeKey::of(value->type()).onesMask);
  markOwn(value, var);
  isKnownSize[var] = tag != ConstantTag::Array && value->dtype() == DType::Int64;
  record.steps.push_back({true, static_cast<uint32_t>(record.constants.size())});
  record.constants.push_back({tag, scalar, value, var, currentLocation()});
  return value;
}

Result<Value> TraceRecorder::readCell(Cell &cell, Next next) {
  if (auto waiting = pending.find(&cell); waiting != pending.end()) {
    return waiting->second;
  }
  TRACERT_ASSIGN(Value value, next.readCell(cell));
  if (isOwn(cell) || written.contains(&cell) || slotOfCell.contains(&cell)) {
    return value;
  }
  TraceSlot slot{TraceSlot::Kind::Captured, 0, {}, 0};
  cell.retain();
  slot.cell = CellRef(&cell);
  for (uint32_t i = 0; i < arguments.tensors.size(); ++i) {
    if (arguments.tensors[i].cellRef().get() == &cell) {
      slot = {TraceSlot::Kind::ArgumentBase, i, {}, 0};
      break;
    }
  }
  slotOfCell[&cell] = static_cast<uint32_t>(record.slots.size());
  newSlot(std::move(slot), innermost(value));
  return value;
}

Status TraceRecorder::storeCell(Cell &cell, Value value, Next next) {
  // A cell that is written before it was read becomes a slot now, so that its write has a place.
  TRACERT_TRY(readCell(cell, next).status());
  if (!written.contains(&cell)) {
    cell.retain();
    writtenOrder.push_back(CellRef(&cell));
  }
  written[&cell] = value;
  pending[&cell] = std::move(value);
  return Status();
}

void TraceRecorder::commit() {
  if (!commits) {
    return;
  }
  for (auto &[cell, value] : pending) {
    cell->value = std::move(value);
  }
  pending.clear();
}

void TraceRecorder::endSegment(bool isExcluded) {
  TraceSegment &segment = record.segments.back();
  segment.endStep = static_cast<uint32_t>(record.steps.size());
  segment.endsInExcluded = isExcluded;
  if (isExcluded || segment.endStep > segment.firstStep) {
    segment.endLoc = currentLocation();
  }
  for (uint32_t i = segment.firstStep; i < segment.endStep; ++i) {
    if (record.steps[i].isConstant) {
      continue;
    }
    for (VarId var : record.ops[record.steps[i].index].results) {
      // One reference is ours: any other means that Python or a cell can still reach the value.
      if (held[var]->useCount() > 1) {
        segment.outputs.push_back(var);
      } else {
        held[var] = Value();
      }
    }
  }
}

Result<Value> TraceRecorder::onHostRead(const Value &value, Next next) {
  // As in a replay, only a value that is not there yet ends the segment and commits.
  if (value->traceSerial != ownSerial ||
      madeAtStep[value->traceVar] < int64_t(record.segments.back().firstStep)) {
    return next.onHostRead(value);
  }
  // A size that a replay knows without computing is not worth a commit: there it is no host read.
  if (!isKnownSize[value->traceVar]) {
    commit();
  }
  endSegment(/*isExcluded=*/false);
  record.segments.emplace_back().firstStep = static_cast<uint32_t>(record.steps.size());
  return next.onHostRead(value);
}

Status TraceRecorder::beginExcluded() {
  commit();
  endSegment(/*isExcluded=*/true);
  record.segments.emplace_back().firstStep = static_cast<uint32_t>(record.steps.size());
  return Status();
}

Status TraceRecorder::finish(std::span<const Tensor> results) {
  for (const CellRef &cell : writtenOrder) {
    const Value &value = innermost(written[cell.get()]);
    if (value->traceSerial == ownSerial) {
      record.writes.push_back({slotOfCell[cell.get()], value->traceVar});
    } else if (auto known = externals.find(value.get()); known != externals.end()) {
      record.writes.push_back({slotOfCell[cell.get()], known->second.var});
    }
  }
  for (const Tensor &result : results) {
    TRACERT_ASSIGN(Value value, result.read());
    record.results.push_back(varOf(innermost(value)));
  }
  commit();
  endSegment(/*isExcluded=*/false);
  record.completeSegments();
  // Only the values of constants and slots are needed from here on.
  held.clear();
  madeAtStep.clear();
  written.clear();
  externals.clear();
  watched.clear();
  return Status();
}

} // namespace tracec
