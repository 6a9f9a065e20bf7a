/// Plan: everything about a call that depends only on the program and on the inputs' shapes and
/// strides, so that a call with a known plan only patches pointers and runs.
///
///   TRACERT_ASSIGN(std::unique_ptr<Plan> plan, buildPlan(core, inputs, options, failedOp));
///
/// A value is Static when its type and its place (a storage and an offset) are known, Dynamic when
/// a size or a place is known only while running, TypeOnly when it lives inside a kernel. Views of
/// Static values hold `fakeBase() + offset` until the plan is bound; see PlanRunner.h.
#pragma once

#include "BudgetAllocator.h"
#include "LaunchBinding.h"
#include "tracert/Element.h"
#include "tracert/Executor.h"
#include "tracert/HostCopies.h"
#include "tracert/RunControl.h"

#include <array>
#include <deque>

namespace tracert {

/// A stand-in for memory that is chosen later: far from null, and no arithmetic on it wraps.
inline char *fakeBase() { return reinterpret_cast<char *>(uintptr_t(1) << 45); }
inline int64_t offsetOf(const void *fakePointer) {
  return static_cast<const char *>(fakePointer) - fakeBase();
}

/// Where empty tensors that come without memory point: kernels may add offsets to it.
inline void *emptyMemory() {
  alignas(64) static constinit char memory[64] = {};
  return memory;
}

/// A count decides about the result: of a mask, not of an advanced read with arrays only. The type
/// may be known all the same, but the rule is checked again with the count.
bool isCounted(const OpDef &op);

/// What all plans of an executor share.
struct ExecutorCore {
  std::shared_ptr<const Program> program;
  /// Null: the portable section.
  const NativeSection *section = nullptr;
  /// Where the section runs.
  Device *device = nullptr;
  DeviceUse use;
  // Budgets come before what allocates from them, and so go after it.
  /// Of `copies`; the budget of the host's memory when there is a limit.
  std::shared_ptr<BudgetAllocator> hostBudget;
  /// What `allocator` is when memory has a limit.
  std::shared_ptr<BudgetAllocator> budget;
  /// Null on the host, whose memory is read and written where it lies.
  std::unique_ptr<HostCopies> copies;
  /// The program's constants on the device, made by the first run.
  std::vector<BufferRef> constants;
  /// Null without a section.
  std::shared_ptr<const DeviceCode> code;
  ThreadPool *pool = nullptr;
  Allocator *allocator = nullptr;
  /// Level of the library kernels.
  Target target = kPortable;
  /// The chosen section's schedule; for the portable one, RunOp of each op in order.
  std::vector<Instruction> schedule;

  /// On a device HostCopies puts its own allocator in.
  KernelContext context(OpIndex op) const {
    return {pool, target, allocator, program->ops[op].indexMode};
  }
  /// To contiguous memory.
  Status copy(const TensorView &from, const TensorView &to) const {
    if (copies) [[unlikely]] {
      return copies->copy(from, to);
    }
    copyView({pool, target, allocator, IndexMode::Checked}, from, to);
    return {};
  }
  Result<int64_t> integer(const TensorView &view) const {
    return copies ? copies->integer(view) : integerAt(view.data, view.dtype);
  }
  /// Not Ok when the run is to end; results of the step before may be of no use then.
  Status checkControl() const {
    const RunControl *control = currentRunControl();
    return control && control->shouldStop() ? control->status() : Status();
  }
  std::span<const OpIndex> coveredOps(const Instruction &launch) const {
    return std::span(section->coveredOps).subspan(launch.firstCovered, launch.coveredCount);
  }
};

/// Checks the options, chooses the section and loads its code (ExecutorSetup.cpp).
Result<ExecutorCore> makeExecutorCore(std::shared_ptr<const Program> program,
                                      const ExecutorOptions &options);
/// InvalidArgument when the data lies on another device than the executor's.
Status checkInputPlace(const ExecutorCore &core, const InputDef &input, const void *data);

// On a device only.

/// Fills core.constants.
Status copyConstants(ExecutorCore &core);
/// Makes views of the host's memory views of copies, with the same strides, which rules ask about.
/// `kept`: per input, memory of its copy, used again by the next run.
Status copyInputs(const ExecutorCore &core, std::vector<TensorView> &inputs,
                  std::vector<BufferRef> &kept);

enum class StorageKind : uint8_t {
  Input,    // index: input
  Constant, // base
  Scalar,   // base: a rank-0 value computed while planning, on the host
  Arena,    // arenaOffset
  Output,   // index: output buffer of the call
};

struct Storage {
  StorageKind kind = StorageKind::Arena;
  uint32_t index = 0;
  void *base = nullptr;
  /// Constant and Scalar: where it lies on the executor's device, which may be the host.
  void *placed = nullptr;
  int64_t bytes = 0;
  int32_t firstStep = -1;
  /// Last step that may read any view of it.
  int32_t lastStep = -1;
  size_t arenaOffset = 0;
  /// In-place results share the storage of the value they replace.
  uint32_t mergedInto = kNoIndex;
};

enum class StepKind : uint8_t {
  Kernel,        // `op` with its library kernel on bound views
  Copy,          // operands[0] to results[0]
  Launch,        // a bound compiled kernel
  DynamicOp,     // types, then views or buffers, then the kernel
  DynamicCheck,  // types only
  DynamicLaunch, // types, buffers, binding, then the kernel or its ops
};

struct Step {
  StepKind kind = StepKind::Kernel;
  OpIndex op = kNoIndex;
  Instruction instruction;
  /// Launch: what is copied before it, from operands[i] to results[i] (old values of its sets).
  std::vector<TensorView> operands;
  std::vector<TensorView> results;
  std::unique_ptr<BoundLaunch> launch;
  /// Launch: memory of the block partials.
  void *partials = nullptr;
  std::vector<ValueId> reads;
  std::vector<ValueId> writes;
  /// The step stands for a launch whose assumptions do not hold for this call.
  bool isReplacedLaunch = false;
  /// Dynamic values that nothing reads after this step.
  std::vector<ValueId> release;
};

/// `*slot = base + offset` where base is the input, output or arena memory of the call.
struct PointerPatch {
  void **slot;
  uint32_t baseIndex;
  int64_t offset;
};

struct PlanOutput {
  /// The buffer is made, or taken over, when the value is there.
  bool isDynamic = false;
  /// Of a buffer made before the call runs.
  TensorType type;
  int64_t bytes = 0;
};

struct Plan {
  /// Shape and strides of each input, one after the other.
  std::vector<int64_t> key;
  std::vector<PlanValue> values;
  std::vector<Storage> storages;
  std::vector<Step> steps;
  std::vector<PlanOutput> outputs;
  size_t arenaBytes = 0;

  /// Base index: inputs first, then output buffers.
  std::vector<PointerPatch> callPatches;
  std::vector<PointerPatch> arenaPatches;
  void *boundArena = nullptr;
  bool isArenaBound = false;

  /// Memory of Scalar storages; each entry leaves room for vector slack.
  struct alignas(64) ScalarCell {
    unsigned char bytes[128];
  };
  std::deque<ScalarCell> scalars;
  /// Their copies on a device.
  BufferRef placedScalars;
  /// Values that are not Static, and their types as planned, to start each call from.
  std::vector<std::pair<ValueId, TensorType>> unplanned;
  std::vector<OpIndex> pendingChecks;
  bool keepsAllValues = false;
  /// In another order than the one in which sets were found to be in place: none is.
  bool isOpByOp = false;

  uint32_t rootOf(uint32_t storage) const {
    while (storages[storage].mergedInto != kNoIndex) {
      storage = storages[storage].mergedInto;
    }
    return storage;
  }
};

/// For OperandInfo::strides: those of the caller's memory when `value` is an input, else null.
const Dims *inputStrides(const Plan &plan, const PlanValue &value);

struct PlanOptions {
  /// Every op is a DynamicOp, in program order, whatever the section.
  bool isOpByOp = false;
  /// No value is released.
  bool keepsAllValues = false;
};

/// Type, index and size errors of ops are returned as the user sees them; `failedOp` is the op.
Result<std::unique_ptr<Plan>> buildPlan(const ExecutorCore &core,
                                        std::span<const TensorView> inputs,
                                        const PlanOptions &options, OpIndex &failedOp);

/// Liveness, in-place sets, output buffers, arena offsets, pointer patches (PlanLayout.cpp).
Status layOutPlan(const ExecutorCore &core, const PlanOptions &options, Plan &plan);

} // namespace tracert
