/// Decompositions: what a composite op (kTraitComposite) is made of. One definition serves eager
/// evaluation and the canonical stage of the compiler.
///
///   TRACERT_ASSIGN(OpEmitter::Handle result, decompose(call, operandHandles, emitter));
#pragma once

#include "tracert/OpRules.h"

#include <cstdint>
#include <optional>
#include <span>

namespace tracec {

/// Where ops that stand for another go: eager runs them, the compiler builds IR.
class OpEmitter {
public:
  using Handle = uint32_t;
  virtual ~OpEmitter() = default;
  virtual tracert::TensorType typeOf(Handle handle) const = 0;
  /// The size where the emitted ops may rely on it; empty: it is the result of an op.
  virtual tracert::Result<std::optional<int64_t>> fixedSize(Handle handle, size_t axis) {
    int64_t size = typeOf(handle).shape[axis];
    return size == tracert::kUnknownDim ? std::nullopt : std::optional(size);
  }
  /// Emits an op with one result.
  virtual tracert::Result<Handle> emit(const tracert::OpCall &call,
                                       std::span<const Handle> operands) = 0;
};

/// Operand types must already satisfy the op's type rule. Internal if the op has no decomposition.
tracert::Result<OpEmitter::Handle> decompose(const tracert::OpCall &call,
                                             std::span<const OpEmitter::Handle> operands,
                                             OpEmitter &emitter);

} // namespace tracec
