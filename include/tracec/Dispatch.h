/// Dispatch: runs an op call on values through the active transforms down to the kernels.
///
///   TRACERT_ASSIGN(Values results, dispatch(call, {x, y}));
///
/// Operands already have the dtypes the op wants (promotion is in Functional.h). With no transform
/// active this is one branch and a direct call of the kernel. Thread-local; values may be shared
/// between threads, tensors may not without the user's own locking.
#pragma once

#include "tracec/Transform.h"
#include "tracert/OpRules.h"
#include "tracert/Program.h"

#include <memory>
#include <span>

namespace tracec {

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
  tracert::Target target;
  /// What runs with these options shares it, so that a pool goes only when nothing runs on it.
  /// Null: no threads.
  std::shared_ptr<tracert::ThreadPool> pool;
  tracert::IndexMode indexMode = tracert::IndexMode::Checked;
  /// Section that replays use.
  uint8_t sectionKind = 0; // tracert::SectionChoice::Kind
};
EvalOptions &evalOptions();

} // namespace tracec
