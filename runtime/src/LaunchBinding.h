/// Turns the accesses of a compiled kernel into the pointers and strides of its frame.
///
///   TRACERT_ASSIGN(BindOutcome outcome, bindLaunch(program, section, instruction, values, bound));
///
/// Binding reads the values' views, and bounds that are operands where it is told how (while
/// planning there is no memory yet, so those launches are bound while running). It says NotFitting
/// when the strides or shapes of this call are not what the code was compiled for; the launch is
/// then replaced by its ops.
#pragma once

#include "tracert/Device.h"
#include "tracert/KernelAbi.h"

#include <functional>
#include <optional>
#include <span>

namespace tracert {

enum class ValueState : uint8_t { None, TypeOnly, Static, Dynamic };

/// A value of one plan, see Plan.h.
struct PlanValue {
  ValueState state = ValueState::None;
  TensorType type;
  bool isTypeKnown = false;
  /// The view shares the storage of another value.
  bool isAlias = false;
  /// A rank-0 integer whose value is known.
  std::optional<int64_t> sizeValue;
  /// Static: where it lives. Dynamic: a storage it may be a view of, or kNoIndex.
  uint32_t storage = kNoIndex;
  TensorView view;
  /// Owner of a Dynamic value's memory (empty when it is a view of a Static one).
  BufferRef buffer;
  /// Dynamic and TypeOnly: `view` is valid in the running call.
  bool isReady = false;

  bool hasMemory() const { return state == ValueState::Static || isReady; }
};

enum class BindOutcome : uint8_t { Bound, NotFitting };
/// How integers of rank 0 are read, wherever they lie.
using IntegerReader = std::function<Result<int64_t>(const TensorView &)>;

/// `read`: null while planning. Internal when a value that an access needs has no memory.
Result<BindOutcome> bindLaunch(const Program &program, const NativeSection &section,
                               const Instruction &instruction, std::span<const PlanValue> values,
                               const IntegerReader *read, BoundLaunch &bound);

/// The shape a kernel iterates over, before flattening: of its domain value, or what its set op
/// selects. Dims may be kUnknownDim.
Result<TensorType> domainType(const Program &program, const KernelDef &kernel,
                              std::span<const PlanValue> values, const IntegerReader *read);

/// The basic read with the items of a set_subtensor, to find the view that the set writes.
OpCall readCallOf(const OpCall &set);

} // namespace tracert
