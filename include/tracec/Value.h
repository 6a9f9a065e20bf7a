/// Value: what flows through dispatch. An immutable tensor: a type and a strided view of a shared
/// buffer, a placeholder whose data a replay will fill in, or a transform's wrapper of another
/// value.
///
///   Value sum = ...; TRACERT_TRY(ensureReady(sum)); const TensorView &view = sum->view();
///
/// Values are reference counted and compared by identity (`a.get() == b.get()`): the recorder knows
/// a value by its address. Copying a Value never copies data.
#pragma once

#include "tracert/Allocator.h"
#include "tracert/Tensor.h"

#include <atomic>
#include <utility>

namespace tracec {

using tracert::Dims;
using tracert::DType;
using tracert::Result;
using tracert::Status;
using tracert::TensorType;
using tracert::TensorView;

class ValueImpl;

/// Who fills a placeholder. A transform derives from it; it outlives its placeholders.
class PlaceholderSource {
public:
  virtual ~PlaceholderSource() = default;
  /// Makes `value` ready (running what is needed) or says why it cannot be.
  virtual Status fill(ValueImpl &value) = 0;
  virtual void retain() = 0;
  virtual void release() = 0;
};

/// What a transform keeps with a value that it wrapped (see Wrappers); goes with the value, and at
/// the latest when the transform leaves the stack.
class WrapperData {
public:
  virtual ~WrapperData() = default;
};
class WrapperSet;
struct Wrapping;

class ValueImpl {
public:
  /// Wrapped: only the transform that made it knows its data.
  enum class State : uint8_t { Ready, Pending, Failed, Wrapped };

  void retain() { count.fetch_add(1, std::memory_order_relaxed); }
  void release() {
    if (count.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      destroy();
    }
  }
  int64_t useCount() const { return count.load(std::memory_order_acquire); }

  State state() const { return stateTag; }
  DType dtype() const { return memory.dtype; }
  /// For a Pending value a dim may be kUnknownDim (the count of a mask); ensureReady resolves it.
  const Dims &shape() const { return memory.shape; }
  TensorType type() const { return memory.type(); }
  /// Data only when Ready.
  const TensorView &view() const { return memory; }
  const tracert::BufferRef &buffer() const { return storage; }
  /// Number that the active recorder or replay gave this value; ~0 when none. Only meaningful
  /// together with traceSerial.
  uint32_t traceVar = ~0u;
  uint64_t traceSerial = 0;

  /// The result of a view op that shares its operand's memory (a Pending value has the logical
  /// strides in its view, so that the view rule can be asked during a replay, too).
  bool isAlias = false;

  /// A view over `storage`, which it keeps alive.
  static class Value makeReady(tracert::BufferRef storage, TensorView view);
  /// `logical` has no data; its strides are those the eager value would have.
  static class Value makePending(TensorView logical, PlaceholderSource *source);
  /// Turns a Pending value into a Ready one.
  void becomeReady(tracert::BufferRef storage, TensorView view);
  void becomeFailed(Status why);
  PlaceholderSource *source() const { return pendingSource; }
  /// Of a value that was wrapped, also after its transform has left the stack.
  const Wrapping *wrapping() const { return wrapped; }
  const Status &failure() const;

private:
  friend class WrapperSet;
  friend Status ensureReady(const Value &value);
  ValueImpl() = default;
  void destroy();
  static ValueImpl *acquire();

  std::atomic<int64_t> count{1};
  State stateTag = State::Ready;
  TensorView memory;
  tracert::BufferRef storage;
  PlaceholderSource *pendingSource = nullptr;
  Status *why = nullptr;
  Wrapping *wrapped = nullptr;
};

class Value {
public:
  Value() = default;
  explicit Value(ValueImpl *adopted) : impl(adopted) {}
  Value(const Value &other) : impl(other.impl) {
    if (impl) {
      impl->retain();
    }
  }
  Value(Value &&other) noexcept : impl(other.impl) { other.impl = nullptr; }
  Value &operator=(Value other) noexcept {
    std::swap(impl, other.impl);
    return *this;
  }
  ~Value() {
    if (impl) {
      impl->release();
    }
  }
  ValueImpl *operator->() const { return impl; }
  ValueImpl *get() const { return impl; }
  explicit operator bool() const { return impl != nullptr; }
  friend bool operator==(const Value &a, const Value &b) { return a.impl == b.impl; }

private:
  ValueImpl *impl = nullptr;
};

/// What the value stands for: itself, but for a wrapper whose transform has left the stack. The
/// result lives as long as the argument.
const Value &settledWrapper(const Value &wrapper);
inline const Value &settled(const Value &value) {
  // NOLINTNEXTLINE(bugprone-return-const-ref-from-parameter)
  return value->wrapping() == nullptr ? value : settledWrapper(value);
}
/// The value below all wrappers, as the recorder and the kernels know it.
const Value &innermost(const Value &value);

/// Makes a placeholder ready; returns the failure of a Failed value. A wrapper has data once its
/// transform has left the stack.
Status ensureReady(const Value &value);

/// New contiguous value with uninitialised memory (`data` to fill is view().data).
Result<Value> allocateValue(const TensorType &type);

} // namespace tracec
