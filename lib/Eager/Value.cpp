#include "tracec/Value.h"

#include <cassert>
#include <new>

namespace tracec {

/// In Wrappers.cpp.
void dropWrapping(Wrapping *wrapping);

namespace {

/// Freed ValueImpls of this thread, linked through their first word, so that making a value costs
/// no malloc. Bounded, and given back when the thread ends.
struct FreeList {
  static constexpr int kLimit = 256;
  void *head = nullptr;
  int size = 0;
  bool closed = false;
  ~FreeList() {
    closed = true;
    while (head) {
      void *next = *static_cast<void **>(head);
      ::operator delete(head);
      head = next;
    }
  }
};
thread_local FreeList freeValues;

} // namespace

ValueImpl *ValueImpl::acquire() {
  FreeList &list = freeValues;
  void *memory;
  if (list.head) {
    memory = list.head;
    list.head = *static_cast<void **>(memory);
    --list.size;
  } else {
    memory = ::operator new(sizeof(ValueImpl));
  }
  return new (memory) ValueImpl();
}

void ValueImpl::destroy() {
  if (pendingSource) {
    pendingSource->release();
  }
  if (wrapped) {
    dropWrapping(wrapped);
  }
  delete why;
  this->~ValueImpl();
  FreeList &list = freeValues;
  if (list.closed || list.size >= FreeList::kLimit) {
    ::operator delete(static_cast<void *>(this));
    return;
  }
  *reinterpret_cast<void **>(this) = list.head;
  list.head = this;
  ++list.size;
}

Value ValueImpl::makeReady(tracert::BufferRef storage, TensorView view) {
  ValueImpl *impl = acquire();
  impl->storage = std::move(storage);
  impl->memory = std::move(view);
  return Value(impl);
}

Value ValueImpl::makePending(TensorView logical, PlaceholderSource *source) {
  ValueImpl *impl = acquire();
  impl->stateTag = State::Pending;
  impl->memory = std::move(logical);
  impl->pendingSource = source;
  source->retain();
  return Value(impl);
}

void ValueImpl::becomeReady(tracert::BufferRef newStorage, TensorView view) {
  assert(stateTag == State::Pending);
  storage = std::move(newStorage);
  memory = std::move(view);
  stateTag = State::Ready;
  if (pendingSource) {
    std::exchange(pendingSource, nullptr)->release();
  }
}

void ValueImpl::becomeFailed(Status reason) {
  assert(stateTag == State::Pending);
  stateTag = State::Failed;
  why = new Status(std::move(reason));
  if (pendingSource) {
    std::exchange(pendingSource, nullptr)->release();
  }
}

const Status &ValueImpl::failure() const {
  static const Status ok;
  return why ? *why : ok;
}

Status ensureReady(const Value &value) {
  if (value->state() == ValueImpl::State::Ready) {
    return Status();
  }
  if (value->state() == ValueImpl::State::Failed) {
    return value->failure();
  }
  if (value->state() == ValueImpl::State::Pending) {
    return value->source()->fill(*value.get());
  }
  const Value &inner = settled(value);
  if (inner == value) {
    return Status::invalidArgument("the tensor is a transform's, which has not ended")
        .withAdvice("read it in the thread of the transform, or after it has ended");
  }
  TRACERT_TRY(ensureReady(inner));
  value->storage = inner->buffer();
  value->memory = inner->view();
  value->stateTag = ValueImpl::State::Ready;
  return Status();
}

Result<Value> allocateValue(const TensorType &type) {
  tracert::BufferRef buffer(tracert::Buffer::allocate(tracert::processAllocator(),
                                                      static_cast<size_t>(type.byteCount())));
  if (!buffer) {
    return Status::outOfMemory("out of memory for a tensor of " + std::to_string(type.byteCount()) +
                               " bytes (" + type.str() + ")");
  }
  void *data = buffer->data();
  return ValueImpl::makeReady(std::move(buffer), TensorView::contiguous(data, type));
}

} // namespace tracec
