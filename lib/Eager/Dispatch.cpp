#include "tracec/Dispatch.h"

#include "Eager/Evaluate.h"
#include "tracert/ThreadPool.h"

namespace tracec {

namespace {

constexpr size_t kSlots = static_cast<size_t>(TransformSlot::Count);
thread_local Transform *stack[kSlots] = {};
/// How many slots are filled: the one branch that plain eager code pays.
thread_local int activeCount = 0;

LocationProvider locationProvider = nullptr;

Result<Values> callFrom(size_t slot, const OpCall &call, std::span<const Value> operands) {
  for (; slot < kSlots; ++slot) {
    if (Transform *transform = stack[slot]) {
      // The slot number travels in the context pointer, so Next needs no storage.
      Next next(
          [](void *context, const OpCall &inner, std::span<const Value> innerOperands) {
            return callFrom(reinterpret_cast<uintptr_t>(context), inner, innerOperands);
          },
          reinterpret_cast<void *>(slot + 1));
      return transform->apply(call, operands, next);
    }
  }
  return evaluate(call, operands);
}

} // namespace

Transform *activeTransform(TransformSlot slot) { return stack[static_cast<size_t>(slot)]; }

Transform *setActiveTransform(TransformSlot slot, Transform *transform) {
  Transform *previous = stack[static_cast<size_t>(slot)];
  stack[static_cast<size_t>(slot)] = transform;
  activeCount += (transform != nullptr) - (previous != nullptr);
  return previous;
}

uint64_t &creationSerial() {
  thread_local uint64_t serial = 0;
  return serial;
}

bool anyTransformActive() { return activeCount != 0; }

Result<Values> dispatch(const OpCall &call, std::span<const Value> operands) {
  if (activeCount == 0) [[likely]] {
    return evaluate(call, operands);
  }
  return callFrom(0, call, operands);
}

Result<Value> dispatchConsuming(const OpCall &call, Value &consumed, std::span<const Value> rest) {
  if (activeCount == 0) [[likely]] {
    return evaluateConsuming(call, consumed, rest);
  }
  Values operands;
  operands.reserve(rest.size() + 1);
  operands.push_back(consumed);
  operands.insert(operands.end(), rest.begin(), rest.end());
  TRACERT_ASSIGN(Values results, callFrom(0, call, operands));
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
