// What a recording takes for granted about sizes, strides and size values, and what a replay makes
// of it.
#include "Eager/Transforms/TraceSession.h"

#include "tracert/generated/OpAttrs.h"

#include <algorithm>

namespace tracec {

using tracert::AttrValue;
using tracert::OpKind;
using tracert::SourceLoc;

//===----------------------------------------------------------------------===//
// Recording
//===----------------------------------------------------------------------===//

uint32_t TraceRecorder::addGuard(OpCall call, std::vector<VarId> operands) {
  TraceGuard guard;
  guard.call = std::move(call);
  guard.operands = std::move(operands);
  guard.loc = currentLocation();
  guard.afterStep = static_cast<uint32_t>(record.steps.size());
  guard.segment = static_cast<uint32_t>(record.segments.size() - 1);
  record.guards.push_back(std::move(guard));
  return static_cast<uint32_t>(record.guards.size() - 1);
}

void TraceRecorder::guardOnOne(const Value &value, size_t axis, bool isOne) {
  VarId var = varOf(value);
  auto [entry, isNew] = record.guardsOnOne.try_emplace({var, axis}, kNoGuard);
  if (isNew) {
    entry->second =
        addGuard({OpKind::guard_one,
                  {AttrValue::integer(static_cast<int64_t>(axis)), AttrValue::boolean(isOne)}},
                 {var});
  }
}

Result<std::optional<int64_t>> TraceRecorder::fixedSize(const Value &value, size_t axis,
                                                        Next next) {
  TRACERT_ASSIGN(std::optional<int64_t> size, TraceSession::fixedSize(value, axis, next));
  if (size) {
    guardOnOne(value, axis, /*isOne=*/true);
  }
  return size;
}

Result<bool> TraceRecorder::decideIsOne(const Value &value, size_t axis, Next) {
  bool isOne = value->shape()[axis] == 1;
  guardOnOne(value, axis, isOne);
  return isOne;
}

Status TraceRecorder::expectSameShape(const Value &old, const Value &now, Next) {
  addGuard({OpKind::guard_same_shape, {}}, {varOf(old), varOf(now)});
  return Status();
}

Status TraceRecorder::expectFits(const Value &size, DType dtype, Next next) {
  TRACERT_TRY(TraceSession::expectFits(size, dtype, next));
  addGuard({OpKind::guard_fits, {AttrValue::dtype(dtype)}}, {varOf(size)});
  return Status();
}

std::optional<TraceGuard> TraceRecorder::viewGuard(const OpStep &step) const {
  std::vector<const OpStep *> chain{&step};
  VarId root = step.operands[0];
  for (; producerOf[root] != ~0u; root = chain.back()->operands[0]) {
    const OpStep &before = record.ops[producerOf[root]];
    if (!before.call.info().has(tracert::kTraitView) || !before.isAlias) {
      break;
    }
    chain.push_back(&before);
  }
  std::reverse(chain.begin(), chain.end());
  // A captured tensor lies in order in a file, whatever it is now.
  uint32_t slot = record.slotOfVar[root];
  bool ofInput = slot != ~0u && (record.slots[slot].kind != TraceSlot::Kind::Captured ||
                                 !record.slots[slot].isContiguous);
  bool canDiffer = ofInput;
  TraceGuard guard;
  guard.operands.push_back(root);
  Dims layout;
  for (const OpStep *view : chain) {
    canDiffer = canDiffer || !view->call.info().has(tracert::kTraitMayCopy);
    tracert::appendViewLayout(view->call, record.vars[view->operands[0]].rank(), layout);
    guard.operands.push_back(view->results[0]);
  }
  if (!canDiffer) {
    return std::nullopt;
  }
  guard.call = {OpKind::guard_view,
                {AttrValue::ints(std::move(layout)), AttrValue::boolean(ofInput),
                 AttrValue::boolean(step.isAlias)}};
  return guard;
}

void TraceRecorder::onViewOrCopy(const Value &part, const Cell &base, const Tensor &made, Next) {
  if (part->traceSerial != ownSerial || producerOf[part->traceVar] == ~0u) {
    return;
  }
  OpStep &step = record.ops[producerOf[part->traceVar]];
  std::optional<TraceGuard> guard = viewGuard(step);
  if (!guard) {
    return;
  }
  step.guard = addGuard(std::move(guard->call), std::move(guard->operands));
  record.guards[step.guard].isInFile = false;
  watched.emplace(&base, WatchedView{step.guard, made.isView(), made.pathLifetime()});
  if (!made.isView()) {
    watched.emplace(made.cellRef().get(), WatchedView{step.guard, false, {}});
  }
}

void TraceRecorder::onWrite(const Cell &cell) {
  auto [entry, end] = watched.equal_range(&cell);
  for (; entry != end; entry = watched.erase(entry)) {
    const WatchedView &view = entry->second;
    if (!view.isView || !view.view.expired()) {
      record.guards[view.guard].isInFile = true;
    }
  }
}

//===----------------------------------------------------------------------===//
// Replaying
//===----------------------------------------------------------------------===//

Result<bool> TraceReplayer::decideIsOne(const Value &value, size_t axis, Next) {
  int64_t size = value->shape()[axis];
  if (size != tracert::kUnknownDim) {
    return size == 1;
  }
  auto guard = record.guardsOnOne.find({value->traceVar, axis});
  if (guard == record.guardsOnOne.end() || !record.guards[guard->second].hangsOnData) {
    return unguarded("whether axis " + std::to_string(axis) + " has size 1");
  }
  return tracert::attrs::is_one(record.guards[guard->second].call);
}

Status TraceReplayer::expectFits(const Value &size, DType dtype, Next next) {
  if (size->state() == ValueImpl::State::Ready) {
    return next.expectFits(size, dtype);
  }
  bool isGuarded =
      std::any_of(record.guards.begin(), record.guards.end(), [&](const TraceGuard &guard) {
        return guard.isOnValue() && guard.hangsOnData && guard.operands[0] == size->traceVar &&
               tracert::attrs::dtype(guard.call) == dtype;
      });
  return isGuarded ? Status() : unguarded("a size");
}

Status TraceReplayer::unguarded(const std::string &what) {
  uint32_t number = nextOp();
  SourceLoc then = number < record.ops.size() ? record.ops[number].loc : SourceLoc();
  return fail("TC0212", "size", number, then,
              what + " was known while recording and hangs on data now",
              "write the body so that it runs the same ops on every call, or trace the variants "
              "separately");
}

} // namespace tracec
