/// Transform: one layer of dispatch; the stack of them, which is one per thread; and the values
/// that a transform wraps.
///
///   class Counter : public Transform {
///     Result<Values> apply(const OpCall &call, std::span<const Value> operands, Next next)
///     override {
///       ++calls;
///       return next.apply(call, operands);
///     }
///   };
///   Counter counter;
///   ScopedTransform scope(TransformSlot::Functional, counter);  // until the end of the block
///
/// Each hook gets the rest of the stack as `next` and passes on by default, so a transform
/// overrides what it needs. It knows no other transform and lists no ops. The last layer runs ops.
///
/// A transform that gives out values of its own wraps the values of the layers below (Wrappers).
/// Only its owner looks into a wrapper, and dispatch takes it for the wrapped value once the owner
/// has left the stack, in whatever way it left. So below a transform nothing sees its wrappers.
#pragma once

#include "tracec/Value.h"
#include "tracert/Op.h"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace tracec {

using tracert::OpCall;
using Values = std::vector<Value>;

class Cell;
class Tensor;
class Transform;
struct PythonScalar;

/// Top to bottom; the order of the stack is this order. A slot may hold several, of which the one
/// entered last is on top.
enum class TransformSlot : uint8_t {
  ModuleTrace,
  /// Gradients and the like. Above Trace, so that a recorder sees what they make of an op.
  Functional,
  Trace,
  /// Runs ops: eagerly at the bottom of each stack, or what is entered in its place.
  Eval,
};

/// A transform's place in a stack.
struct StackEntry {
  Transform *transform = nullptr;
  StackEntry *below = nullptr;
  TransformSlot slot = TransformSlot::ModuleTrace;
  /// Counts entries, in all threads; never 0 for a transform that was entered.
  uint64_t serial = 0;
};

/// The stack below an entry; the hooks as functions.
class Next {
public:
  explicit Next(const StackEntry *entry) : entry(entry) {}
  Result<Values> apply(const OpCall &call, std::span<const Value> operands) const;
  Result<Value> readCell(Cell &cell) const;
  Status writeCell(Cell &cell, Value value) const;
  Result<Value> readView(const Cell &cell, const void *path) const;
  Result<Value> onHostData(Value value) const;
  Result<Value> onScalar(const PythonScalar &scalar, Value value) const;
  Result<Value> onHostRead(const Value &value) const;
  Result<std::optional<int64_t>> fixedSize(const Value &value, size_t axis) const;
  Result<bool> decideIsOne(const Value &value, size_t axis) const;
  Status expectSameShape(const Value &old, const Value &now) const;
  Status expectFits(const Value &size, DType dtype) const;
  void onViewOrCopy(const Value &part, const Cell &base, const Tensor &made) const;
  void onName(const Value &value, std::string_view name) const;

private:
  const StackEntry *entry;
};

class Transform {
public:
  virtual ~Transform() = default;
  virtual Result<Values> apply(const OpCall &call, std::span<const Value> operands, Next next);
  /// The cell's value as this layer sees it (a trace sees its own uncommitted writes).
  virtual Result<Value> readCell(Cell &cell, Next next);
  virtual Status writeCell(Cell &cell, Value value, Next next);
  /// The value of a view that a layer knows as a whole (a view passed as an argument), or empty.
  virtual Result<Value> readView(const Cell &cell, const void *path, Next next);
  /// A value made from host data (tc.tensor of Python data).
  virtual Result<Value> onHostData(Value value, Next next);
  /// A Python number that became a rank-0 operand.
  virtual Result<Value> onScalar(const PythonScalar &scalar, Value value, Next next);
  /// Python is about to read `value`: the value to read, which is Ready.
  virtual Result<Value> onHostRead(const Value &value, Next next);
  /// The size if it is the same in every call that the stack serves, not in this one by chance: the
  /// caller relies on it. Otherwise empty, and the size is the result of an op.
  virtual Result<std::optional<int64_t>> fixedSize(const Value &value, size_t axis, Next next);
  /// Whether the size is 1 in this call; the caller goes on differently if it is. While the size is
  /// not known, what it was when this was recorded.
  virtual Result<bool> decideIsOne(const Value &value, size_t axis, Next next);
  /// `now` replaces `old` in a tensor, which must not change its shape; a size may be known later.
  virtual Status expectSameShape(const Value &old, const Value &now, Next next);
  /// A size of rank 0 is stored in an integer dtype, as Python's number would be: Overflow when it
  /// does not fit.
  virtual Status expectFits(const Value &size, DType dtype, Next next);
  /// `made` was just made of `part`, the result of a view op of trait kTraitMayCopy on a tensor of
  /// cell `base`: its view if part->isAlias, a tensor of its own if not.
  virtual void onViewOrCopy(const Value &part, const Cell &base, const Tensor &made, Next next);
  /// The user's name for a value.
  virtual void onName(const Value &value, std::string_view name, Next next);

  /// A trace that was recorded below this transform serves calls below transforms of the same key
  /// only. Empty: the layers below see what they would see without it.
  virtual std::string traceKey() const { return {}; }
  /// It has left the stack for good, maybe while an exception passes. Unwraps what it wrapped.
  virtual void onRemove() noexcept {}
};

/// This thread's whole stack, to ask what the user asks.
Next stack();
/// Whether anything but the eager evaluation is on this thread's stack.
bool hasTransforms();
/// Identifies what is on this thread's stack; 0 when nothing is. Cached views of another serial are
/// not reused.
uint64_t stackSerial();
/// The keys of the transforms above the slot, top to bottom.
std::string traceKeyAbove(TransformSlot slot);

/// Has a transform on the stack of the thread that makes it. Ends in that thread, also by an
/// exception; scopes of one slot may end in any order.
class ScopedTransform {
public:
  ScopedTransform(TransformSlot slot, Transform &transform);
  ~ScopedTransform();
  ScopedTransform(const ScopedTransform &) = delete;
  ScopedTransform &operator=(const ScopedTransform &) = delete;

private:
  friend class ScopedSuspension;
  StackEntry entry;
  int suspensions = 0;
};

/// Takes a transform off the stack for a while, in the same thread; the scope outlives this. What
/// it wrapped stays wrapped.
class ScopedSuspension {
public:
  explicit ScopedSuspension(ScopedTransform &scope);
  ~ScopedSuspension();
  ScopedSuspension(const ScopedSuspension &) = delete;
  ScopedSuspension &operator=(const ScopedSuspension &) = delete;

private:
  ScopedTransform &scope;
};

/// The values that one transform wrapped. Wrapping and unwrapping happen in its thread; the last
/// reference to a wrapper may go in any.
class Wrappers {
public:
  Wrappers();
  ~Wrappers();
  Wrappers(const Wrappers &) = delete;
  Wrappers &operator=(const Wrappers &) = delete;

  /// A value that looks like `inner` to the layers above.
  Value wrap(Value inner, std::unique_ptr<WrapperData> data = nullptr);
  /// One that looks otherwise: `type` is what the layers above see.
  Value wrap(Value inner, const TensorType &type, std::unique_ptr<WrapperData> data);
  bool owns(const Value &value) const;
  /// Of an own wrapper; null for any other value.
  WrapperData *dataOf(const Value &value) const;
  /// Of an own wrapper what it wraps, of any other value the value.
  Value unwrap(const Value &value) const;
  Values unwrap(std::span<const Value> values) const;
  /// From here on each wrapper stands for what it wraps.
  void unwrapAll() noexcept;

private:
  WrapperSet *set;
};

/// The base of a transform with wrappers. Cells get what is wrapped, so that the layers below see a
/// write of a value that they know; a read finds the wrapper again.
class WrappingTransform : public Transform {
public:
  Result<Value> readCell(Cell &cell, Next next) override;
  Status writeCell(Cell &cell, Value value, Next next) override;
  Result<Value> onHostRead(const Value &value, Next next) override;
  Result<std::optional<int64_t>> fixedSize(const Value &value, size_t axis, Next next) override;
  Result<bool> decideIsOne(const Value &value, size_t axis, Next next) override;
  Status expectSameShape(const Value &old, const Value &now, Next next) override;
  Status expectFits(const Value &size, DType dtype, Next next) override;
  void onViewOrCopy(const Value &part, const Cell &base, const Tensor &made, Next next) override;
  void onName(const Value &value, std::string_view name, Next next) override;
  void onRemove() noexcept override;

protected:
  Wrappers wrappers;

private:
  /// The wrapper that was written to a cell; the cell holds what it wraps, or it is outdated.
  struct Written {
    /// Cell::watch, which another cell at the address does not share.
    std::shared_ptr<Cell *> watch;
    Value wrapper;
  };
  std::unordered_map<const Cell *, Written> written;
};

} // namespace tracec
