// Eager's error of a call that failed: the ops of the failing segment one by one, guards between
// them, on the segment's immutable inputs.
#include "Eager/Transforms/TraceSession.h"

#include "Eager/Evaluate.h"

#include <algorithm>

namespace tracec {

namespace {

/// The error with its op and line, in the form of the executor's (see opPlace in the runtime).
Status placedAt(const OpCall &call, const tracert::SourceLoc &loc, uint32_t number,
                const Status &status) {
  std::string place = "op #" + std::to_string(number) + " '" + std::string(call.info().name) + "'" +
                      (loc.file.empty() ? "" : " at " + loc.file + ":" + std::to_string(loc.line));
  return Status(status.code(), status.message() + " (" + place + ")");
}

/// A failed guard is a mismatch, with the recorded line of the decision.
Status guardMismatch(const TraceRecord &record, const TraceGuard &guard, const Status &status) {
  if (status.code() != tracert::StatusCode::GuardFailed) {
    return placedAt(guard.call, guard.loc, record.opAfter(guard.afterStep), status);
  }
  bool isView = guard.isOnStrides();
  return traceMismatch(
      {"TC0212", "size", record.opAfter(guard.afterStep), guard.loc, currentLocation()},
      status.message(),
      isView ? "copy the tensor before the reshape, e.g. with + 0"
             : "name the axes that go, or trace the variants separately");
}

/// The values of a segment, computed anew and dropped after their last use.
class OpByOp {
public:
  OpByOp(const Values &known, const PlaceholderSource *source) : known(known), source(source) {}

  /// Values that `operands` read are kept until `step`.
  void use(const std::vector<VarId> &operands, uint32_t step) {
    for (VarId operand : operands) {
      uint32_t &last = lastUse[operand];
      last = std::max(last, step);
    }
  }

  /// False when a value is missing: only a trace that is broken already lacks one.
  bool find(const std::vector<VarId> &vars, Values &operands) const {
    for (VarId var : vars) {
      auto made = computed.find(var);
      const Value &value = made != computed.end() ? made->second : known[var];
      if (!value || (value->state() != ValueImpl::State::Ready && value->source() == source)) {
        return false;
      }
      operands.push_back(value);
    }
    return true;
  }

  void keep(const OpStep &op, const Values &results, uint32_t step) {
    for (size_t r = 0; r < op.results.size(); ++r) {
      if (lastUse.contains(op.results[r])) {
        computed[op.results[r]] = results[r];
      }
    }
    for (VarId var : op.operands) {
      if (lastUse[var] == step) {
        computed.erase(var);
      }
    }
  }

private:
  const Values &known;
  const PlaceholderSource *source;
  std::unordered_map<VarId, uint32_t> lastUse;
  std::unordered_map<VarId, Value> computed;
};

} // namespace

Status TraceReplayer::firstError(uint32_t end, uint32_t *failedStep) {
  if (isOver || segmentsRun == record.segments.size()) {
    return Status();
  }
  uint32_t first = record.segments[segmentsRun].firstStep;
  OpByOp ops(values, this);
  for (uint32_t i = first; i < end; ++i) {
    if (!record.steps[i].isConstant) {
      ops.use(record.ops[record.steps[i].index].operands, i);
    }
  }
  // Those that the segment's program holds; the others were decided while Python ran.
  std::vector<const TraceGuard *> guards;
  for (const TraceGuard &guard : record.guards) {
    if (guard.segment == segmentsRun && guard.hangsOnData && guard.afterStep <= end) {
      guards.push_back(&guard);
      ops.use(guard.operands, guard.afterStep);
    }
  }
  auto guard = guards.begin();
  tracert::IndexMode mode = evalOptions().indexMode;
  for (uint32_t i = first; i <= end; ++i) {
    for (; guard != guards.end() && (*guard)->afterStep <= i; ++guard) {
      Values operands;
      if (!ops.find((*guard)->operands, operands)) {
        return Status();
      }
      if (Result<Values> holds = evaluate((*guard)->call, operands); !holds.ok()) {
        if (failedStep) {
          *failedStep = std::min(i, *failedStep);
        }
        return guardMismatch(record, **guard, holds.status());
      }
    }
    if (i == end || record.steps[i].isConstant) {
      continue;
    }
    uint32_t number = record.steps[i].index;
    const OpStep &op = record.ops[number];
    Values operands;
    if (!ops.find(op.operands, operands)) {
      return Status();
    }
    evalOptions().indexMode = op.indexMode;
    Result<Values> results = evaluate(op.call, operands);
    evalOptions().indexMode = mode;
    if (!results.ok()) {
      if (failedStep) {
        *failedStep = i;
      }
      return placedAt(op.call, op.loc, number, results.status());
    }
    ops.keep(op, *results, i);
  }
  return Status();
}

} // namespace tracec
