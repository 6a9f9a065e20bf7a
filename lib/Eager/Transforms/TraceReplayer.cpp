#include "Eager/Transforms/TraceSession.h"

#include "Eager/DeviceValues.h"
#include "Eager/Evaluate.h"

#include <algorithm>

namespace tracec {

using tracert::SourceLoc;

TraceReplayer::TraceReplayer(const CallArguments &call, std::shared_ptr<CompiledRecord> shared)
    : TraceSession(call), compiled(std::move(shared)), record(compiled->record),
      values(record.vars.size()) {
  for (const TraceSlot &slot : record.slots) {
    switch (slot.kind) {
    case TraceSlot::Kind::Argument: {
      const Tensor &tensor = call.tensors[slot.argument];
      Result<Value> value = tensor.read();
      if (!value.ok()) {
        failure = value.status();
        break;
      }
      values[slot.var] = innermost(*value);
      if (tensor.isView()) {
        viewArguments.push_back({tensor.cellRef().get(), tensor.pathIdentity(), values[slot.var]});
      }
      break;
    }
    case TraceSlot::Kind::ArgumentBase:
      values[slot.var] = innermost(call.tensors[slot.argument].cellRef()->value);
      break;
    case TraceSlot::Kind::Captured:
      values[slot.var] = innermost(slot.cell->value);
      break;
    case TraceSlot::Kind::Loose:
      break;
    }
  }
}

Status TraceReplayer::failed(Status status) {
  // Whatever ends the call, an op or a guard before it may have failed.
  if (Status earlier = firstError(position); !earlier.ok()) {
    status = std::move(earlier);
  }
  return end(std::move(status));
}

Status TraceReplayer::end(Status status) {
  isOver = true;
  failure = status;
  overlay.clear();
  dropPlaceholders(status);
  return status;
}

Status TraceReplayer::fail(const char *code, const char *reason, uint32_t op, const SourceLoc &then,
                           const std::string &detail, const std::string &advice) {
  return failed(
      traceMismatch({code, reason, op, then, currentLocation()}, detail + otherWay, advice));
}

uint32_t TraceReplayer::nextOp() const {
  for (uint32_t i = position; i < record.steps.size(); ++i) {
    if (!record.steps[i].isConstant) {
      return record.steps[i].index;
    }
  }
  return static_cast<uint32_t>(record.ops.size());
}

void TraceReplayer::dropPlaceholders(const Status &why) {
  Values dropped = std::move(values);
  values.clear();
  for (const Value &value : dropped) {
    if (value && value->state() == ValueImpl::State::Pending && value->source() == this) {
      value->becomeFailed(why);
    }
  }
}

/// The op at `step` breaks its type rule. Sizes that are not known yet must not show in the text,
/// and an op before it may be the one that fails.
Status TraceReplayer::wordFailure(uint32_t step, const Status &status) {
  uint32_t failedStep = step;
  Status first = firstError(step + 1, &failedStep);
  if (first.ok()) {
    return status;
  }
  return failedStep < step ? end(std::move(first)) : first;
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

namespace {

/// The value of a size op, or of arithmetic on sizes, whose operands are known.
Result<Value> computeSize(const OpCall &call, std::span<const Value> operands,
                          const TensorType &type) {
  TRACERT_ASSIGN(Value value, allocateValue(type));
  if (call.info().has(tracert::kTraitSizeOnly)) {
    tracert::OperandInfo operand{operands[0]->type()};
    TRACERT_ASSIGN(int64_t size, tracert::inferSizeValue(call, {&operand, 1}));
    *static_cast<int64_t *>(value->view().data) = size;
    return value;
  }
  std::vector<TensorView> inputs;
  Values held;
  for (const Value &operand : operands) {
    TRACERT_ASSIGN(Value host, onHost(operand));
    inputs.push_back(host->view());
    held.push_back(std::move(host));
  }
  TensorView output = value->view();
  TRACERT_TRY(runKernel(kernelContext(), call, inputs, {&output, 1}));
  return value;
}

/// The values of the size operands of a view; empty while one is not known.
std::optional<std::vector<int64_t>> knownSizes(std::span<const Value> extras) {
  std::vector<int64_t> sizes;
  for (const Value &extra : extras) {
    std::optional<int64_t> size = readySize(extra);
    if (!size) {
      return std::nullopt;
    }
    sizes.push_back(*size);
  }
  return sizes;
}

} // namespace

/// Sizes are computed while Python runs, so that shapes that depend on them are known, too.
bool TraceReplayer::isSizeNow(const OpCall &call, std::span<const Value> operands) const {
  if (call.info().has(tracert::kTraitSizeOnly)) {
    return operands[0]->type().isFullyKnown();
  }
  return call.info().isPointwise() &&
         std::all_of(operands.begin(), operands.end(), [&](const Value &operand) {
           return operand->state() == ValueImpl::State::Ready && operand->shape().empty() &&
                  operand->dtype() == DType::Int64 && operand->traceSerial == ownSerial;
         });
}

/// The bounds of a view are checked when its type is inferred; only the strides matter here. While
/// sizes are unknown, it is taken to be a view or a copy as it was recorded, which a guard of the
/// segment checks.
Result<TraceReplayer::Placement> TraceReplayer::placeView(const OpStep &expected,
                                                          const OpCall &call,
                                                          std::span<const Value> operands,
                                                          const TensorType &type) {
  Placement placement{TensorView::contiguous(nullptr, type), expected.isAlias};
  std::optional<std::vector<int64_t>> sizes = knownSizes(operands.subspan(1));
  if (!sizes || !type.isFullyKnown() || !operands[0]->type().isFullyKnown()) {
    if (expected.guard != kNoGuard && !record.guards[expected.guard].hangsOnData) {
      return unguarded("whether a reshape is a view");
    }
    return placement;
  }
  TRACERT_ASSIGN(std::optional<TensorView> view, viewOf(call, operands[0]->view(), *sizes));
  placement.isAlias = view.has_value();
  if (view) {
    placement.logical = std::move(*view);
    placement.logical.data = nullptr;
  }
  noteOtherWay(expected, placement.isAlias);
  return placement;
}

Value TraceReplayer::adopt(Value value, VarId var) {
  value->traceSerial = ownSerial;
  value->traceVar = var;
  values[var] = value;
  return value;
}

Result<Values> TraceReplayer::makeResults(const OpStep &expected, const OpCall &call,
                                          std::span<const Value> operands) {
  TRACERT_ASSIGN(tracert::ResultTypes types, inferValueTypes(call, operands));
  if (isSizeNow(call, operands)) {
    TRACERT_ASSIGN(Value size, computeSize(call, operands, types[0]));
    return Values{adopt(std::move(size), expected.results[0])};
  }
  Values results;
  for (size_t i = 0; i < types.size(); ++i) {
    Placement placement{TensorView::contiguous(nullptr, types[i]), false};
    if (call.info().has(tracert::kTraitView)) {
      TRACERT_ASSIGN(placement, placeView(expected, call, operands, types[i]));
    }
    Value value = ValueImpl::makePending(std::move(placement.logical), this);
    value->isAlias = placement.isAlias;
    results.push_back(adopt(std::move(value), expected.results[i]));
  }
  return results;
}

//===----------------------------------------------------------------------===//
// Cells
//===----------------------------------------------------------------------===//

Status TraceReplayer::rereadCaptures() {
  mustRereadCaptures = false;
  for (const TraceSlot &slot : record.slots) {
    bool isBase = slot.kind == TraceSlot::Kind::ArgumentBase;
    if ((!isBase && slot.kind != TraceSlot::Kind::Captured) || slot.firstStep < position) {
      continue;
    }
    const Value &now =
        innermost(isBase ? arguments.tensors[slot.argument].cellRef()->value : slot.cell->value);
    DType then = record.vars[slot.var].dtype;
    if (now->dtype() != then) {
      return fail("TC0206", "dtype", nextOp(), SourceLoc{},
                  "a captured tensor was " + std::string(dtypeName(then)) + " and is " +
                      std::string(dtypeName(now->dtype())),
                  "make its dtype the same on every call, e.g. with .astype");
    }
    values[slot.var] = now;
  }
  return Status();
}

Result<Value> TraceReplayer::readCell(Cell &cell, Next next) {
  if (mustRereadCaptures && !isOver) {
    TRACERT_TRY(rereadCaptures());
  }
  auto pending = overlay.find(&cell);
  return pending != overlay.end() ? pending->second.second : next.readCell(cell);
}

Status TraceReplayer::storeCell(Cell &cell, Value value, Next) {
  if (isOver) {
    return failure;
  }
  if (mustRereadCaptures) {
    TRACERT_TRY(rereadCaptures());
  }
  auto [entry, isNew] = overlay.try_emplace(&cell);
  if (isNew) {
    cell.retain();
    entry->second.first = CellRef(&cell);
  }
  entry->second.second = std::move(value);
  return Status();
}

void TraceReplayer::commit() {
  for (auto &[cell, entry] : overlay) {
    entry.first->value = std::move(entry.second);
  }
  overlay.clear();
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

Status TraceReplayer::runSegments() {
  while (segmentsRun < record.segments.size()) {
    const TraceSegment &segment = record.segments[segmentsRun];
    if (segment.endStep > position) {
      return Status();
    }
    if (!segment.outputs.empty() || segment.endStep > segment.firstStep) {
      std::vector<TensorView> inputs;
      for (VarId var : segment.inputs) {
        // Our own placeholder would be filled by running segments, this one among them.
        if (values[var]->state() == ValueImpl::State::Pending && values[var]->source() == this) {
          return Status::internal("a segment reads a value that no segment before it gives");
        }
        TRACERT_TRY(ensureReady(values[var]));
        inputs.push_back(values[var]->view());
      }
      std::vector<tracert::OwnedTensor> outputs;
      TRACERT_TRY(compiled->runSegment(segmentsRun, inputs, outputs));
      for (size_t i = 0; i < outputs.size(); ++i) {
        const Value &value = values[segment.outputs[i]];
        if (value->state() == ValueImpl::State::Pending) {
          value->becomeReady(std::move(outputs[i].buffer), std::move(outputs[i].view));
        }
      }
    }
    ++segmentsRun;
  }
  return Status();
}

Result<Value> TraceReplayer::onHostRead(const Value &value, Next next) {
  if (value->traceSerial == ownSerial && value->state() != ValueImpl::State::Ready) {
    TRACERT_TRY(fill(*value.get()));
  }
  return next.onHostRead(value);
}

Status TraceReplayer::fill(ValueImpl &value) {
  if (isOver) {
    return failure.ok() ? Status::internal("a placeholder outlived its trace") : failure;
  }
  TRACERT_TRY(checkConstants());
  if (Status status = runSegments(); !status.ok()) {
    return failed(std::move(status));
  }
  if (value.state() == ValueImpl::State::Pending) {
    uint32_t number = static_cast<uint32_t>(record.ops.size());
    SourceLoc then;
    for (uint32_t i = 0; i < record.ops.size(); ++i) {
      for (VarId var : record.ops[i].results) {
        if (var == value.traceVar) {
          number = i;
          then = record.ops[i].loc;
        }
      }
    }
    return fail("TC0209", "unrecorded read", number, then,
                "Python reads a result that was not read here while recording",
                "make the recorded call read it, too, or move the read out of the function and "
                "return the tensor");
  }
  commit();
  return Status();
}

Status TraceReplayer::beginExcluded() {
  if (isOver) {
    return failure;
  }
  TRACERT_TRY(checkConstants());
  if (Status status = runSegments(); !status.ok()) {
    return failed(std::move(status));
  }
  commit();
  mustRereadCaptures = true;
  return Status();
}

Status TraceReplayer::finish(std::span<const Tensor> results) {
  if (isOver) {
    return failure;
  }
  // As in the record, a view that was written since it was read last dispatches its path here.
  Values returned;
  for (const Tensor &result : results) {
    TRACERT_ASSIGN(Value value, result.read());
    returned.push_back(innermost(value));
  }
  TRACERT_TRY(checkEnd());
  position = static_cast<uint32_t>(record.steps.size());
  if (Status status = runSegments(); !status.ok()) {
    return failed(std::move(status));
  }
  // What is returned and what is committed must have been computed.
  auto checkComputed = [&](const Value &value) {
    return value->state() == ValueImpl::State::Pending ? fill(*value.get()) : Status();
  };
  for (const Value &value : returned) {
    TRACERT_TRY(checkComputed(value));
  }
  for (auto &[cell, entry] : overlay) {
    TRACERT_TRY(checkComputed(innermost(entry.second)));
  }
  commit();
  isOver = true;
  failure = Status(tracert::StatusCode::TraceMismatch,
                   "TC0209 trace mismatch (unrecorded read): this tensor was dropped while "
                   "recording, so its value was not computed; return it from the function");
  dropPlaceholders(failure);
  compiled->markReplayed();
  return Status();
}

Status TraceReplayer::abandon(FindError findError) {
  if (isOver) {
    return Status();
  }
  Status earlier = findError == FindError::Yes ? firstError(position) : Status();
  (void)end(earlier.ok() ? Status::invalidArgument("the traced call that should compute this "
                                                   "tensor ended in an error")
                         : earlier);
  return earlier;
}

} // namespace tracec
