/// Dispatch: runs an op call on values through the active transforms down to the kernels.
///
///   TRACERT_ASSIGN(Values results, dispatch(call, {x, y}));
///
/// Operands already have the dtypes the op wants (promotion is in Functional.h). With no transform
/// active this is one branch and a direct call of the kernel. Thread-local; values may be shared
/// between threads, tensors may not without the user's own locking.
#pragma once

#include "tracec/Value.h"
#include "tracert/OpRules.h"
#include "tracert/Program.h"

#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace tracec {

using tracert::OpCall;
using Values = std::vector<Value>;

/// The rest of the stack, as an argument.
class Next {
public:
  using Fn = Result<Values> (*)(void *context, const OpCall &, std::span<const Value>);
  Next(Fn fn, void *context) : fn(fn), context(context) {}
  Result<Values> operator()(const OpCall &call, std::span<const Value> operands) const {
    return fn(context, call, operands);
  }

private:
  Fn fn;
  void *context;
};

class Cell;
class Tensor;
struct PythonScalar;

/// One layer of dispatch. Knows no other transform and lists no ops.
class Transform {
public:
  virtual ~Transform() = default;
  virtual Result<Values> apply(const OpCall &call, std::span<const Value> operands, Next next) = 0;
  /// Identifies this activation: cached views of another serial are not reused.
  virtual uint64_t serial() const { return 0; }
  /// The cell's value as this layer sees it (a trace sees its own uncommitted writes).
  virtual Result<Value> readCell(Cell &cell) = 0;
  virtual Status writeCell(Cell &cell, Value value) = 0;
  /// The value of a view that the layer knows as a whole (a view passed as an argument), or empty.
  virtual Value readView(const Cell &, const void * /*path*/) { return Value(); }
  /// A value made from host data (tc.tensor of Python data) inside the layer's scope.
  virtual Result<Value> onHostData(Value value) = 0;
  /// A Python number that became a rank-0 operand.
  virtual Result<Value> onScalar(const PythonScalar &scalar, Value value) = 0;
  /// Whether the size is 1 in every call that this layer serves, not in this one by chance. The
  /// caller relies on the answer.
  virtual bool isAlwaysOne(const Value &value, size_t axis) = 0;
  /// Whether the size is 1 in this call; the caller goes on differently if it is. While the size is
  /// not known, what it was when this was recorded.
  virtual Result<bool> decideIsOne(const Value &value, size_t axis) = 0;
  /// `now` replaces `old` in a tensor, which must not change its shape; a size may be known later.
  virtual void expectSameShape(const Value & /*old*/, const Value & /*now*/) {}
  /// A size of rank 0 is stored in an integer dtype, as Python's number would be: Overflow when it
  /// does not fit.
  virtual Status expectFits(const Value &size, DType dtype) = 0;
  /// `made` was just made of `part`, the result of a view op of trait kTraitMayCopy on a tensor of
  /// cell `base`: its view if part->isAlias, a tensor of its own if not.
  virtual void onViewOrCopy(const Value & /*part*/, const Cell & /*base*/,
                            const Tensor & /*made*/) {}
  /// Python is about to read `value`; afterwards it must be Ready.
  virtual Status onHostRead(const Value &value) = 0;
};

/// Top to bottom; the order of the stack is this order.
enum class TransformSlot : uint8_t { ModuleTrace, Grad, Trace, Count };

/// The transform in a slot of this thread's stack, or null.
Transform *activeTransform(TransformSlot slot);
/// Installs (or with null removes) it; returns the one that was there.
Transform *setActiveTransform(TransformSlot slot, Transform *transform);

/// Stamp of the cells that this thread makes now: the serial of the call in progress, also while
/// its trace is suspended for an excluded region; 0 outside.
uint64_t &creationSerial();

Result<Values> dispatch(const OpCall &call, std::span<const Value> operands);
/// The bottom of the stack: type rule, view rule or library kernel, now. Composite ops are
/// replaced by their decomposition here. May reuse the buffer of a kTraitSet op's operand 0 when
/// the caller passed the last reference (see dispatchConsuming).
Result<Values> evaluate(const OpCall &call, std::span<const Value> operands);
/// As dispatch, with operand 0 given up: its buffer is written in place when nothing else holds it.
/// `consumed` is emptied on success and untouched on failure.
Result<Value> dispatchConsuming(const OpCall &call, Value &consumed, std::span<const Value> rest);

/// How the user's current Python line is found; installed by the bindings. Slow: called on record
/// and on errors only.
using LocationProvider = tracert::SourceLoc (*)();
void setLocationProvider(LocationProvider provider);
tracert::SourceLoc currentLocation();

/// Options of this thread's evaluation.
struct EvalOptions {
  tracert::Isa isa;
  /// What runs with these options shares it, so that a pool goes only when nothing runs on it.
  /// Null: no threads.
  std::shared_ptr<tracert::ThreadPool> pool;
  tracert::IndexMode indexMode = tracert::IndexMode::Checked;
  /// Section that replays use.
  uint8_t sectionKind = 0; // tracert::SectionChoice::Kind
};
EvalOptions &evalOptions();

} // namespace tracec
