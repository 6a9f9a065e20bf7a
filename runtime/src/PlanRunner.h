/// Runs a bound plan.
///
///   TRACERT_TRY(runner.run(plan, inputs, outputs, failedOp));
///
/// `outputs` are filled only on success. Data errors come with the op they belong to in `failedOp`.
/// One runner per executor; not thread safe.
#pragma once

#include "Plan.h"

namespace tracert {

/// A launch only notes that an index is bad; the ops, run one by one, find the first and word the
/// error.
Status badIndexIn(const KernelDef &kernel);

class PlanRunner {
public:
  explicit PlanRunner(const ExecutorCore &core);

  Status run(Plan &plan, std::span<const TensorView> inputs, std::vector<OwnedTensor> &outputs,
             OpIndex &failedOp);
  /// The same without outputs, for a plan op by op ...
  Status runOpByOp(Plan &plan, std::span<const TensorView> inputs, OpIndex &failedOp);
  /// ... and copies of the values that it keeps.
  Status copyValues(Plan &plan, std::vector<OwnedTensor> &values);

  /// The counts of Executor::Stats that running adds to.
  void addCounts(Executor::Stats &stats) const {
    stats.launchesRun += launchCount;
    stats.launchesReplacedByOps += replacedCount;
    stats.libraryKernelsRun += libraryCount;
  }
  /// Gives an arena back that is larger than any plan still needs.
  void limitArena(size_t bytes);

private:
  Status runSteps(Plan &plan, std::span<const TensorView> inputs, OpIndex &failedOp);
  Status bind(Plan &plan, std::span<const TensorView> inputs);
  Status runStep(Plan &plan, Step &step, OpIndex &failedOp);
  Status runLibraryKernel(OpIndex op, std::span<const TensorView> operands,
                          std::span<const TensorView> results);
  Status runLaunch(Step &step);
  Status launch(const BoundLaunch &bound, void *partials, LaunchOutcome &outcome);
  Status collectOutputs(Plan &plan, std::vector<OwnedTensor> &outputs);
  /// The tensors are the caller's: they count no longer.
  void handOver(std::vector<OwnedTensor> &tensors);
  void reset(Plan &plan);

  // Dynamic steps (PlanDynamic.cpp).
  Status runOp(Plan &plan, OpIndex op);
  Status checkOp(Plan &plan, OpIndex op);
  Status runDynamicLaunch(Plan &plan, Step &step, OpIndex &failedOp);
  Status runCoveredOps(Plan &plan, const Instruction &launch, OpIndex &failedOp);
  void releaseInnerValues(Plan &plan, const Instruction &launch);
  Result<ResultTypes> currentTypes(Plan &plan, OpIndex op);
  Status giveMemory(Plan &plan, ValueId value, const TensorType &type);
  Status prepareStores(Plan &plan, const KernelDef &kernel);
  Status takeCount(Plan &plan, const Instruction &launch, int64_t count, OpIndex &failedOp);
  Status recheckPending(Plan &plan, OpIndex &failedOp);
  bool tryInPlace(Plan &plan, const OpDef &op);

  Result<OwnedTensor> copyOut(const TensorView &view);

  const ExecutorCore &core;
  const Program &program;
  const IntegerReader readInteger = [this](const TensorView &view) { return core.integer(view); };
  /// Made for the first launch.
  std::unique_ptr<Launcher> launcher;
  BufferRef arena;
  size_t arenaSize = 0;
  /// Per value.
  std::vector<bool> isOutput;
  std::vector<BufferRef> outputBuffers;
  std::vector<OwnedTensor> collected;
  std::vector<void *> bases;
  uint64_t launchCount = 0;
  uint64_t replacedCount = 0;
  uint64_t libraryCount = 0;
};

} // namespace tracert
