#include "tracert/Executor.h"

#include "CallCheck.h"
#include "Guard.h"
#include "OpErrors.h"
#include "PlanRunner.h"
#include "tracert/CacheLimits.h"
#include "tracert/RecentList.h"
#include "tracert/scalar/FloatMode.h"

#include <algorithm>
#include <utility>

namespace tracert {
namespace {

/// What data and sizes of a call can break; no memory, say, is no error of an op.
bool isOfTheOps(StatusCode code) {
  switch (code) {
  case StatusCode::InvalidArgument:
  case StatusCode::InvalidType:
  case StatusCode::IndexOutOfRange:
  case StatusCode::Overflow:
  case StatusCode::AxisOutOfRange:
  case StatusCode::GuardFailed:
  case StatusCode::Internal:
    return true;
  default:
    return false;
  }
}

class PlanExecutor final : public Executor {
public:
  PlanExecutor(ExecutorCore made, uint64_t memoryLimit)
      : memoryLimit(memoryLimit), core(std::move(made)), shared(*core.program), runner(core),
        planBytes(estimatePlanBytes(core)) {
    startState();
  }

  Status compute(std::span<const TensorView> inputs, std::vector<OwnedTensor> &outputs) override {
    return guardedRun([&]() -> Status {
      TRACERT_TRY(takeInputs(inputs));
      Plan *plan = findPlan();
      if (!plan) {
        TRACERT_TRY(checkCallInputs(shared, taken));
      }
      if (core.copies) [[unlikely]] {
        TRACERT_TRY(copyInputs(core, taken, sentInputs));
      }
      Status status = plan ? Status() : makePlan(plan);
      if (status.ok()) {
        status = runner.run(*plan, taken, outputs, failed);
      }
      // Memory for new state now, so that nothing can fail later.
      return status.ok() ? reserveState(outputs) : firstError(status);
    });
  }

  /// New state is copied, so that what the caller does to its outputs does not reach it.
  void commit(std::span<const OwnedTensor> outputs) override {
    for (size_t i = 0; i < shared.outputs.size(); ++i) {
      uint32_t input = shared.outputs[i].stateInput;
      if (input == kNoIndex) {
        continue;
      }
      if (core.copies) {
        std::swap(states[input], nextStates[input]);
        continue;
      }
      if (nextStates[input].buffer) {
        states[input] = std::move(nextStates[input]);
        nextStates[input] = OwnedTensor();
      }
      std::memcpy(states[input].view.data, outputs[i].view.data,
                  static_cast<size_t>(outputs[i].view.type().byteCount()));
    }
    ++counters.runs;
  }

  OpIndex failedOp() const override { return failed; }

  Status runKeepingValues(std::span<const TensorView> inputs,
                          std::vector<OwnedTensor> &values) override {
    return guardedRun([&]() -> Status {
      TRACERT_TRY(takeInputs(inputs));
      TRACERT_TRY(checkCallInputs(shared, taken));
      if (core.copies) {
        TRACERT_TRY(copyInputs(core, taken, sentInputs));
      }
      std::unique_ptr<Plan> plan;
      TRACERT_TRY(runOpByOp({.isOpByOp = true, .keepsAllValues = true}, plan));
      return runner.copyValues(*plan, values);
    });
  }

  Stats stats() const override {
    Stats stats = counters;
    runner.addCounts(stats);
    if (core.copies) {
      HostCopies::Counts copies = core.copies->counts();
      stats.copiesIn = copies.in;
      stats.copiesOut = copies.out;
      stats.copiesWithin = copies.within;
    }
    stats.section = core.section ? core.section->target : kPortable;
    stats.arenaBytes = largestArena();
    return stats;
  }

  const Program &program() const override { return shared; }
  Allocator &allocator() override { return *core.allocator; }

private:
  /// What every run has around it: the numeric mode, the op and the limit in messages, no
  /// exception.
  template <class F> Status guardedRun(F &&body) {
    scalar::EnterNumericMode mode;
    failed = kNoIndex;
    if (core.budget) {
      core.budget->startRun();
      core.hostBudget->startRun();
    }
    return guardedCall([&]() -> Status {
      Status status = body();
      if (status.ok()) {
        return status;
      }
      bool isLimit = core.budget && (core.budget->hasRefused() || core.hostBudget->hasRefused());
      if (status.code() == StatusCode::OutOfMemory && isLimit) {
        status = Status(kResourceExhausted, "the run needs more than its limit of " +
                                                std::to_string(memoryLimit) +
                                                " bytes of memory: " + status.message());
      }
      return atOp(shared, failed, status);
    });
  }

  /// State starts as the file's constants, which are copied when a run first changes them.
  void startState() {
    states.resize(shared.inputs.size());
    nextStates.resize(shared.inputs.size());
    hasState.resize(shared.inputs.size(), false);
    for (size_t i = 0; i < shared.inputs.size(); ++i) {
      const InputDef &input = shared.inputs[i];
      if (input.isState && input.initialConstant != kNoIndex) {
        const ConstantDef &initial = shared.constants[input.initialConstant];
        void *data = initial.data ? const_cast<void *>(initial.data) : emptyMemory();
        states[i].view = TensorView::contiguous(data, initial.type);
        hasState[i] = true;
        ++stateCount;
      }
    }
  }

  /// The memory of a plan's own tables, by the largest they can be for most programs.
  static uint64_t estimatePlanBytes(const ExecutorCore &core) {
    uint64_t bytes = core.program->values.size() * (sizeof(PlanValue) + sizeof(Storage)) +
                     core.schedule.size() * sizeof(Step);
    for (const OpDef &op : core.program->ops) {
      bytes +=
          (op.operands.size() + op.results.size()) * (sizeof(TensorView) + sizeof(PointerPatch));
    }
    return bytes;
  }

  Status resizeState(OwnedTensor &state, const TensorType &type) {
    BufferRef buffer(Buffer::allocate(*core.allocator, static_cast<size_t>(type.byteCount())));
    if (!buffer) {
      return Status::outOfMemory("no memory for session state of type " + type.str());
    }
    state.view = TensorView::contiguous(buffer->data(), type);
    state.buffer = std::move(buffer);
    return {};
  }

  /// Fills `taken`: one view per input, state from the executor where the caller left it out.
  Status takeInputs(std::span<const TensorView> inputs) {
    bool isFull = inputs.size() == shared.inputs.size();
    if (!isFull && inputs.size() + stateCount != shared.inputs.size()) {
      return Status::invalidArgument("the program takes " +
                                     std::to_string(shared.inputs.size() - stateCount) +
                                     " inputs, got " + std::to_string(inputs.size()));
    }
    if (core.copies && core.constants.empty()) {
      TRACERT_TRY(constantsToDevice());
    }
    taken.resize(shared.inputs.size());
    size_t next = 0;
    for (size_t i = 0; i < taken.size(); ++i) {
      bool isLeftOut = hasState[i] && (!isFull || inputs[i].data == nullptr);
      if (isLeftOut) {
        taken[i] = states[i].view;
        next += isFull;
        continue;
      }
      taken[i] = inputs[next++];
      if (!isAligned(taken[i])) {
        return Status::invalidArgument("input '" + shared.inputs[i].name +
                                       "' is not aligned to the size of its elements");
      }
      if (hasDevices()) [[unlikely]] {
        TRACERT_TRY(checkInputPlace(core, shared.inputs[i], taken[i].data));
      }
    }
    return {};
  }

  /// Once; states that start as constants then start there.
  Status constantsToDevice() {
    TRACERT_TRY(copyConstants(core));
    for (size_t i = 0; i < shared.inputs.size(); ++i) {
      if (hasState[i]) {
        states[i].view.data = core.constants[shared.inputs[i].initialConstant]->data();
      }
    }
    return {};
  }

  bool matches(const Plan &plan) const {
    const int64_t *key = plan.key.data();
    const int64_t *end = key + plan.key.size();
    for (size_t i = 0; i < taken.size(); ++i) {
      const TensorView &view = taken[i];
      size_t rank = view.rank();
      const ValueDef &declared = shared.values[shared.inputs[i].value];
      if (view.dtype != declared.dtype || rank != declared.dims.size() ||
          static_cast<size_t>(end - key) < 2 * rank) {
        return false;
      }
      for (size_t axis = 0; axis < rank; ++axis) {
        if (key[axis] != view.shape[axis] || key[rank + axis] != view.strides[axis]) {
          return false;
        }
      }
      key += 2 * rank;
    }
    return key == end;
  }

  Plan *findPlan() {
    auto *found = plans.find([&](const std::unique_ptr<Plan> &plan) { return matches(*plan); });
    return found ? found->get() : nullptr;
  }

  Status runOpByOp(const PlanOptions &options, std::unique_ptr<Plan> &plan) {
    TRACERT_ASSIGN(plan, buildPlan(core, taken, options, failed));
    return runner.runOpByOp(*plan, taken, failed);
  }

  /// A schedule groups ops and checks some early, and inputs are never written: the ops one by one
  /// give the error that is first in program order, with every size known.
  Status firstError(const Status &status) {
    if (!isOfTheOps(status.code())) {
      return status;
    }
    OpIndex scheduled = std::exchange(failed, kNoIndex);
    std::unique_ptr<Plan> plan;
    Status first = runOpByOp({.isOpByOp = true}, plan);
    bool isFound = isOfTheOps(first.code()) && first.code() != StatusCode::Internal;
    failed = isFound ? failed : scheduled;
    return isFound ? first : status;
  }

  Status makePlan(Plan *&plan) {
    if (core.budget && !core.budget->take(planBytes)) {
      return Status::outOfMemory("no memory for a plan of " + std::to_string(planBytes) + " bytes");
    }
    Result<std::unique_ptr<Plan>> made = buildPlan(core, taken, {}, failed);
    if (!made.ok()) {
      givePlanBytes();
      return made.status();
    }
    ++counters.plans;
    if (plans.add(std::move(made).value())) {
      givePlanBytes();
      runner.limitArena(largestArena());
    }
    plan = plans.latest().get();
    return {};
  }

  size_t largestArena() const {
    size_t largest = 0;
    for (const auto &plan : plans) {
      largest = std::max(largest, plan->arenaBytes);
    }
    return largest;
  }

  void givePlanBytes() {
    if (core.budget) {
      core.budget->give(planBytes);
    }
  }

  /// Memory for the state that commit() takes over, where the old state's does not fit.
  Status reserveState(std::span<const OwnedTensor> outputs) {
    for (size_t i = 0; i < shared.outputs.size(); ++i) {
      uint32_t input = shared.outputs[i].stateInput;
      if (input == kNoIndex) {
        continue;
      }
      if (core.copies) {
        // All of it now: a copy may fail, commit() may not.
        OwnedTensor &state = nextStates[input];
        if (!state.buffer || !(state.view.type() == outputs[i].view.type())) {
          TRACERT_TRY(resizeState(state, outputs[i].view.type()));
        }
        TRACERT_TRY(core.copies->copy(outputs[i].view, state.view));
        continue;
      }
      nextStates[input] = OwnedTensor();
      const OwnedTensor &old = states[input];
      if (!old.buffer || !(old.view.type() == outputs[i].view.type())) {
        TRACERT_TRY(resizeState(nextStates[input], outputs[i].view.type()));
      }
    }
    return {};
  }

  const uint64_t memoryLimit;
  ExecutorCore core;
  const Program &shared;
  PlanRunner runner;
  std::vector<TensorView> taken;
  /// On a device, per input: memory of the copy, kept for the next run.
  std::vector<BufferRef> sentInputs;
  /// Per input; without a buffer the view is of the program's constant.
  std::vector<OwnedTensor> states;
  std::vector<OwnedTensor> nextStates;
  std::vector<bool> hasState;
  size_t stateCount = 0;
  RecentList<std::unique_ptr<Plan>> plans{kMaxPlansPerExecutor};
  /// Of each plan.
  const uint64_t planBytes;
  Stats counters;
  OpIndex failed = kNoIndex;
};

} // namespace

Result<std::unique_ptr<Executor>> Executor::create(std::shared_ptr<const Program> program,
                                                   const ExecutorOptions &options) {
  return guardedCall([&]() -> Result<std::unique_ptr<Executor>> {
    TRACERT_ASSIGN(ExecutorCore core, makeExecutorCore(std::move(program), options));
    return std::unique_ptr<Executor>(
        std::make_unique<PlanExecutor>(std::move(core), options.memoryLimit));
  });
}

} // namespace tracert
