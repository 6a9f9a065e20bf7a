#include "ArenaLayout.h"
#include "Plan.h"

#include <algorithm>

namespace tracert {
namespace {

class PlanLayout {
public:
  PlanLayout(const ExecutorCore &core, const PlanOptions &options, Plan &plan)
      : core(core), program(*core.program), options(options), plan(plan) {}

  Status run() {
    addPartials();
    findLiveness();
    for (int32_t s = 0; s < stepCount(); ++s) {
      shareInPlace(s);
    }
    TRACERT_TRY(placeOutputs());
    TRACERT_TRY(layOut());
    TRACERT_TRY(placeScalars());
    bindSteps();
    bindValues();
    return {};
  }

private:
  int32_t stepCount() const { return static_cast<int32_t>(plan.steps.size()); }
  /// A step number after every step: outputs are read then.
  static constexpr int32_t kEnd = INT32_MAX;

  Storage *rootStorage(ValueId value) {
    uint32_t storage = plan.values[value].storage;
    return storage == kNoIndex ? nullptr : &plan.storages[plan.rootOf(storage)];
  }

  void addPartials() {
    partialStorages.assign(plan.steps.size(), kNoIndex);
    for (int32_t s = 0; s < stepCount(); ++s) {
      Step &step = plan.steps[s];
      if (step.kind != StepKind::Launch || step.launch->partialBytes == 0) {
        continue;
      }
      Storage storage;
      storage.bytes = static_cast<int64_t>(step.launch->partialBytes);
      storage.firstStep = storage.lastStep = s;
      partialStorages[s] = static_cast<uint32_t>(plan.storages.size());
      plan.storages.push_back(storage);
    }
  }

  void findLiveness() {
    std::vector<int32_t> lastUse(plan.values.size(), -1);
    auto use = [&](ValueId value, int32_t s) {
      lastUse[value] = s;
      if (Storage *storage = rootStorage(value)) {
        storage->lastStep = std::max(storage->lastStep, s);
      }
    };
    for (int32_t s = 0; s < stepCount(); ++s) {
      for (ValueId value : plan.steps[s].reads) {
        use(value, s);
      }
      for (ValueId value : plan.steps[s].writes) {
        use(value, s);
        Storage *storage = rootStorage(value);
        if (storage && storage->firstStep < 0) {
          storage->firstStep = s;
        }
      }
    }
    for (const OutputDef &output : program.outputs) {
      use(output.value, kEnd);
    }
    if (options.keepsAllValues) {
      return;
    }
    for (ValueId value = 0; value < plan.values.size(); ++value) {
      bool isDynamic = plan.values[value].state == ValueState::Dynamic;
      if (isDynamic && lastUse[value] >= 0 && lastUse[value] != kEnd) {
        plan.steps[lastUse[value]].release.push_back(value);
      }
    }
  }

  /// The whole of a storage that only this program can see, and nothing reads after step `s`.
  bool canOverwrite(ValueId value, int32_t s) {
    const PlanValue &old = plan.values[value];
    if (old.state != ValueState::Static) {
      return false;
    }
    const Storage *storage = rootStorage(value);
    return storage->kind == StorageKind::Arena && storage->lastStep <= s &&
           old.view.isContiguous() && offsetOf(old.view.data) == 0 &&
           old.type.byteCount() == storage->bytes;
  }

  void shareStorage(ValueId old, ValueId result) {
    uint32_t root = plan.rootOf(plan.values[old].storage);
    uint32_t fresh = plan.rootOf(plan.values[result].storage);
    plan.storages[fresh].mergedInto = root;
    plan.storages[root].lastStep =
        std::max(plan.storages[root].lastStep, plan.storages[fresh].lastStep);
  }

  void shareInPlace(int32_t s) {
    Step &step = plan.steps[s];
    if (step.kind == StepKind::Kernel) {
      const OpDef &op = program.ops[step.op];
      if (op.call.info().has(kTraitSet) && op.inPlace && canOverwrite(op.operands[0], s)) {
        shareStorage(op.operands[0], op.results[0]);
      }
      return;
    }
    if (step.kind != StepKind::Launch) {
      return;
    }
    for (size_t i = 0; i < step.launch->kernel->accesses.size(); ++i) {
      const KernelAccess &access = step.launch->kernel->accesses[i];
      if (access.kind != AccessKind::SetStore) {
        continue;
      }
      const OpDef &op = program.ops[access.op];
      ValueId old = op.operands[0];
      if (op.inPlace && canOverwrite(old, s) && readsOnlyWhatItWrites(step, i, old)) {
        shareStorage(old, op.results[0]);
      } else {
        step.operands.push_back(plan.values[old].view);
        step.results.push_back(plan.values[op.results[0]].view);
        copiedStorages.push_back({s, plan.values[old].storage, plan.values[op.results[0]].storage});
      }
    }
  }

  /// A kernel may overwrite memory that it reads only at the positions it writes.
  bool readsOnlyWhatItWrites(const Step &step, size_t setIndex, ValueId old) {
    const BoundLaunch &launch = *step.launch;
    size_t rank = launch.domain.size();
    uint32_t root = plan.rootOf(plan.values[old].storage);
    auto isSet = [&](size_t i) { return i == setIndex; };
    int64_t setOffset = launch.pointerOffsets[setIndex];
    for (size_t i = 0; i < launch.kernel->accesses.size(); ++i) {
      ValueId source = launch.pointerSources[i];
      if (isSet(i) || source == kNoIndex || plan.values[source].storage == kNoIndex ||
          plan.rootOf(plan.values[source].storage) != root) {
        continue;
      }
      int64_t offset = offsetOf(plan.values[source].view.data) + launch.pointerOffsets[i];
      if (launch.kernel->accesses[i].kind != AccessKind::Load || offset != setOffset ||
          !std::equal(launch.strides.begin() + i * rank, launch.strides.begin() + (i + 1) * rank,
                      launch.strides.begin() + setIndex * rank)) {
        return false;
      }
    }
    return true;
  }

  Status placeOutputs() {
    for (uint32_t i = 0; i < program.outputs.size(); ++i) {
      ValueId id = program.outputs[i].value;
      PlanValue &value = plan.values[id];
      PlanOutput output;
      if (value.state == ValueState::Dynamic || options.isOpByOp) {
        output.isDynamic = true;
        plan.outputs.push_back(output);
        continue;
      }
      if (value.state != ValueState::Static) {
        return Status::internal("output '" + program.outputs[i].name +
                                "' is computed by no instruction of the section");
      }
      output.type = value.type;
      output.bytes = value.type.byteCount();
      plan.outputs.push_back(output);
      Storage *storage = rootStorage(id);
      bool isWhole = value.view.isContiguous() && offsetOf(value.view.data) == 0 &&
                     storage->bytes == output.bytes;
      if (storage->kind == StorageKind::Arena && isWhole) {
        storage->kind = StorageKind::Output;
        storage->index = i;
        continue;
      }
      addOutputCopy(i, value);
    }
    return {};
  }

  void addOutputCopy(uint32_t index, const PlanValue &value) {
    Storage target;
    target.kind = StorageKind::Output;
    target.index = index;
    target.bytes = value.type.byteCount();
    plan.storages.push_back(target);
    Step step;
    step.kind = StepKind::Copy;
    step.operands.push_back(value.view);
    step.results.push_back(TensorView::contiguous(fakeBase(), value.type));
    plan.steps.push_back(std::move(step));
    partialStorages.push_back(kNoIndex);
    copiedStorages.push_back(
        {stepCount() - 1, value.storage, static_cast<uint32_t>(plan.storages.size() - 1)});
  }

  Status layOut() {
    std::vector<ArenaRequest> requests;
    std::vector<uint32_t> owners;
    for (uint32_t i = 0; i < plan.storages.size(); ++i) {
      const Storage &storage = plan.storages[i];
      if (storage.kind == StorageKind::Arena && storage.mergedInto == kNoIndex &&
          storage.firstStep >= 0) {
        requests.push_back({storage.bytes, storage.firstStep, storage.lastStep, 0});
        owners.push_back(i);
      }
    }
    plan.arenaBytes = layOutArena(requests);
    if (plan.arenaBytes == SIZE_MAX) {
      return Status::outOfMemory("the program's buffers together exceed the address space");
    }
    for (size_t i = 0; i < owners.size(); ++i) {
      plan.storages[owners[i]].arenaOffset = requests[i].offset;
    }
    return {};
  }

  /// What was computed while planning, for a device that cannot read it where it is.
  Status placeScalars() {
    if (!core.copies || plan.scalars.empty()) {
      return {};
    }
    constexpr size_t kCell = sizeof(Plan::ScalarCell);
    std::vector<Plan::ScalarCell> cells(plan.scalars.begin(), plan.scalars.end());
    plan.placedScalars = BufferRef(Buffer::allocate(*core.allocator, cells.size() * kCell));
    if (!plan.placedScalars) {
      return Status::outOfMemory("no memory for the sizes of a plan");
    }
    TRACERT_TRY(core.copies->put(cells.data(), plan.placedScalars->data(), cells.size() * kCell));
    char *next = static_cast<char *>(plan.placedScalars->data());
    for (Storage &storage : plan.storages) {
      if (storage.kind == StorageKind::Scalar) {
        storage.placed = next;
        next += kCell;
      }
    }
    return {};
  }

  /// Sets the pointer now when the memory is already known, else when the plan is bound.
  void patch(void **slot, uint32_t storageId, int64_t offset) {
    const Storage &storage = plan.storages[plan.rootOf(storageId)];
    switch (storage.kind) {
    case StorageKind::Constant:
    case StorageKind::Scalar:
      *slot = static_cast<char *>(storage.placed) + offset;
      return;
    case StorageKind::Arena:
      plan.arenaPatches.push_back({slot, 0, static_cast<int64_t>(storage.arenaOffset) + offset});
      return;
    case StorageKind::Input:
      plan.callPatches.push_back({slot, storage.index, offset});
      return;
    case StorageKind::Output: {
      auto base = static_cast<uint32_t>(program.inputs.size()) + storage.index;
      plan.callPatches.push_back({slot, base, offset});
      return;
    }
    }
  }

  void bindSteps() {
    for (int32_t s = 0; s < stepCount(); ++s) {
      Step &step = plan.steps[s];
      if (step.kind == StepKind::Kernel) {
        bindKernel(step);
      } else if (step.kind == StepKind::Launch) {
        bindLaunchStep(step, partialStorages[s]);
      }
    }
    std::vector<size_t> nextCopy(plan.steps.size(), 0);
    for (const CopiedStorages &copy : copiedStorages) {
      Step &step = plan.steps[copy.step];
      size_t i = nextCopy[copy.step]++;
      patch(&step.operands[i].data, copy.from, offsetOf(step.operands[i].data));
      patch(&step.results[i].data, copy.to, offsetOf(step.results[i].data));
    }
  }

  void bindKernel(Step &step) {
    const OpDef &op = program.ops[step.op];
    step.operands.reserve(op.operands.size());
    for (ValueId value : op.operands) {
      step.operands.push_back(plan.values[value].view);
    }
    for (ValueId value : op.results) {
      step.results.push_back(plan.values[value].view);
    }
    for (size_t i = 0; i < op.operands.size(); ++i) {
      patch(&step.operands[i].data, plan.values[op.operands[i]].storage,
            offsetOf(step.operands[i].data));
    }
    for (size_t i = 0; i < op.results.size(); ++i) {
      patch(&step.results[i].data, plan.values[op.results[i]].storage,
            offsetOf(step.results[i].data));
    }
  }

  void bindLaunchStep(Step &step, uint32_t partialStorage) {
    BoundLaunch &launch = *step.launch;
    for (size_t i = 0; i < launch.pointers.size(); ++i) {
      ValueId source = launch.pointerSources[i];
      if (source == kNoIndex) {
        patch(&launch.pointers[i], partialStorage, launch.pointerOffsets[i]);
        continue;
      }
      const PlanValue &value = plan.values[source];
      patch(&launch.pointers[i], value.storage,
            offsetOf(value.view.data) + launch.pointerOffsets[i]);
    }
    for (PartialJoin &join : launch.joins) {
      patch(&join.result.data, plan.values[join.value].storage, offsetOf(join.result.data));
    }
    if (partialStorage != kNoIndex) {
      patch(&step.partials, partialStorage, 0);
    }
  }

  void bindValues() {
    for (PlanValue &value : plan.values) {
      if (value.state == ValueState::Static) {
        patch(&value.view.data, value.storage, offsetOf(value.view.data));
      }
    }
  }

  struct CopiedStorages {
    int32_t step;
    uint32_t from;
    uint32_t to;
  };

  const ExecutorCore &core;
  const Program &program;
  const PlanOptions &options;
  Plan &plan;
  std::vector<uint32_t> partialStorages;
  std::vector<CopiedStorages> copiedStorages;
};

} // namespace

Status layOutPlan(const ExecutorCore &core, const PlanOptions &options, Plan &plan) {
  return PlanLayout(core, options, plan).run();
}

} // namespace tracert
