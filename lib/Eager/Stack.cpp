// The stack of transforms of a thread, and the hooks as calls of the next layer.
#include "Eager/DeviceValues.h"
#include "Eager/Evaluate.h"
#include "tracec/Functional.h"
#include "tracec/Transform.h"
#include "tracert/Element.h"

#include <cassert>

namespace tracec {

namespace {

/// The bottom of each stack: eager evaluation, with nothing below.
class EagerEvaluation final : public Transform {
public:
  constexpr EagerEvaluation() = default;

  Result<Values> apply(const OpCall &call, std::span<const Value> operands, Next) override {
    return evaluate(call, operands);
  }
  Result<Value> readCell(Cell &cell, Next) override {
    if (cell.value->wrapping()) {
      cell.value = settled(cell.value);
    }
    return cell.value;
  }
  Status writeCell(Cell &cell, Value value, Next) override {
    cell.value = std::move(value);
    return Status();
  }
  Result<Value> readView(const Cell &, const void *, Next) override { return Value(); }
  Result<Value> onHostData(Value value, Next) override { return value; }
  Result<Value> onScalar(const PythonScalar &, Value value, Next) override { return value; }
  Result<Value> onHostRead(const Value &value, Next) override {
    TRACERT_TRY(ensureReady(value));
    return tracert::hasDevices() ? onHost(value) : value;
  }
  Result<std::optional<int64_t>> fixedSize(const Value &value, size_t axis, Next) override {
    return std::optional(value->shape()[axis]);
  }
  Result<bool> decideIsOne(const Value &value, size_t axis, Next) override {
    return value->shape()[axis] == 1;
  }
  Status expectSameShape(const Value &, const Value &, Next) override { return Status(); }
  Status expectFits(const Value &size, DType dtype, Next) override {
    TRACERT_TRY(ensureReady(size));
    // No host read: Python does not get to see the number.
    TRACERT_ASSIGN(Value host, onHost(size));
    int64_t number = *static_cast<const int64_t *>(host->view().data);
    return tracert::integerFits(number, dtype)
               ? Status()
               : tracert::integerDoesNotFit(std::to_string(number), dtype);
  }
  void onViewOrCopy(const Value &, const Cell &, const Tensor &, Next) override {}
  void onName(const Value &, std::string_view, Next) override {}
};

/// Never destroyed: threads may run ops while the process ends.
union Bottom {
  constexpr Bottom() : evaluation() {}
  ~Bottom() {}
  EagerEvaluation evaluation;
};
constinit Bottom bottomTransform;
constinit StackEntry bottom{&bottomTransform.evaluation, nullptr, TransformSlot::Eval, 0};

/// Above the top.
constinit thread_local StackEntry head{nullptr, &bottom, TransformSlot::ModuleTrace, 0};

std::atomic<uint64_t> entriesSoFar{0};

void insert(StackEntry &entry) {
  StackEntry *above = &head;
  auto goesBelow = [&](const StackEntry &other) {
    return other.slot < entry.slot || (other.slot == entry.slot && other.serial > entry.serial);
  };
  while (above->below != &bottom && goesBelow(*above->below)) {
    above = above->below;
  }
  entry.below = above->below;
  above->below = &entry;
}

void remove(StackEntry &entry) {
  StackEntry *above = &head;
  while (above->below != &entry) {
    assert(above->below != &bottom && "a transform leaves the stack in the thread of its scope");
    above = above->below;
  }
  above->below = entry.below;
}

} // namespace

Next stack() { return Next(&head); }

bool hasTransforms() { return head.below != &bottom; }

uint64_t stackSerial() {
  uint64_t serial = 0;
  for (const StackEntry *entry = head.below; entry != &bottom; entry = entry->below) {
    // Of one transform its own; of several a mixture.
    serial = serial * 0x9E3779B97F4A7C15u + entry->serial;
  }
  return serial;
}

std::string traceKeyAbove(TransformSlot slot) {
  std::string key;
  for (const StackEntry *entry = head.below; entry->slot < slot; entry = entry->below) {
    std::string own = entry->transform->traceKey();
    key += own.empty() ? own : own + ";";
  }
  return key;
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

//===----------------------------------------------------------------------===//
// Scopes
//===----------------------------------------------------------------------===//

ScopedTransform::ScopedTransform(TransformSlot slot, Transform &transform)
    : entry{&transform, nullptr, slot, ++entriesSoFar} {
  insert(entry);
}

ScopedTransform::~ScopedTransform() {
  assert(suspensions == 0 && "a suspension outlives its transform");
  remove(entry);
  entry.transform->onRemove();
}

ScopedSuspension::ScopedSuspension(ScopedTransform &scope) : scope(scope) {
  if (scope.suspensions++ == 0) {
    remove(scope.entry);
  }
}

ScopedSuspension::~ScopedSuspension() {
  if (--scope.suspensions == 0) {
    insert(scope.entry);
  }
}

//===----------------------------------------------------------------------===//
// Hooks
//===----------------------------------------------------------------------===//

namespace {

bool areSettled(std::span<const Value> values) {
  for (const Value &value : values) {
    if (value->wrapping() && !(settled(value) == value)) {
      return false;
    }
  }
  return true;
}

} // namespace

Result<Values> Next::apply(const OpCall &call, std::span<const Value> operands) const {
  const StackEntry *below = entry->below;
  if (areSettled(operands)) {
    return below->transform->apply(call, operands, Next(below));
  }
  Values now;
  for (const Value &operand : operands) {
    now.push_back(settled(operand));
  }
  return below->transform->apply(call, now, Next(below));
}

Result<Value> Next::readCell(Cell &cell) const {
  return entry->below->transform->readCell(cell, Next(entry->below));
}

Status Next::writeCell(Cell &cell, Value value) const {
  if (value->wrapping()) {
    value = Value(settled(value));
  }
  return entry->below->transform->writeCell(cell, std::move(value), Next(entry->below));
}

Result<Value> Next::readView(const Cell &cell, const void *path) const {
  return entry->below->transform->readView(cell, path, Next(entry->below));
}

Result<Value> Next::onHostData(Value value) const {
  return entry->below->transform->onHostData(std::move(value), Next(entry->below));
}

Result<Value> Next::onScalar(const PythonScalar &scalar, Value value) const {
  return entry->below->transform->onScalar(scalar, std::move(value), Next(entry->below));
}

Result<Value> Next::onHostRead(const Value &value) const {
  return entry->below->transform->onHostRead(settled(value), Next(entry->below));
}

Result<std::optional<int64_t>> Next::fixedSize(const Value &value, size_t axis) const {
  return entry->below->transform->fixedSize(settled(value), axis, Next(entry->below));
}

Result<bool> Next::decideIsOne(const Value &value, size_t axis) const {
  return entry->below->transform->decideIsOne(settled(value), axis, Next(entry->below));
}

Status Next::expectSameShape(const Value &old, const Value &now) const {
  return entry->below->transform->expectSameShape(settled(old), settled(now), Next(entry->below));
}

Status Next::expectFits(const Value &size, DType dtype) const {
  return entry->below->transform->expectFits(settled(size), dtype, Next(entry->below));
}

void Next::onViewOrCopy(const Value &part, const Cell &base, const Tensor &made) const {
  entry->below->transform->onViewOrCopy(settled(part), base, made, Next(entry->below));
}

void Next::onName(const Value &value, std::string_view name) const {
  entry->below->transform->onName(settled(value), name, Next(entry->below));
}

Result<Values> Transform::apply(const OpCall &call, std::span<const Value> operands, Next next) {
  return next.apply(call, operands);
}

Result<Value> Transform::readCell(Cell &cell, Next next) { return next.readCell(cell); }

Status Transform::writeCell(Cell &cell, Value value, Next next) {
  return next.writeCell(cell, std::move(value));
}

Result<Value> Transform::readView(const Cell &cell, const void *path, Next next) {
  return next.readView(cell, path);
}

Result<Value> Transform::onHostData(Value value, Next next) {
  return next.onHostData(std::move(value));
}

Result<Value> Transform::onScalar(const PythonScalar &scalar, Value value, Next next) {
  return next.onScalar(scalar, std::move(value));
}

Result<Value> Transform::onHostRead(const Value &value, Next next) {
  return next.onHostRead(value);
}

Result<std::optional<int64_t>> Transform::fixedSize(const Value &value, size_t axis, Next next) {
  return next.fixedSize(value, axis);
}

Result<bool> Transform::decideIsOne(const Value &value, size_t axis, Next next) {
  return next.decideIsOne(value, axis);
}

Status Transform::expectSameShape(const Value &old, const Value &now, Next next) {
  return next.expectSameShape(old, now);
}

Status Transform::expectFits(const Value &size, DType dtype, Next next) {
  return next.expectFits(size, dtype);
}

void Transform::onViewOrCopy(const Value &part, const Cell &base, const Tensor &made, Next next) {
  next.onViewOrCopy(part, base, made);
}

void Transform::onName(const Value &value, std::string_view name, Next next) {
  next.onName(value, name);
}

} // namespace tracec
