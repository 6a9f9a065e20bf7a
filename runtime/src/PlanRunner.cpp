#include "PlanRunner.h"

#include "tracert/ThreadPool.h"

namespace tracert {

Status PlanRunner::bind(Plan &plan, std::span<const TensorView> inputs) {
  if (plan.arenaBytes > arenaSize) {
    // Released first: the old arena is of no use while the new one is made.
    arena = BufferRef();
    arenaSize = 0;
    arena = BufferRef(Buffer::allocate(*core.allocator, plan.arenaBytes));
    if (!arena) {
      return Status::outOfMemory("no memory for " + std::to_string(plan.arenaBytes) +
                                 " bytes of intermediate values");
    }
    arenaSize = plan.arenaBytes;
  }
  void *arenaBase = arena ? arena->data() : emptyMemory();
  if (!plan.isArenaBound || plan.boundArena != arenaBase) {
    for (const PointerPatch &patch : plan.arenaPatches) {
      *patch.slot = static_cast<char *>(arenaBase) + patch.offset;
    }
    plan.boundArena = arenaBase;
    plan.isArenaBound = true;
  }
  bases.resize(inputs.size() + plan.outputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    bases[i] = inputs[i].data ? inputs[i].data : emptyMemory();
  }
  outputBuffers.resize(plan.outputs.size());
  for (size_t i = 0; i < plan.outputs.size(); ++i) {
    if (plan.outputs[i].isDynamic) {
      continue;
    }
    auto bytes = static_cast<size_t>(plan.outputs[i].bytes);
    outputBuffers[i] = BufferRef(Buffer::allocate(*core.allocator, bytes));
    if (!outputBuffers[i]) {
      return Status::outOfMemory("no memory for output '" + program.outputs[i].name + "' of " +
                                 std::to_string(bytes) + " bytes");
    }
    bases[inputs.size() + i] = outputBuffers[i]->data();
  }
  for (const PointerPatch &patch : plan.callPatches) {
    *patch.slot = static_cast<char *>(bases[patch.baseIndex]) + patch.offset;
  }
  return {};
}

void PlanRunner::limitArena(size_t bytes) {
  if (arenaSize > bytes) {
    arena = BufferRef();
    arenaSize = 0;
  }
}

void PlanRunner::reset(Plan &plan) {
  for (const auto &[id, type] : plan.unplanned) {
    PlanValue &value = plan.values[id];
    value.buffer = BufferRef();
    value.isReady = false;
    if (!value.isTypeKnown) {
      value.type = type;
      value.sizeValue.reset();
    }
  }
  plan.pendingChecks.clear();
}

Status PlanRunner::runSteps(Plan &plan, std::span<const TensorView> inputs, OpIndex &failedOp) {
  TRACERT_TRY(bind(plan, inputs));
  for (Step &step : plan.steps) {
    TRACERT_TRY(runStep(plan, step, failedOp));
    TRACERT_TRY(core.checkControl());
  }
  return recheckPending(plan, failedOp);
}

PlanRunner::PlanRunner(const ExecutorCore &core)
    : core(core), program(*core.program), isOutput(program.values.size(), false) {
  for (const OutputDef &output : program.outputs) {
    isOutput[output.value] = true;
  }
}

Status PlanRunner::run(Plan &plan, std::span<const TensorView> inputs,
                       std::vector<OwnedTensor> &outputs, OpIndex &failedOp) {
  Status status = runSteps(plan, inputs, failedOp);
  if (status.ok()) {
    status = collectOutputs(plan, outputs);
  }
  // Now, not before the next run: a plan that waits must not hold what this run computed.
  reset(plan);
  collected.clear();
  for (BufferRef &buffer : outputBuffers) {
    buffer = BufferRef();
  }
  return status;
}

Status PlanRunner::runOpByOp(Plan &plan, std::span<const TensorView> inputs, OpIndex &failedOp) {
  return runSteps(plan, inputs, failedOp);
}

Status PlanRunner::runStep(Plan &plan, Step &step, OpIndex &failedOp) {
  replacedCount += step.isReplacedLaunch;
  switch (step.kind) {
  case StepKind::Kernel: {
    Status status = runLibraryKernel(step.op, step.operands, step.results);
    if (!status.ok()) {
      failedOp = step.op;
    }
    return status;
  }
  case StepKind::Copy:
    return core.copy(step.operands[0], step.results[0]);
  case StepKind::Launch:
    return runLaunch(step);
  case StepKind::DynamicLaunch:
    TRACERT_TRY(runDynamicLaunch(plan, step, failedOp));
    break;
  case StepKind::DynamicOp:
  case StepKind::DynamicCheck: {
    Status status =
        step.kind == StepKind::DynamicOp ? runOp(plan, step.op) : checkOp(plan, step.op);
    if (!status.ok()) {
      failedOp = step.op;
      return status;
    }
    break;
  }
  }
  for (ValueId value : step.release) {
    plan.values[value].buffer = BufferRef();
  }
  return {};
}

Status PlanRunner::runLibraryKernel(OpIndex op, std::span<const TensorView> operands,
                                    std::span<const TensorView> results) {
  ++libraryCount;
  if (core.copies) [[unlikely]] {
    return core.copies->runKernel(core.context(op), program.ops[op].call, operands, results);
  }
  return runKernel(core.context(op), program.ops[op].call, operands, results);
}

Status PlanRunner::runLaunch(Step &step) {
  for (size_t i = 0; i < step.operands.size(); ++i) {
    TRACERT_TRY(core.copy(step.operands[i], step.results[i]));
  }
  LaunchOutcome outcome;
  TRACERT_TRY(launch(*step.launch, step.partials, outcome));
  if (!outcome.isIndexError) [[likely]] {
    return {};
  }
  TRACERT_TRY(core.checkControl());
  return badIndexIn(*step.launch->kernel);
}

Status PlanRunner::launch(const BoundLaunch &bound, void *partials, LaunchOutcome &outcome) {
  if (!launcher) {
    int threads = core.pool ? core.pool->threadCount() : 1;
    TRACERT_ASSIGN(launcher, core.device->makeLauncher(*core.allocator, threads));
  }
  ++launchCount;
  return launcher->run(bound, partials, core.pool, outcome);
}

Status badIndexIn(const KernelDef &kernel) {
  return Status::internal("kernel '" + kernel.name +
                          "' reports an index out of range that its ops do not find");
}

Result<OwnedTensor> PlanRunner::copyOut(const TensorView &view) {
  OwnedTensor copy;
  TensorType type = view.type();
  copy.buffer = BufferRef(Buffer::allocate(*core.allocator, static_cast<size_t>(type.byteCount())));
  if (!copy.buffer) {
    return Status::outOfMemory("no memory for an output of type " + type.str());
  }
  copy.view = TensorView::contiguous(copy.buffer->data(), type);
  TRACERT_TRY(core.copy(view, copy.view));
  return copy;
}

Status PlanRunner::collectOutputs(Plan &plan, std::vector<OwnedTensor> &outputs) {
  // A buffer sized by a bound is not kept for much less.
  constexpr size_t kWasteAllowed = 64 * 1024;
  // The caller's stay until all are there.
  collected.clear();
  collected.resize(plan.outputs.size());
  for (size_t i = 0; i < plan.outputs.size(); ++i) {
    if (!plan.outputs[i].isDynamic) {
      collected[i].view = TensorView::contiguous(outputBuffers[i]->data(), plan.outputs[i].type);
      collected[i].buffer = std::move(outputBuffers[i]);
      continue;
    }
    PlanValue &value = plan.values[program.outputs[i].value];
    if (!value.hasMemory()) {
      return Status::internal("output '" + program.outputs[i].name + "' was not computed");
    }
    Buffer *buffer = value.buffer.get();
    bool isOwn = buffer && buffer->isUnique() && !buffer->isForeign() &&
                 value.view.data == buffer->data() && value.view.isContiguous() &&
                 buffer->size() - static_cast<size_t>(value.type.byteCount()) <= kWasteAllowed;
    if (isOwn) {
      // The view stays, so a second output of the same value copies from here.
      collected[i].view = value.view;
      collected[i].buffer = std::move(value.buffer);
      continue;
    }
    TRACERT_ASSIGN(collected[i], copyOut(value.view));
  }
  TRACERT_TRY(core.checkControl());
  handOver(collected);
  outputs.swap(collected);
  collected.clear();
  return {};
}

void PlanRunner::handOver(std::vector<OwnedTensor> &tensors) {
  for (OwnedTensor &tensor : tensors) {
    if (core.budget && tensor.buffer) {
      core.budget->giveAway(*tensor.buffer.get());
    }
  }
}

Status PlanRunner::copyValues(Plan &plan, std::vector<OwnedTensor> &values) {
  values.clear();
  values.resize(plan.values.size());
  for (size_t i = 0; i < plan.values.size(); ++i) {
    if (plan.values[i].hasMemory()) {
      TRACERT_ASSIGN(values[i], copyOut(plan.values[i].view));
    }
  }
  TRACERT_TRY(core.checkControl());
  handOver(values);
  return {};
}

} // namespace tracert
