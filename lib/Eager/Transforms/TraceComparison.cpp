// A replayed call beside its record: what differs, and how that is said.
#include "Eager/Transforms/ConstantText.h"
#include "Eager/Transforms/TraceSession.h"

namespace tracec {

using tracert::SourceLoc;

namespace {

std::string quoted(std::string_view text) { return "'" + std::string(text) + "'"; }

const char *const kConstantAdvice =
    "pass the value as a tensor argument, or make it part of the arguments, so that it may change";
const char *const kStructureAdvice =
    "write the body so that it runs the same ops on every call, or trace the variants separately";

} // namespace

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

Status TraceReplayer::checkConstants() {
  if (!wrongConstant) {
    return Status();
  }
  return fail("TC0208", "constant", nextOp(), wrongConstant->then,
              "the constant " + wrongConstant->difference, kConstantAdvice);
}

Status TraceReplayer::checkEnd() {
  TRACERT_TRY(checkConstants());
  uint32_t number = nextOp();
  bool isComplete = position == record.steps.size() && !sawUnexpectedConstant;
  if (isComplete || number == record.ops.size()) {
    return Status();
  }
  const OpStep &missing = record.ops[number];
  return fail("TC0210", "too few ops", number, missing.loc,
              "the recorded call went on with " + quoted(missing.call.info().name) +
                  ", now it ends",
              kStructureAdvice);
}

void TraceReplayer::noteOtherWay(const OpStep &expected, bool isAlias) {
  if (isAlias == expected.isAlias || expected.guard == kNoGuard || !otherWay.empty()) {
    return;
  }
  otherWay = "; the " + std::string(expected.call.info().name) + " at " +
             locationText(expected.loc) + " is now a " + (isAlias ? "view" : "copy") +
             " and was a " + (isAlias ? "copy" : "view") + ", which its sizes decide";
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

} // namespace tracec
