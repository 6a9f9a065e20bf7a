#include "Eager/Transforms/TraceSession.h"

#include "Eager/Evaluate.h"
#include "tracert/Element.h"

namespace tracec {

uint64_t nextTraceSerial() {
  static std::atomic<uint64_t> counter{0};
  return ++counter;
}

namespace {
thread_local TraceMismatch lastMismatch;
} // namespace

std::string locationText(const tracert::SourceLoc &loc) {
  return loc.file.empty() ? "an unknown line" : loc.file + ":" + std::to_string(loc.line);
}

const TraceMismatch &lastTraceMismatch() { return lastMismatch; }

Status traceMismatch(TraceMismatch mismatch, const std::string &detail, const std::string &advice) {
  std::string message = mismatch.code + " trace mismatch (" + mismatch.reason + ") at op #" +
                        std::to_string(mismatch.opIndex) + ": " + detail + "; then " +
                        locationText(mismatch.thenLoc) + ", now " + locationText(mismatch.nowLoc) +
                        "; " + advice;
  lastMismatch = std::move(mismatch);
  return Status(tracert::StatusCode::TraceMismatch, std::move(message));
}

TraceSession::TraceSession(const CallArguments &arguments)
    : arguments(arguments), ownSerial(nextTraceSerial()) {}

Result<Value> TraceSession::readView(const Cell &cell, const void *path, Next next) {
  for (const ViewArgument &view : viewArguments) {
    if (view.cell == &cell && view.path == path) {
      return view.value;
    }
  }
  return next.readView(cell, path);
}

Status TraceSession::writeCell(Cell &cell, Value value, Next next) {
  onWrite(cell);
  std::erase_if(viewArguments, [&](const ViewArgument &view) { return view.cell == &cell; });
  if (isOwn(cell)) {
    return next.writeCell(cell, std::move(value));
  }
  return storeCell(cell, std::move(value), next);
}

Result<Value> TraceSession::onHostData(Value value, Next next) {
  TRACERT_ASSIGN(value, next.onHostData(std::move(value)));
  // A borrowed array may change later, and constants are compared and compiled as bytes in order.
  if (value->buffer()->isForeign() || !value->view().isContiguous()) {
    TRACERT_ASSIGN(Value copy, allocateValue(value->type()));
    copyView(kernelContext(), value->view(), copy->view());
    value = std::move(copy);
  }
  return onConstant(ConstantTag::Array, {}, std::move(value));
}

Result<std::optional<int64_t>> TraceSession::fixedSize(const Value &value, size_t axis, Next) {
  bool isAlwaysOne = value->traceSerial == ownSerial
                         ? (currentRecord().alwaysOnes[value->traceVar] >> axis & 1) != 0
                         : value->shape()[axis] == 1;
  return isAlwaysOne ? std::optional<int64_t>(1) : std::nullopt;
}

Status TraceSession::expectFits(const Value &size, DType dtype, Next next) {
  return size->state() == ValueImpl::State::Ready ? next.expectFits(size, dtype) : Status();
}

Result<Value> TraceSession::onScalar(const PythonScalar &scalar, Value value, Next next) {
  TRACERT_ASSIGN(value, next.onScalar(scalar, std::move(value)));
  ConstantTag tag = scalar.kind == PythonScalar::Kind::Bool  ? ConstantTag::PythonBool
                    : scalar.kind == PythonScalar::Kind::Int ? ConstantTag::PythonInt
                                                             : ConstantTag::PythonFloat;
  return onConstant(tag, scalar, std::move(value));
}

} // namespace tracec
