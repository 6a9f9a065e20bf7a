#include "Eager/Transforms/TraceSession.h"

#include "Eager/Evaluate.h"

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

Value TraceSession::readView(const Cell &cell, const void *path) {
  for (const ViewArgument &view : viewArguments) {
    if (view.cell == &cell && view.path == path) {
      return view.value;
    }
  }
  return Value();
}

Status TraceSession::writeCell(Cell &cell, Value value) {
  onWrite(cell);
  std::erase_if(viewArguments, [&](const ViewArgument &view) { return view.cell == &cell; });
  if (isOwn(cell)) {
    cell.value = std::move(value);
    return Status();
  }
  return storeCell(cell, std::move(value));
}

Result<Value> TraceSession::onHostData(Value value) {
  // A borrowed array may change later, and constants are compared and compiled as bytes in order.
  if (value->buffer()->isForeign() || !value->view().isContiguous()) {
    TRACERT_ASSIGN(Value copy, allocateValue(value->type()));
    copyView(kernelContext(), value->view(), copy->view());
    value = std::move(copy);
  }
  return onConstant(ConstantTag::Array, {}, std::move(value));
}

bool TraceSession::isAlwaysOne(const Value &value, size_t axis) {
  if (value->traceSerial != ownSerial) {
    return value->shape()[axis] == 1;
  }
  return (currentRecord().alwaysOnes[value->traceVar] >> axis & 1) != 0;
}

Status TraceSession::expectFits(const Value &size, DType dtype) {
  if (size->state() != ValueImpl::State::Ready) {
    return Status();
  }
  // No host read: Python does not get to see the number.
  int64_t number = *static_cast<const int64_t *>(size->view().data);
  return tracert::integerFits(number, dtype)
             ? Status()
             : tracert::integerDoesNotFit(std::to_string(number), dtype);
}

Result<Value> TraceSession::onScalar(const PythonScalar &scalar, Value value) {
  ConstantTag tag = scalar.kind == PythonScalar::Kind::Bool  ? ConstantTag::PythonBool
                    : scalar.kind == PythonScalar::Kind::Int ? ConstantTag::PythonInt
                                                             : ConstantTag::PythonFloat;
  return onConstant(tag, scalar, std::move(value));
}

} // namespace tracec
