#include "tracec/Tensor.h"

#include "Eager/DeviceValues.h"
#include "Eager/Evaluate.h"
#include "Eager/ValueEmitter.h"
#include "Ops/Views.h"
#include "tracec/Functional.h"

#include <algorithm>

namespace tracec {

using tracert::AttrValue;
using tracert::IndexItems;
using tracert::OpKind;

namespace {

/// Steps of a path from the base outwards.
std::vector<const PathStep *> stepsOf(const Path *path) {
  std::vector<const PathStep *> steps;
  for (; path; path = path->parent.get()) {
    steps.push_back(&path->step);
  }
  std::reverse(steps.begin(), steps.end());
  return steps;
}

Result<Value> applyStep(const Value &base, const PathStep &step) {
  Values operands{base};
  operands.insert(operands.end(), step.extras.begin(), step.extras.end());
  TRACERT_ASSIGN(Values results, dispatch(step.call, operands));
  return std::move(results.front());
}

/// Through the whole stack.
class StackEmitter final : public ValueEmitter {
public:
  StackEmitter() : ValueEmitter(dispatch) {}
  Result<std::optional<int64_t>> fixedSize(Handle handle, size_t axis) override {
    return stack().fixedSize((*this)[handle], axis);
  }
};

/// The base with the part that `step` views replaced by `part`.
Result<Value> applyInverse(const Value &base, const PathStep &step, Value part) {
  StackEmitter emitter;
  std::vector<OpEmitter::Handle> operands{emitter.add(base)};
  for (const Value &extra : step.extras) {
    operands.push_back(emitter.add(extra));
  }
  OpEmitter::Handle partHandle = emitter.add(std::move(part));
  TRACERT_ASSIGN(OpEmitter::Handle whole, putBack(step.call, operands, partHandle, emitter));
  return emitter[whole];
}

} // namespace

//===----------------------------------------------------------------------===//
// Cells
//===----------------------------------------------------------------------===//

Result<Value> readCell(Cell &cell) {
  if (hasTransforms() || cell.value->wrapping()) [[unlikely]] {
    return stack().readCell(cell);
  }
  return cell.value;
}

Status writeCell(const CellRef &cell, Value value) {
  if (cell->isConst) {
    return Status::invalidArgument("this tensor was made with const=True and cannot be written");
  }
  while (Tensor *view = cell->firstCachedView) {
    view->dropCache();
  }
  return stack().writeCell(*cell.get(), std::move(value));
}

//===----------------------------------------------------------------------===//
// Handles
//===----------------------------------------------------------------------===//

Tensor Tensor::fromValue(Value value) {
  Tensor tensor;
  tensor.cell = CellRef(new Cell(std::move(value)));
  tensor.cell->createdBy = creationSerial();
  return tensor;
}

Tensor Tensor::fromCell(CellRef cell) {
  Tensor tensor;
  tensor.cell = std::move(cell);
  return tensor;
}

WeakTensor::WeakTensor(const Tensor &tensor) : WeakTensor(*tensor.cell.get()) {
  path = tensor.path;
}

WeakTensor::WeakTensor(Cell &cell) {
  if (!cell.watch) {
    cell.watch = std::make_shared<Cell *>(&cell);
  }
  watch = cell.watch;
}

Tensor WeakTensor::lock() const {
  if (!watch || !*watch) {
    return {};
  }
  (*watch)->retain();
  Tensor tensor = Tensor::fromCell(CellRef(*watch));
  tensor.path = path;
  return tensor;
}

Tensor::Tensor(const Tensor &other) : cell(other.cell), path(other.path) {
  // Without the cache a copied view would dispatch its path again: one more op in a trace.
  if (other.cached) {
    remember(other.cachedBase, other.cachedSerial, other.cached);
  }
}

Tensor::Tensor(Tensor &&other) noexcept { *this = std::move(other); }

Tensor &Tensor::operator=(const Tensor &other) {
  if (this != &other) {
    *this = Tensor(other);
  }
  return *this;
}

Tensor &Tensor::operator=(Tensor &&other) noexcept {
  if (this == &other) {
    return *this;
  }
  dropCache();
  cell = std::move(other.cell);
  path = std::move(other.path);
  if (other.cached) {
    // The cell's list of caches holds addresses of handles.
    Value value = other.cached;
    const ValueImpl *base = other.cachedBase;
    uint64_t serial = other.cachedSerial;
    other.forgetCache(cell.get());
    remember(base, serial, std::move(value));
  }
  return *this;
}

Tensor::~Tensor() { dropCache(); }

void Tensor::reset(const Tensor &other) { *this = other; }

void Tensor::dropCache() const {
  if (cached) {
    forgetCache(cell.get());
  }
}

void Tensor::forgetCache(Cell *owner) const {
  if (previousCachedView) {
    previousCachedView->nextCachedView = nextCachedView;
  } else {
    owner->firstCachedView = nextCachedView;
  }
  if (nextCachedView) {
    nextCachedView->previousCachedView = previousCachedView;
  }
  previousCachedView = nextCachedView = nullptr;
  cachedBase = nullptr;
  cached = Value();
}

Result<Value> Tensor::read() const {
  if (path && hasTransforms()) [[unlikely]] {
    TRACERT_ASSIGN(Value known, stack().readView(*cell.get(), path.get()));
    if (known) {
      return known;
    }
  }
  TRACERT_ASSIGN(Value base, readCell(*cell.get()));
  if (!path) {
    return base;
  }
  if (cached && cachedBase == base.get() && cachedSerial == stackSerial()) {
    return cached;
  }
  dropCache();
  Value value = base;
  for (const PathStep *step : stepsOf(path.get())) {
    TRACERT_ASSIGN(value, applyStep(value, *step));
  }
  remember(base.get(), stackSerial(), value);
  return value;
}

void Tensor::remember(const ValueImpl *base, uint64_t serial, Value value) const {
  cached = std::move(value);
  cachedBase = base;
  cachedSerial = serial;
  previousCachedView = nullptr;
  nextCachedView = cell->firstCachedView;
  if (nextCachedView) {
    nextCachedView->previousCachedView = const_cast<Tensor *>(this);
  }
  cell->firstCachedView = const_cast<Tensor *>(this);
}

Result<TensorType> Tensor::type() const {
  if (!path && !hasTransforms()) {
    return cell->value->type();
  }
  TRACERT_ASSIGN(Value value, read());
  return value->type();
}

Result<Value> Tensor::readForHost() const {
  TRACERT_ASSIGN(Value value, read());
  return stack().onHostRead(value);
}

Result<Tensor> Tensor::view(const OpCall &call, std::span<const Value> extras) const {
  TRACERT_ASSIGN(Value base, readCell(*cell.get()));
  TRACERT_ASSIGN(Value value, read());
  PathStep step{call, Values(extras.begin(), extras.end()), !canPutBack(call)};
  TRACERT_ASSIGN(Value part, applyStep(value, step));
  Tensor result;
  if (part->isAlias) {
    result.cell = cell;
    step.isReadOnly |= path && path->step.isReadOnly;
    result.path = std::make_shared<const Path>(Path{path, std::move(step)});
    result.remember(base.get(), stackSerial(), part);
  } else {
    result = fromValue(part);
  }
  if (hasTransforms() && call.info().has(tracert::kTraitMayCopy)) {
    stack().onViewOrCopy(part, *cell.get(), result);
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

bool Tensor::isWritable() const { return !cell->isConst && !(path && path->step.isReadOnly); }

Status Tensor::checkWritable() const {
  if (cell->isConst) {
    return Status::invalidArgument(
        "assignment to a tensor made with const=True; write to a copy of it instead");
  }
  if (path && path->step.isReadOnly) {
    return Status::invalidArgument("assignment to a read-only view (made by 'broadcast_to'); write "
                                   "to a copy of it instead");
  }
  return Status();
}

Status Tensor::assign(Value value) {
  TRACERT_TRY(checkWritable());
  if (!path) {
    return writeCell(cell, std::move(value));
  }
  return writeThroughPath(std::move(value));
}

/// Rebuilds the base outwards-in: each step's base gets its part replaced.
Status Tensor::writeThroughPath(Value part) {
  TRACERT_ASSIGN(Value base, readCell(*cell.get()));
  std::vector<const PathStep *> steps = stepsOf(path.get());
  Values bases{base};
  for (size_t i = 0; i + 1 < steps.size(); ++i) {
    TRACERT_ASSIGN(Value inner, applyStep(bases.back(), *steps[i]));
    bases.push_back(std::move(inner));
  }
  for (size_t i = steps.size(); i-- > 0;) {
    TRACERT_ASSIGN(part, applyInverse(bases[i], *steps[i], std::move(part)));
  }
  // A cell's value lies in logical order, or reshape would no longer give views of it.
  bool mayBeReordered = std::any_of(steps.begin(), steps.end(), [](const PathStep *step) {
    return putsBackReordered(step->call);
  });
  if (mayBeReordered && part->isAlias) {
    auto everything = std::make_shared<IndexItems>();
    everything->items.resize(base->shape().size());
    Values operands{std::move(base), std::move(part)};
    OpCall set{OpKind::set_subtensor, {AttrValue::index(std::move(everything))}};
    TRACERT_ASSIGN(Values results, dispatch(set, operands));
    part = std::move(results.front());
  }
  return writeCell(cell, std::move(part));
}

Status Tensor::setInPlace(const OpCall &call, std::span<const Value> rest, bool *done) {
  *done = false;
  if (hasTransforms()) {
    return Status();
  }
  while (Tensor *view = cell->firstCachedView) {
    view->dropCache();
  }
  if (cell->value->wrapping()) [[unlikely]] {
    cell->value = settled(cell->value);
  }
  if (!path) {
    TRACERT_ASSIGN(Value fresh, dispatchConsuming(call, cell->value, rest));
    cell->value = std::move(fresh);
    *done = true;
    return Status();
  }
  // Through a path: write the strided part of the base's own memory when nothing else can see it.
  Value &base = cell->value;
  TRACERT_TRY(ensureReady(base));
  if (base->useCount() != 1 || base->buffer()->isForeign() || !base->buffer()->isUnique()) {
    return Status();
  }
  if (tracert::hasDevices()) [[unlikely]] {
    for (const Value &operand : rest) {
      TRACERT_TRY(ensureReady(operand));
    }
    if (!isOnHost({&base, 1}) || !isOnHost(rest)) {
      return Status();
    }
  }
  TensorView part = base->view();
  for (const PathStep *step : stepsOf(path.get())) {
    std::vector<int64_t> sizes;
    for (const Value &extra : step->extras) {
      TRACERT_ASSIGN(int64_t size, hostInt(extra));
      sizes.push_back(size);
    }
    TRACERT_ASSIGN(std::optional<TensorView> inner, viewOf(step->call, part, sizes));
    if (!inner) {
      return Status();
    }
    part = std::move(*inner);
  }
  std::vector<tracert::OperandInfo> infos{{part.type()}};
  std::vector<TensorView> inputs{part};
  for (const Value &operand : rest) {
    TRACERT_TRY(ensureReady(operand));
    infos.push_back({operand->type()});
    inputs.push_back(operand->view());
    if (infos.size() > 2 && operand->shape().empty() && tracert::isInteger(operand->dtype())) {
      TRACERT_ASSIGN(infos.back().sizeValue, hostInt(operand));
    }
  }
  TRACERT_TRY(inferTypes(call, infos).status());
  *done = true;
  return runKernel(kernelContext(), call, inputs, {&part, 1});
}

Status Tensor::setItem(const std::shared_ptr<const IndexItems> &items, Value value,
                       std::span<const Value> extras) {
  OpKind kind = items->isBasic() ? OpKind::set_subtensor : OpKind::set_indexing_multi_axis_vec;
  return setBy({kind, {AttrValue::index(items)}}, std::move(value), extras);
}

Status Tensor::setBy(const OpCall &set, Value value, std::span<const Value> extras) {
  TRACERT_TRY(checkWritable());
  TRACERT_ASSIGN(Value old, read());
  TRACERT_ASSIGN(value, castTo(std::move(value), old->dtype()));
  old = Value();
  Values rest{std::move(value)};
  rest.insert(rest.end(), extras.begin(), extras.end());
  bool done = false;
  TRACERT_TRY(setInPlace(set, rest, &done));
  if (done) {
    return Status();
  }
  TRACERT_ASSIGN(Value current, read());
  Values operands{std::move(current)};
  operands.insert(operands.end(), rest.begin(), rest.end());
  TRACERT_ASSIGN(Values results, dispatch(set, operands));
  operands.clear();
  return assign(std::move(results.front()));
}

} // namespace tracec
