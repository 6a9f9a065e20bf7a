#include "tracec/Dispatch.h"

#include "Eager/Evaluate.h"
#include "tracert/ThreadPool.h"

namespace tracec {

namespace {
LocationProvider locationProvider = nullptr;
} // namespace

uint64_t &creationSerial() {
  thread_local uint64_t serial = 0;
  return serial;
}

Result<Values> dispatch(const OpCall &call, std::span<const Value> operands) {
  if (!hasTransforms()) [[likely]] {
    return evaluate(call, operands);
  }
  return stack().apply(call, operands);
}

Result<Value> dispatchConsuming(const OpCall &call, Value &consumed, std::span<const Value> rest) {
  if (!hasTransforms()) [[likely]] {
    return evaluateConsuming(call, consumed, rest);
  }
  Values operands;
  operands.reserve(rest.size() + 1);
  operands.push_back(consumed);
  operands.insert(operands.end(), rest.begin(), rest.end());
  TRACERT_ASSIGN(Values results, stack().apply(call, operands));
  consumed = Value();
  return std::move(results.front());
}

void setLocationProvider(LocationProvider provider) { locationProvider = provider; }

tracert::SourceLoc currentLocation() {
  return locationProvider ? locationProvider() : tracert::SourceLoc{};
}

EvalOptions &evalOptions() {
  // The pool of the process is never destroyed, so nobody owns it.
  thread_local EvalOptions options{
      tracert::bestIsa(),
      std::shared_ptr<tracert::ThreadPool>(std::shared_ptr<void>(), &tracert::processThreadPool())};
  return options;
}

} // namespace tracec
