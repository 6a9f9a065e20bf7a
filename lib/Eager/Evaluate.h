/// The bottom of the dispatch stack: one op, now, with the library kernels.
#pragma once

#include "tracec/Dispatch.h"

#include <optional>

namespace tracec {

/// As dispatch, for an op with one result: spares plain eager code the vector of results, and
/// pointwise ops on equal shapes the general type rule.
Result<Value> dispatchOne(const OpCall &call, std::span<const Value> operands);

/// As evaluate, for an op with one result; operand 0 is given up (emptied on success), and when it
/// is a kTraitSet op and nothing else holds the value or its memory, the result reuses that memory.
Result<Value> evaluateConsuming(const OpCall &call, Value &consumed, std::span<const Value> rest);

/// The value of a Ready rank-0 integer; empty for any other value.
std::optional<int64_t> readySize(const Value &value);

/// The kernel context of this thread's options.
tracert::KernelContext kernelContext();

/// The type rule on values; size operands contribute their data when they are Ready.
Result<tracert::ResultTypes> inferValueTypes(const OpCall &call, std::span<const Value> operands);

} // namespace tracec
