#include "tracec/Tensor.h"

#include <mutex>

namespace tracec {

/// The part of a value that says what it wraps.
struct Wrapping {
  WrapperSet *set = nullptr;
  Value inner;
  std::unique_ptr<WrapperData> data;
  /// The transform has left the stack: the value stands for `inner`.
  std::atomic<bool> isOver{false};
  Wrapping *next = nullptr;
  Wrapping *previous = nullptr;
};

/// The live wrappers of a transform; shared by them and their transform, so that any may go first.
/// The lock is held for the change of a list only.
class WrapperSet {
public:
  void retain() { references.fetch_add(1, std::memory_order_relaxed); }
  void release() {
    if (references.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      delete this;
    }
  }

  Value add(Value inner, TensorView view, bool isAlias, std::unique_ptr<WrapperData> data) {
    auto wrapping = std::make_unique<Wrapping>();
    Value value = ValueImpl::makeReady({}, std::move(view));
    value->stateTag = ValueImpl::State::Wrapped;
    value->isAlias = isAlias;
    wrapping->set = this;
    wrapping->inner = std::move(inner);
    wrapping->data = std::move(data);
    retain();
    value->wrapped = wrapping.release();
    std::lock_guard lock(mutex);
    link(*value->wrapped);
    return value;
  }

  void remove(Wrapping *wrapping) {
    {
      std::lock_guard lock(mutex);
      unlink(*wrapping);
    }
    delete wrapping;
    release();
  }

  /// What the values keep goes without the lock: it may be anything, also the last reference to
  /// another wrapper.
  void endAll() {
    while (true) {
      std::unique_ptr<WrapperData> data;
      std::lock_guard lock(mutex);
      if (!first) {
        return;
      }
      data = std::move(first->data);
      first->isOver.store(true, std::memory_order_release);
      unlink(*first);
    }
  }

private:
  void link(Wrapping &wrapping) {
    wrapping.next = first;
    if (first) {
      first->previous = &wrapping;
    }
    first = &wrapping;
  }

  void unlink(Wrapping &wrapping) {
    if (wrapping.previous) {
      wrapping.previous->next = wrapping.next;
    } else if (first == &wrapping) {
      first = wrapping.next;
    }
    if (wrapping.next) {
      wrapping.next->previous = wrapping.previous;
    }
    wrapping.next = wrapping.previous = nullptr;
  }

  std::atomic<int64_t> references{1};
  std::mutex mutex;
  Wrapping *first = nullptr;
};

void dropWrapping(Wrapping *wrapping) { wrapping->set->remove(wrapping); }

const Value &settledWrapper(const Value &wrapper) {
  const Value *value = &wrapper;
  while ((*value)->wrapping() && (*value)->wrapping()->isOver.load(std::memory_order_acquire)) {
    value = &(*value)->wrapping()->inner;
  }
  return *value;
}

const Value &innermost(const Value &value) {
  const Value *inner = &value;
  while ((*inner)->wrapping()) {
    inner = &(*inner)->wrapping()->inner;
  }
  return *inner;
}

//===----------------------------------------------------------------------===//
// Wrappers
//===----------------------------------------------------------------------===//

Wrappers::Wrappers() : set(new WrapperSet()) {}

Wrappers::~Wrappers() {
  unwrapAll();
  set->release();
}

Value Wrappers::wrap(Value inner, std::unique_ptr<WrapperData> data) {
  // The logical strides, so that the view rule can be asked.
  TensorView view = inner->view();
  view.data = nullptr;
  bool isAlias = inner->isAlias;
  return set->add(std::move(inner), std::move(view), isAlias, std::move(data));
}

Value Wrappers::wrap(Value inner, const TensorType &type, std::unique_ptr<WrapperData> data) {
  bool isAlias = inner->isAlias;
  return set->add(std::move(inner), TensorView::contiguous(nullptr, type), isAlias,
                  std::move(data));
}

bool Wrappers::owns(const Value &value) const {
  return value->wrapping() && value->wrapping()->set == set && !value->wrapping()->isOver;
}

WrapperData *Wrappers::dataOf(const Value &value) const {
  return owns(value) ? value->wrapping()->data.get() : nullptr;
}

Value Wrappers::unwrap(const Value &value) const {
  return owns(value) ? settled(value->wrapping()->inner) : value;
}

Values Wrappers::unwrap(std::span<const Value> values) const {
  Values inner;
  inner.reserve(values.size());
  for (const Value &value : values) {
    inner.push_back(unwrap(value));
  }
  return inner;
}

void Wrappers::unwrapAll() noexcept { set->endAll(); }

//===----------------------------------------------------------------------===//
// WrappingTransform
//===----------------------------------------------------------------------===//

Result<Value> WrappingTransform::readCell(Cell &cell, Next next) {
  TRACERT_ASSIGN(Value value, next.readCell(cell));
  auto entry = written.find(&cell);
  if (entry == written.end()) {
    return value;
  }
  const Written &last = entry->second;
  if (last.watch == cell.watch && wrappers.unwrap(last.wrapper) == value) {
    return last.wrapper;
  }
  // Another layer dropped or replaced what was written, or the cell is another one.
  written.erase(entry);
  return value;
}

Status WrappingTransform::writeCell(Cell &cell, Value value, Next next) {
  TRACERT_TRY(next.writeCell(cell, wrappers.unwrap(value)));
  if (wrappers.owns(value)) {
    if (!cell.watch) {
      cell.watch = std::make_shared<Cell *>(&cell);
    }
    written[&cell] = {cell.watch, std::move(value)};
  } else {
    written.erase(&cell);
  }
  return Status();
}

Result<Value> WrappingTransform::onHostRead(const Value &value, Next next) {
  return next.onHostRead(wrappers.unwrap(value));
}

Result<std::optional<int64_t>> WrappingTransform::fixedSize(const Value &value, size_t axis,
                                                            Next next) {
  return next.fixedSize(wrappers.unwrap(value), axis);
}

Result<bool> WrappingTransform::decideIsOne(const Value &value, size_t axis, Next next) {
  return next.decideIsOne(wrappers.unwrap(value), axis);
}

Status WrappingTransform::expectSameShape(const Value &old, const Value &now, Next next) {
  return next.expectSameShape(wrappers.unwrap(old), wrappers.unwrap(now));
}

Status WrappingTransform::expectFits(const Value &size, DType dtype, Next next) {
  return next.expectFits(wrappers.unwrap(size), dtype);
}

void WrappingTransform::onViewOrCopy(const Value &part, const Cell &base, const Tensor &made,
                                     Next next) {
  next.onViewOrCopy(wrappers.unwrap(part), base, made);
}

void WrappingTransform::onName(const Value &value, std::string_view name, Next next) {
  next.onName(wrappers.unwrap(value), name);
}

void WrappingTransform::onRemove() noexcept {
  // The cells' values first: what they are compared with is what the wrappers stand for.
  written.clear();
  wrappers.unwrapAll();
}

} // namespace tracec
