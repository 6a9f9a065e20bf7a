#include "Eager/Transforms/CompiledRecord.h"

#include "tracec/Compiler.h"
#include "tracec/Dispatch.h"
#include "tracec/InterpreterLock.h"

#include <algorithm>

namespace tracec {

namespace {

constexpr size_t kMaxStridedInputs = 32;
/// InputStrides::Any for each input.
constexpr uint64_t kAllAny = 0xAAAAAAAAAAAAAAAA;

/// See InputClass::strides.
uint64_t stridesOf(std::span<const TensorView> inputs) {
  uint64_t strides = 0;
  for (size_t i = 0; i < std::min(inputs.size(), kMaxStridedInputs); ++i) {
    const TensorView &view = inputs[i];
    if (!view.isContiguous()) {
      bool isInner = view.strides.back() == static_cast<int64_t>(dtypeSize(view.dtype));
      strides |= static_cast<uint64_t>(isInner ? InputStrides::InnerContiguous : InputStrides::Any)
                 << 2 * i;
    }
  }
  return strides;
}

/// The part of the numbers that an executor counts.
TracedFunction::Stats runsOf(const tracert::Executor &executor) {
  tracert::Executor::Stats counted = executor.stats();
  TracedFunction::Stats stats;
  stats.replays = counted.runs;
  stats.launches = counted.launchesRun;
  stats.launchesReplaced = counted.launchesReplacedByOps;
  stats.libraryKernels = counted.libraryKernelsRun;
  stats.runsOnTarget[tracert::targetIndex(counted.section)] = counted.runs;
  return stats;
}

std::vector<TypeKey> keysOf(std::span<const TensorView> inputs) {
  std::vector<TypeKey> keys;
  for (const TensorView &input : inputs) {
    keys.push_back(TypeKey::of(input.dtype, input.shape));
  }
  return keys;
}

} // namespace

bool CompiledRecord::InputClass::fits(std::span<const TensorView> inputs) const {
  return std::equal(types.begin(), types.end(), inputs.begin(), inputs.end(),
                    [](const TypeKey &key, const TensorView &input) {
                      return key == TypeKey::of(input.dtype, input.shape);
                    });
}

Result<std::shared_ptr<tracert::Program>>
CompiledRecord::compile(const TraceSegment &segment, tracert::Target target,
                        std::span<const TensorView> inputs, uint64_t strides) const {
  TRACERT_ASSIGN(const CompilerApi *compiler, loadCompiler());
  std::vector<TensorType> inputTypes;
  for (const TensorView &input : inputs) {
    inputTypes.push_back(input.type());
  }
  TraceGraph graph = record.graph(options.name, segment.firstStep, segment.endStep, segment.inputs,
                                  segment.outputs, GuardSet::OnData, inputTypes);
  for (size_t i = 0; i < std::min(graph.inputs.size(), kMaxStridedInputs); ++i) {
    graph.vars[graph.inputs[i]].strides = static_cast<InputStrides>(strides >> 2 * i & 3);
  }
  CompileOptions compileOptions;
  if (target != tracert::kPortable) {
    compileOptions.targets = {target};
  }
  compileOptions.optLevel = options.optLevel;
  std::shared_ptr<tracert::Program> fresh;
  TRACERT_TRY(compiler->compile(graph, compileOptions, &fresh));
  return fresh;
}

std::shared_ptr<const tracert::Program>
CompiledRecord::knownProgram(size_t index, tracert::Target target,
                             std::span<const TensorView> inputs, uint64_t &strides) {
  SegmentState &state = states[index];
  auto isFor = [&](const Variant &variant) {
    return variant.target == target && variant.inputs.fits(inputs);
  };
  auto find = [&](uint64_t wanted) {
    const Variant *known = state.variants.find(
        [&](const Variant &variant) { return variant.inputs.strides == wanted && isFor(variant); });
    return known ? known->program : nullptr;
  };
  if (std::shared_ptr<const tracert::Program> known = find(strides)) {
    return known;
  }
  ptrdiff_t strideClasses = std::count_if(state.variants.begin(), state.variants.end(), isFor);
  if (strideClasses + 1 < static_cast<ptrdiff_t>(tracert::kMaxStrideClasses)) {
    return nullptr;
  }
  strides = kAllAny;
  return find(strides);
}

Result<std::shared_ptr<const tracert::Program>>
CompiledRecord::newProgram(size_t index, tracert::Target target, std::span<const TensorView> inputs,
                           uint64_t strides, Dropped &dropped) {
  std::lock_guard one(compiling);
  {
    ScopedLock lock(mutex);
    if (std::shared_ptr<const tracert::Program> known =
            knownProgram(index, target, inputs, strides)) {
      return known;
    }
  }
  TRACERT_ASSIGN(std::shared_ptr<const tracert::Program> fresh,
                 compile(record.segments[index], target, inputs, strides));
  ScopedLock lock(mutex);
  SegmentState &state = states[index];
  dropped.variant = state.variants.add({target, {keysOf(inputs), strides}, fresh});
  if (dropped.variant) {
    dropped.executors = state.idle.takeAll(
        [&](const IdleExecutor &idle) { return idle.runs(dropped.variant->program.get()); });
    for (const IdleExecutor &gone : dropped.executors) {
      goneRuns += runsOf(*gone.executor);
    }
  }
  return fresh;
}

Result<CompiledRecord::IdleExecutor>
CompiledRecord::takeExecutor(size_t index, std::span<const TensorView> inputs) {
  const EvalOptions &eval = evalOptions();
  tracert::SectionChoice section{static_cast<tracert::SectionChoice::Kind>(eval.sectionKind),
                                 eval.target};
  // The portable section runs in the program compiled for any level; code is made for one only.
  tracert::Target target =
      section.kind == tracert::SectionChoice::Native ? section.target : tracert::bestTarget();
  if (section.kind == tracert::SectionChoice::Best && target == tracert::kPortable) {
    section.kind = tracert::SectionChoice::Portable;
  }
  bool hasCode = section.kind != tracert::SectionChoice::Portable;
  uint64_t strides = hasCode ? stridesOf(inputs) : 0;
  std::shared_ptr<const tracert::Program> program;
  {
    ScopedLock lock(mutex);
    program = knownProgram(index, target, inputs, strides);
    std::optional<IdleExecutor> idle = states[index].idle.take([&](const IdleExecutor &candidate) {
      return candidate.section.kind == section.kind && candidate.section.target == section.target &&
             candidate.pool == eval.pool && candidate.runs(program.get());
    });
    if (idle) {
      return std::move(*idle);
    }
  }
  // What is dropped may run the user's code, so it goes last.
  Dropped dropped;
  WithoutInterpreter pause;
  if (!program) {
    TRACERT_ASSIGN(program, newProgram(index, target, inputs, strides, dropped));
  }
  tracert::ExecutorOptions executorOptions;
  executorOptions.section = section;
  executorOptions.pool = eval.pool.get();
  TRACERT_ASSIGN(std::unique_ptr<tracert::Executor> executor,
                 tracert::Executor::create(std::move(program), executorOptions));
  return IdleExecutor{section, eval.pool, std::move(executor)};
}

void CompiledRecord::giveBack(size_t index, IdleExecutor executor) {
  std::optional<IdleExecutor> dropped;
  ScopedLock lock(mutex);
  SegmentState &state = states[index];
  bool isCurrent =
      std::any_of(state.variants.begin(), state.variants.end(),
                  [&](const Variant &variant) { return executor.runs(variant.program.get()); });
  // Another thread may have replaced its program meanwhile.
  dropped = isCurrent ? state.idle.add(std::move(executor)) : std::move(executor);
  if (dropped) {
    goneRuns += runsOf(*dropped->executor);
  }
}

Status CompiledRecord::runSegment(size_t index, std::span<const TensorView> inputs,
                                  std::vector<tracert::OwnedTensor> &outputs) {
  TRACERT_ASSIGN(IdleExecutor taken, takeExecutor(index, inputs));
  Status status = taken.executor->run(inputs, outputs);
  giveBack(index, std::move(taken));
  return status;
}

TracedFunction::Stats CompiledRecord::stats() const {
  ScopedLock lock(mutex);
  TracedFunction::Stats stats = goneRuns;
  stats.ops = record.ops.size();
  stats.segments = record.segments.size();
  for (const SegmentState &state : states) {
    if (!state.variants.empty() && !state.variants.latest().program->sections.empty()) {
      stats.kernels += state.variants.latest().program->sections.front().kernels.size();
    }
    for (const IdleExecutor &idle : state.idle) {
      stats += runsOf(*idle.executor);
      stats.arenaBytes += idle.executor->stats().arenaBytes;
    }
  }
  return stats;
}

} // namespace tracec
