#include "Ops/Decompose.h"

#include "tracert/generated/OpAttrs.h"

namespace tracec {

using tracert::AttrValue;
using tracert::DType;
using tracert::OpCall;
using tracert::OpKind;
using tracert::Result;
using tracert::Status;
using Handle = OpEmitter::Handle;

namespace {

Result<Handle> castTo(Handle x, DType dtype, OpEmitter &emitter) {
  if (emitter.typeOf(x).dtype == dtype) {
    return x;
  }
  return emitter.emit({OpKind::cast, {AttrValue::dtype(dtype)}}, std::span(&x, 1));
}

/// cast(sum(cast(x, acc)) / cast(axis_size, acc), result): one rounding for float16, whose sum and
/// quotient are float32. Integers are averaged in float32, int64 in float64.
Result<Handle> decomposeMean(const OpCall &call, Handle x, OpEmitter &emitter) {
  DType from = emitter.typeOf(x).dtype;
  DType result = tracert::quotientDType(from);
  DType accumulate = tracert::accumulateDType(result);
  TRACERT_ASSIGN(Handle wide, castTo(x, accumulate, emitter));
  TRACERT_ASSIGN(Handle sum, emitter.emit({OpKind::sum, call.attrs}, std::span(&wide, 1)));
  TRACERT_ASSIGN(Handle count,
                 emitter.emit({OpKind::axis_size, {AttrValue::ints(tracert::attrs::axes(call))}},
                              std::span(&x, 1)));
  TRACERT_ASSIGN(Handle divisor, castTo(count, accumulate, emitter));
  Handle quotientOperands[] = {sum, divisor};
  TRACERT_ASSIGN(Handle mean, emitter.emit({OpKind::div, {}}, quotientOperands));
  return castTo(mean, result, emitter);
}

} // namespace

Result<Handle> decompose(const OpCall &call, std::span<const Handle> operands, OpEmitter &emitter) {
  switch (call.kind) {
  case OpKind::mean:
    return decomposeMean(call, operands[0], emitter);
  default:
    return Status::internal("'" + std::string(call.info().name) + "' has no decomposition");
  }
}

} // namespace tracec
