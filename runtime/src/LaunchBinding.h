/// Turns the accesses of a compiled kernel into the pointers and strides of its frame.
///
///   TRACERT_ASSIGN(BindOutcome outcome, bindLaunch(program, section, instruction, values, bound));
///
/// Binding reads the values' views, and with ReadsMemory::Yes also bounds that are operands (while
/// planning there is no memory yet, so those launches are bound while running). It says NotFitting
/// when the strides or shapes of this call are not what the code was compiled for; the launch is
/// then replaced by its ops.
#pragma once

#include "tracert/Allocator.h"
#include "tracert/KernelAbi.h"
#include "tracert/Program.h"

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

/// A reduction whose blocks the executor joins after the kernel.
struct PartialJoin {
  size_t access = 0;
  const ReductionInfo *reduction = nullptr;
  /// Of the reduction's operand.
  DType operand = DType::Float32;
  int64_t blockCount = 0;
  ValueId value = 0;
  TensorView result;
  /// In the launch's partials buffer.
  size_t byteOffset = 0;
};

struct BoundLaunch {
  const KernelDef *kernel = nullptr;
  KernelEntry entry = nullptr;
  /// kNoIndex: the pointer is into the partials buffer, at `pointerOffsets`.
  std::vector<ValueId> pointerSources;
  std::vector<void *> pointers;
  std::vector<int64_t> pointerOffsets;
  Dims domain;
  std::vector<int64_t> strides;
  std::vector<int64_t> gathers;
  std::vector<PartialJoin> joins;
  size_t partialBytes = 0;
  /// Range of begin and end.
  int64_t splitCount = 0;
  bool isWorthThreads = false;
  /// Any part of [0, splitCount) may be run by itself.
  bool canSplit = false;
  /// An estimate.
  double nanosecondsPerPart = 0;
};

enum class BindOutcome : uint8_t { Bound, NotFitting };
enum class ReadsMemory : bool { No, Yes };

/// Internal when a value that an access needs has no memory.
Result<BindOutcome> bindLaunch(const Program &program, const NativeSection &section,
                               const Instruction &instruction, std::span<const PlanValue> values,
                               ReadsMemory readsMemory, BoundLaunch &bound);

/// The shape a kernel iterates over, before flattening: of its domain value, or what its set op
/// selects. Dims may be kUnknownDim.
Result<TensorType> domainType(const Program &program, const KernelDef &kernel,
                              std::span<const PlanValue> values, ReadsMemory readsMemory);

/// The basic read with the items of a set_subtensor, to find the view that the set writes.
OpCall readCallOf(const OpCall &set);

} // namespace tracert
