#include "Eager/Transforms/TraceSession.h"

#include "Eager/Evaluate.h"
#include "Eager/Transforms/ConstantText.h"

namespace tracec {

using tracert::SourceLoc;

namespace {

std::string quoted(std::string_view text) { return "'" + std::string(text) + "'"; }

const char *const kConstantAdvice =
    "pass the value as a tensor argument, or make it part of the arguments, so that it may change";
const char *const kStructureAdvice =
    "write the body so that it runs the same ops on every call, or trace the variants separately";

} // namespace

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

//===----------------------------------------------------------------------===//
// Comparing
//===----------------------------------------------------------------------===//

Status TraceReplayer::checkOperand(const OpStep &expected, uint32_t number, size_t index,
                                   const Value &operand) {
  VarId var = expected.operands[index];
  Value &known = values[var];
  if (known.get() == operand.get()) {
    return Status();
  }
  std::string where =
      "operand " + std::to_string(index) + " of " + quoted(expected.call.info().name);
  bool isOwnNow = operand->traceSerial == ownSerial;
  if (!isInternal(var)) {
    const TraceSlot &slot = record.slots[record.slotOfVar[var]];
    if (slot.kind == TraceSlot::Kind::Loose && !known && !isOwnNow) {
      TypeKey then = TypeKey::of(record.vars[var]);
      TypeKey now = TypeKey::of(operand->type());
      if (then.dtype != now.dtype) {
        return fail("TC0206", "dtype", number, expected.loc,
                    where + " was " + std::string(dtypeName(then.dtype)) + " and is " +
                        std::string(dtypeName(now.dtype)),
                    "make its dtype the same on every call, e.g. with .astype");
      }
      known = operand;
      return Status();
    }
    if (isOwnNow) {
      return fail("TC0205", "external", number, expected.loc,
                  where + " came from outside the function and is now computed inside",
                  kStructureAdvice);
    }
    return fail("TC0204", "operand identity", number, expected.loc,
                where + " is another tensor than the recorded one",
                "pass the tensor as an argument if it differs between calls");
  }
  if (!isOwnNow) {
    return fail("TC0205", "external", number, expected.loc,
                where + " was computed inside the function and now comes from outside",
                kStructureAdvice);
  }
  return fail("TC0204", "operand identity", number, expected.loc,
              where + " is the result of another op than the recorded one", kStructureAdvice);
}

Status TraceReplayer::checkOp(const OpStep &expected, uint32_t number, const OpCall &call,
                              std::span<const Value> operands) {
  if (call.kind != expected.call.kind) {
    return fail("TC0201", "operator", number, expected.loc,
                "recorded " + quoted(expected.call.info().name) + ", now " +
                    quoted(call.info().name),
                kStructureAdvice);
  }
  // Attributes first: an index with another number of operands differs in its items, too.
  if (!(call.attrs == expected.call.attrs)) {
    return fail(
        "TC0202", "attribute", number, expected.loc,
        "recorded " + opCallString(expected.call) + ", now " + opCallString(call),
        "pass what changes as a tensor (an index as an integer tensor, a size as x.shape[i]), "
        "or trace the variants separately");
  }
  if (evalOptions().indexMode != expected.indexMode) {
    return fail("TC0202", "attribute", number, expected.loc,
                quoted(call.info().name) + " was recorded in another index mode", kStructureAdvice);
  }
  if (operands.size() != expected.operands.size()) {
    return fail("TC0203", "input count", number, expected.loc,
                quoted(call.info().name) + " had " + std::to_string(expected.operands.size()) +
                    " operands and has " + std::to_string(operands.size()),
                kStructureAdvice);
  }
  for (size_t i = 0; i < operands.size(); ++i) {
    TRACERT_TRY(checkOperand(expected, number, i, operands[i]));
  }
  return Status();
}

Result<Values> TraceReplayer::apply(const OpCall &call, std::span<const Value> operands, Next) {
  if (isOver) {
    return failure;
  }
  bool skippedConstant = false;
  uint32_t at = position;
  while (at < record.steps.size() && record.steps[at].isConstant) {
    skippedConstant = true;
    ++at;
  }
  if (at == record.steps.size()) {
    SourceLoc then = record.ops.empty() ? SourceLoc{} : record.ops.back().loc;
    return fail("TC0207", "too many ops", static_cast<uint32_t>(record.ops.size()), then,
                "the recorded call ended here, now there is " + quoted(call.info().name),
                kStructureAdvice);
  }
  uint32_t number = record.steps[at].index;
  const OpStep &expected = record.ops[number];
  if (skippedConstant || sawUnexpectedConstant) {
    if (call.kind != expected.call.kind) {
      return checkOp(expected, number, call, operands);
    }
    return fail("TC0204", "operand identity", number, expected.loc,
                quoted(call.info().name) + (skippedConstant ? " had a constant as operand"
                                                            : " has a new constant as operand"),
                kStructureAdvice);
  }
  // A constant of another type may bring a cast; any other operator explains more than it.
  bool isCastOfConstant = wrongConstant && wrongConstant->isOfOtherType &&
                          call.info().family == tracert::OpFamily::Cast;
  if (call.kind == expected.call.kind || isCastOfConstant) {
    TRACERT_TRY(checkConstants());
  }
  TRACERT_TRY(checkOp(expected, number, call, operands));
  Result<Values> results = makeResults(expected, call, operands);
  if (!results.ok()) {
    return wordFailure(at, results.status());
  }
  position = at + 1;
  return results;
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

Status TraceReplayer::checkConstants() {
  if (!wrongConstant) {
    return Status();
  }
  return fail("TC0208", "constant", nextOp(), wrongConstant->then,
              "the constant " + wrongConstant->difference, kConstantAdvice);
}

void TraceReplayer::noteOtherWay(const OpStep &expected, bool isAlias) {
  if (isAlias == expected.isAlias || expected.guard == kNoGuard || !otherWay.empty()) {
    return;
  }
  otherWay = "; the " + std::string(expected.call.info().name) + " at " +
             locationText(expected.loc) + " is now a " + (isAlias ? "view" : "copy") +
             " and was a " + (isAlias ? "copy" : "view") + ", which its sizes decide";
}

Result<Values> TraceReplayer::makeResults(const OpStep &expected, const OpCall &call,
                                          std::span<const Value> operands) {
  const tracert::OpInfo &info = call.info();
  Values results;
  auto adopt = [&](Value value, size_t i) {
    value->traceSerial = ownSerial;
    value->traceVar = expected.results[i];
    values[expected.results[i]] = value;
    results.push_back(std::move(value));
  };
  // Sizes are known now: compute them, so that shapes that depend on them are known, too.
  bool isSize = info.has(tracert::kTraitSizeOnly);
  if (isSize) {
    isSize = operands[0]->type().isFullyKnown();
  } else if (info.isPointwise()) {
    isSize = true;
    for (const Value &operand : operands) {
      isSize &= operand->state() == ValueImpl::State::Ready && operand->shape().empty() &&
                operand->dtype() == DType::Int64 && operand->traceSerial == ownSerial;
    }
  }
  TRACERT_ASSIGN(tracert::ResultTypes types, inferValueTypes(call, operands));
  if (isSize) {
    TRACERT_ASSIGN(Value value, allocateValue({types[0].dtype, {}}));
    if (info.has(tracert::kTraitSizeOnly)) {
      tracert::OperandInfo operandInfo{operands[0]->type()};
      TRACERT_ASSIGN(int64_t size, tracert::inferSizeValue(call, {&operandInfo, 1}));
      *static_cast<int64_t *>(value->view().data) = size;
    } else {
      std::vector<TensorView> inputs;
      for (const Value &operand : operands) {
        inputs.push_back(operand->view());
      }
      TensorView output = value->view();
      TRACERT_TRY(runKernel(kernelContext(), call, inputs, {&output, 1}));
    }
    adopt(std::move(value), 0);
    return results;
  }
  for (size_t i = 0; i < types.size(); ++i) {
    TensorView logical = TensorView::contiguous(nullptr, types[i]);
    bool isAlias = false;
    if (info.has(tracert::kTraitView)) {
      // The bounds of a view are checked when its type is inferred; only the strides matter here.
      // While sizes are unknown, it is taken to be a view or a copy as it was recorded, which a
      // guard of the segment checks.
      isAlias = expected.isAlias;
      std::vector<int64_t> sizes;
      bool allKnown = types[i].isFullyKnown() && operands[0]->type().isFullyKnown();
      for (const Value &extra : operands.subspan(1)) {
        if (extra->state() == ValueImpl::State::Ready) {
          TRACERT_ASSIGN(int64_t size, hostInt(extra));
          sizes.push_back(size);
        } else {
          allKnown = false;
        }
      }
      if (allKnown) {
        TRACERT_ASSIGN(std::optional<TensorView> view, viewOf(call, operands[0]->view(), sizes));
        isAlias = view.has_value();
        if (view) {
          logical = std::move(*view);
          logical.data = nullptr;
        }
        noteOtherWay(expected, isAlias);
      } else if (expected.guard != kNoGuard && !record.guards[expected.guard].hangsOnData) {
        return unguarded("whether a reshape is a view");
      }
    }
    Value value = ValueImpl::makePending(std::move(logical), this);
    value->isAlias = isAlias;
    adopt(std::move(value), i);
  }
  return results;
}

Result<Value> TraceReplayer::onConstant(ConstantTag tag, const PythonScalar &scalar, Value value) {
  if (isOver) {
    return failure;
  }
  if (position == record.steps.size() || !record.steps[position].isConstant) {
    // Which op it belongs to is known only when that op comes.
    sawUnexpectedConstant = true;
    return value;
  }
  const ConstantStep &expected = record.constants[record.steps[position].index];
  if (ConstantNow now{tag, scalar, value}; !isSameConstant(expected, now)) {
    // Another operator is the better explanation; it comes next.
    if (!wrongConstant) {
      bool isOfOtherType = tag != expected.tag || !(value->type() == expected.value->type());
      wrongConstant = {expected.loc, constantDifference(expected, now), isOfOtherType};
    }
  }
  value->traceSerial = ownSerial;
  value->traceVar = expected.var;
  values[expected.var] = value;
  ++position;
  return value;
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
  TRACERT_TRY(checkConstants());
  if (position < record.steps.size() || sawUnexpectedConstant) {
    uint32_t number = nextOp();
    if (number < record.ops.size()) {
      const OpStep &missing = record.ops[number];
      return fail("TC0210", "too few ops", number, missing.loc,
                  "the recorded call went on with " + quoted(missing.call.info().name) +
                      ", now it ends",
                  kStructureAdvice);
    }
  }
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
