#include "OpOrder.h"
#include "Plan.h"
#include "tracert/Element.h"

#include <algorithm>

namespace tracert {
namespace {

enum class OpMode : uint8_t { Run, CheckOnly };

class PlanBuilder {
public:
  PlanBuilder(const ExecutorCore &core, const PlanOptions &options, Plan &plan)
      : core(core), program(*core.program), options(options), plan(plan) {}

  OpIndex failedOp = kNoIndex;

  Status run(std::span<const TensorView> inputs) {
    plan.values.resize(program.values.size());
    for (size_t i = 0; i < plan.values.size(); ++i) {
      plan.values[i].type = {program.values[i].dtype, program.values[i].dims};
    }
    addInputs(inputs);
    addConstants();
    if (options.isOpByOp) {
      for (OpIndex op : recordedOrder(program)) {
        TRACERT_TRY(planDynamicOp(op, /*types=*/nullptr));
      }
    } else {
      for (const Instruction &instruction : core.schedule) {
        TRACERT_TRY(planInstruction(instruction));
      }
    }
    for (ValueId value = 0; value < plan.values.size(); ++value) {
      if (plan.values[value].state != ValueState::Static) {
        plan.unplanned.emplace_back(value, plan.values[value].type);
      }
    }
    return layOutPlan(core, options, plan);
  }

private:
  uint32_t addStorage(StorageKind kind, uint32_t index, void *base, int64_t bytes) {
    Storage storage;
    storage.kind = kind;
    storage.index = index;
    storage.base = base;
    storage.bytes = bytes;
    plan.storages.push_back(storage);
    return static_cast<uint32_t>(plan.storages.size() - 1);
  }

  void place(ValueId id, const TensorType &type, uint32_t storage, const TensorView &view,
             bool isAlias) {
    PlanValue &value = plan.values[id];
    value.state = ValueState::Static;
    value.type = type;
    value.isTypeKnown = true;
    value.isAlias = isAlias;
    value.storage = storage;
    value.view = view;
  }

  void addInputs(std::span<const TensorView> inputs) {
    for (uint32_t i = 0; i < program.inputs.size(); ++i) {
      TensorView view = inputs[i];
      view.data = fakeBase();
      uint32_t storage = addStorage(StorageKind::Input, i, nullptr, 0);
      place(program.inputs[i].value, inputs[i].type(), storage, view, /*isAlias=*/false);
    }
  }

  void addConstants() {
    for (size_t i = 0; i < program.constants.size(); ++i) {
      const ConstantDef &constant = program.constants[i];
      void *data = constant.data ? const_cast<void *>(constant.data) : emptyMemory();
      uint32_t storage = addStorage(StorageKind::Constant, 0, data, constant.type.byteCount());
      plan.storages[storage].placed = core.copies ? core.constants[i]->data() : data;
      place(constant.value, constant.type, storage,
            TensorView::contiguous(fakeBase(), constant.type), /*isAlias=*/false);
      if (constant.type.rank() == 0 && isInteger(constant.type.dtype)) {
        plan.values[constant.value].sizeValue = integerAt(data, constant.type.dtype);
      }
    }
  }

  Status planInstruction(const Instruction &instruction) {
    switch (instruction.kind) {
    case InstructionKind::RunOp:
      return planOp(instruction.index,
                    isOnlyCheck(instruction.index) ? OpMode::CheckOnly : OpMode::Run);
    case InstructionKind::CheckTypes:
      return planOp(instruction.index, OpMode::CheckOnly);
    case InstructionKind::Launch:
      return planLaunch(instruction);
    }
    return Status::unsupported("instruction kind " +
                               std::to_string(static_cast<int>(instruction.kind)) +
                               " is not known to this version");
  }

  /// An op that nothing reads and that data cannot break is there for its type rule.
  bool isOnlyCheck(OpIndex index) {
    if (isRead.empty()) {
      isRead.resize(program.values.size());
      for (const OpDef &op : program.ops) {
        for (ValueId operand : op.operands) {
          isRead[operand] = true;
        }
      }
      for (const OutputDef &output : program.outputs) {
        isRead[output.value] = true;
      }
    }
    const OpDef &op = program.ops[index];
    return !op.call.info().has(kTraitMayFail) &&
           std::none_of(op.results.begin(), op.results.end(),
                        [&](ValueId result) { return isRead[result]; });
  }

  std::vector<OperandInfo> operandInfos(const OpDef &op) const {
    std::vector<OperandInfo> infos;
    infos.reserve(op.operands.size());
    for (ValueId operand : op.operands) {
      const PlanValue &value = plan.values[operand];
      infos.push_back({value.type, value.sizeValue, inputStrides(plan, value)});
    }
    return infos;
  }

  Status planOp(OpIndex index, OpMode mode) {
    const OpDef &op = program.ops[index];
    failedOp = index;
    std::vector<OperandInfo> infos = operandInfos(op);
    Result<ResultTypes> types = inferTypes(op.call, infos);
    if (!types.ok()) {
      return types.status();
    }
    bool operandsKnown = true;
    bool operandsStatic = true;
    bool operandsPlaced = true;
    for (ValueId operand : op.operands) {
      ValueState state = plan.values[operand].state;
      operandsPlaced =
          operandsPlaced && (state == ValueState::Static || state == ValueState::Dynamic);
      operandsKnown = operandsKnown && plan.values[operand].type.isFullyKnown();
      operandsStatic = operandsStatic && state == ValueState::Static;
    }
    bool resultsKnown = !isCounted(op);
    for (size_t i = 0; i < types->size(); ++i) {
      TRACERT_TRY(checkDeclared(op.results[i], (*types)[i]));
      resultsKnown = resultsKnown && (*types)[i].isFullyKnown();
    }
    if (operandsKnown && op.call.info().has(kTraitSizeOnly)) {
      return planSizeValue(op, (*types)[0], infos);
    }
    bool isPlanned = false;
    TRACERT_TRY(planScalarOp(index, *types, isPlanned));
    if (isPlanned) {
      return done();
    }
    if (op.call.info().has(kTraitView) && operandsKnown) {
      TRACERT_TRY(planView(op, (*types)[0], isPlanned));
      if (isPlanned) {
        return done();
      }
    }
    // Views inside a kernel are made too: its accesses bind them. One that the strides of this
    // call do not allow becomes a copy.
    bool makesView = op.call.info().has(kTraitView) && operandsPlaced;
    if (mode == OpMode::CheckOnly && !makesView) {
      return planCheck(index, *types, resultsKnown && operandsKnown);
    }
    if (!operandsStatic || !resultsKnown) {
      return planDynamicOp(index, &*types);
    }
    Step step;
    step.kind = StepKind::Kernel;
    step.op = index;
    step.reads = op.operands;
    step.writes = op.results;
    addResults(op, *types);
    plan.steps.push_back(std::move(step));
    return done();
  }

  Status done() {
    failedOp = kNoIndex;
    return {};
  }

  /// Known dims of the declaration are a promise that compiled code relies on.
  Status checkDeclared(ValueId id, const TensorType &type) const {
    const ValueDef &declared = program.values[id];
    bool isSame = declared.dtype == type.dtype && declared.dims.size() == type.rank();
    for (size_t axis = 0; isSame && axis < type.rank(); ++axis) {
      isSame = declared.dims[axis] == kUnknownDim || type.shape[axis] == kUnknownDim ||
               declared.dims[axis] == type.shape[axis];
    }
    if (isSame) {
      return {};
    }
    return Status::invalidArgument("result of type " + type.str() + " where the program declares " +
                                   TensorType{declared.dtype, declared.dims}.str());
  }

  uint32_t addScalarCell(const TensorType &type) {
    plan.scalars.emplace_back();
    void *cell = plan.scalars.back().bytes;
    uint32_t storage = addStorage(StorageKind::Scalar, 0, cell, type.byteCount());
    plan.storages[storage].placed = cell;
    return storage;
  }

  Status planSizeValue(const OpDef &op, const TensorType &type,
                       std::span<const OperandInfo> infos) {
    TRACERT_ASSIGN(int64_t size, inferSizeValue(op.call, infos));
    uint32_t storage = addScalarCell(type);
    std::memcpy(plan.storages[storage].base, &size, sizeof size);
    place(op.results[0], type, storage, TensorView::contiguous(fakeBase(), type), false);
    plan.values[op.results[0]].sizeValue = size;
    return done();
  }

  /// Ops on known rank-0 integers run now; their results are known sizes too.
  Status planScalarOp(OpIndex index, const ResultTypes &types, bool &isPlanned) {
    const OpDef &op = program.ops[index];
    const OpInfo &info = op.call.info();
    bool isScalar = info.isPointwise() && !op.operands.empty();
    for (ValueId operand : op.operands) {
      const PlanValue &value = plan.values[operand];
      isScalar = isScalar && value.sizeValue && value.type.rank() == 0;
    }
    for (const TensorType &type : types) {
      isScalar = isScalar && type.rank() == 0 && isInteger(type.dtype);
    }
    if (!isScalar) {
      return {};
    }
    std::vector<TensorView> operands;
    for (ValueId operand : op.operands) {
      const PlanValue &value = plan.values[operand];
      const Storage &storage = plan.storages[value.storage];
      int64_t offset = static_cast<char *>(value.view.data) - fakeBase();
      operands.push_back(
          TensorView::contiguous(static_cast<char *>(storage.base) + offset, value.type));
    }
    std::vector<TensorView> results;
    for (size_t i = 0; i < types.size(); ++i) {
      uint32_t storage = addScalarCell(types[i]);
      place(op.results[i], types[i], storage, TensorView::contiguous(fakeBase(), types[i]), false);
      results.push_back(TensorView::contiguous(plan.storages[storage].base, types[i]));
    }
    KernelContext context = core.context(index);
    context.pool = nullptr;
    context.allocator = &processAllocator();
    TRACERT_TRY(runKernel(context, op.call, operands, results));
    for (size_t i = 0; i < types.size(); ++i) {
      plan.values[op.results[i]].sizeValue = integerAt(results[i].data, results[i].dtype);
    }
    isPlanned = true;
    return {};
  }

  Status planView(const OpDef &op, const TensorType &type, bool &isPlanned) {
    const PlanValue &operand = plan.values[op.operands[0]];
    std::vector<int64_t> sizes;
    for (size_t i = 1; i < op.operands.size(); ++i) {
      if (!plan.values[op.operands[i]].sizeValue) {
        return {};
      }
      sizes.push_back(*plan.values[op.operands[i]].sizeValue);
    }
    // Positions are checked even when the operand lives inside a kernel.
    bool isStatic = operand.state == ValueState::Static;
    TensorView view = isStatic ? operand.view : TensorView::contiguous(fakeBase(), operand.type);
    TRACERT_ASSIGN(std::optional<TensorView> result, viewOf(op.call, view, sizes));
    if (result && isStatic) {
      uint32_t storage = operand.storage;
      place(op.results[0], type, storage, *result, /*isAlias=*/true);
      isPlanned = true;
    }
    return {};
  }

  void addResults(const OpDef &op, const ResultTypes &types) {
    for (size_t i = 0; i < types.size(); ++i) {
      addResult(op.results[i], types[i]);
    }
  }

  void addResult(ValueId id, const TensorType &type) {
    uint32_t storage = addStorage(StorageKind::Arena, 0, nullptr, type.byteCount());
    place(id, type, storage, TensorView::contiguous(fakeBase(), type), /*isAlias=*/false);
  }

  Status planCheck(OpIndex index, const ResultTypes &types, bool isKnown) {
    const OpDef &op = program.ops[index];
    for (size_t i = 0; i < types.size(); ++i) {
      PlanValue &value = plan.values[op.results[i]];
      value.state = ValueState::TypeOnly;
      value.type = types[i];
      value.isTypeKnown = types[i].isFullyKnown();
    }
    if (!isKnown) {
      Step step;
      step.kind = StepKind::DynamicCheck;
      step.op = index;
      step.reads = op.operands;
      plan.steps.push_back(std::move(step));
    }
    return done();
  }

  Status planDynamicOp(OpIndex index, const ResultTypes *types) {
    const OpDef &op = program.ops[index];
    Step step;
    step.kind = StepKind::DynamicOp;
    step.op = index;
    step.reads = op.operands;
    step.writes = op.results;
    bool isView = op.call.info().has(kTraitView);
    for (size_t i = 0; i < op.results.size(); ++i) {
      PlanValue &value = plan.values[op.results[i]];
      if (types && (*types)[i].isFullyKnown() && !isView) {
        addResult(op.results[i], (*types)[i]);
        continue;
      }
      value.state = ValueState::Dynamic;
      if (types) {
        value.type = (*types)[i];
      }
      value.isTypeKnown = value.type.isFullyKnown();
      // It may turn out to be a view of operand 0, which must then live as long.
      value.storage = isView ? plan.values[op.operands[0]].storage : kNoIndex;
    }
    plan.steps.push_back(std::move(step));
    return done();
  }

  bool isStored(const KernelAccess &access) const {
    return access.kind == AccessKind::Store || access.kind == AccessKind::CompactStore ||
           access.kind == AccessKind::ReduceStore || access.kind == AccessKind::SetStore;
  }
  ValueId storedValue(const KernelAccess &access) const {
    return access.kind == AccessKind::SetStore ? program.ops[access.op].results[0] : access.value;
  }

  Status planLaunch(const Instruction &instruction) {
    const KernelDef &kernel = core.section->kernels[instruction.index];
    std::span<const OpIndex> covered = core.coveredOps(instruction);
    std::vector<ValueId> reads = outsideOperands(covered);
    bool isStatic = true;
    for (ValueId value : reads) {
      isStatic = isStatic && plan.values[value].state == ValueState::Static;
    }
    for (const KernelAccess &access : kernel.accesses) {
      isStatic =
          isStatic &&
          plan.values[isStored(access) ? storedValue(access) : access.value].type.isFullyKnown();
    }
    TRACERT_ASSIGN(TensorType domain, domainType(program, kernel, plan.values, nullptr));
    isStatic = isStatic && domain.isFullyKnown();
    for (const KernelAccess &access : kernel.accesses) {
      isStatic = isStatic && hasKnownBounds(access);
    }
    for (OpIndex op : covered) {
      isStatic = isStatic && !isCounted(program.ops[op]);
    }
    if (!isStatic) {
      return planDynamicLaunch(instruction, std::move(reads));
    }
    for (const KernelAccess &access : kernel.accesses) {
      if (access.kind == AccessKind::SetStore &&
          plan.values[program.ops[access.op].operands[0]].state != ValueState::Static) {
        return replaceLaunch(covered);
      }
    }
    size_t storagesBefore = plan.storages.size();
    std::vector<std::pair<ValueId, PlanValue>> saved;
    for (const KernelAccess &access : kernel.accesses) {
      if (isStored(access)) {
        ValueId value = storedValue(access);
        saved.emplace_back(value, plan.values[value]);
        addResult(value, plan.values[value].type);
      }
    }
    auto bound = std::make_unique<BoundLaunch>();
    TRACERT_ASSIGN(BindOutcome outcome,
                   bindLaunch(program, *core.section, instruction, plan.values, nullptr, *bound));
    if (outcome == BindOutcome::NotFitting) {
      plan.storages.resize(storagesBefore);
      for (auto &[value, old] : saved) {
        plan.values[value] = old;
      }
      return replaceLaunch(covered);
    }
    TRACERT_ASSIGN(bound->entry, core.code->kernel(kernel));
    Step step;
    step.kind = StepKind::Launch;
    step.instruction = instruction;
    step.launch = std::move(bound);
    step.reads = std::move(reads);
    addStoredValues(kernel, step);
    plan.steps.push_back(std::move(step));
    return {};
  }

  /// Bounds of slices and positions that are operands are read while running.
  bool hasKnownBounds(const KernelAccess &access) const {
    if (access.op == kNoIndex) {
      return true;
    }
    for (const IndexItem &item : program.ops[access.op].call.attrs[0].asIndex().items) {
      if (item.beginIsOperand || item.endIsOperand) {
        return false;
      }
    }
    return true;
  }

  void addStoredValues(const KernelDef &kernel, Step &step) const {
    for (const KernelAccess &access : kernel.accesses) {
      if (isStored(access)) {
        step.writes.push_back(storedValue(access));
      }
    }
  }

  /// Values from outside that the covered ops read: what the kernel loads, and what its ops need
  /// when they run instead of it.
  std::vector<ValueId> outsideOperands(std::span<const OpIndex> covered) {
    // Marks of the current launch: made inside, or already listed.
    uint32_t mark = ++lastMark;
    marks.resize(plan.values.size(), 0);
    std::vector<ValueId> outside;
    for (OpIndex op : covered) {
      for (ValueId operand : program.ops[op].operands) {
        if (marks[operand] != mark) {
          marks[operand] = mark;
          outside.push_back(operand);
        }
      }
      for (ValueId result : program.ops[op].results) {
        marks[result] = mark;
      }
    }
    return outside;
  }

  Status replaceLaunch(std::span<const OpIndex> covered) {
    size_t firstStep = plan.steps.size();
    for (OpIndex op : covered) {
      TRACERT_TRY(planOp(op, OpMode::Run));
    }
    if (plan.steps.size() > firstStep) {
      plan.steps[firstStep].isReplacedLaunch = true;
    }
    return {};
  }

  Status planDynamicLaunch(const Instruction &instruction, std::vector<ValueId> reads) {
    const KernelDef &kernel = core.section->kernels[instruction.index];
    Step step;
    step.kind = StepKind::DynamicLaunch;
    step.instruction = instruction;
    step.launch = std::make_unique<BoundLaunch>();
    step.reads = std::move(reads);
    addStoredValues(kernel, step);
    for (ValueId id : step.writes) {
      PlanValue &value = plan.values[id];
      if (value.type.isFullyKnown()) {
        TensorType type = value.type;
        addResult(id, type);
      } else {
        value.state = ValueState::Dynamic;
        value.storage = kNoIndex;
      }
    }
    plan.steps.push_back(std::move(step));
    return {};
  }

  const ExecutorCore &core;
  const Program &program;
  const PlanOptions &options;
  Plan &plan;
  std::vector<uint32_t> marks;
  uint32_t lastMark = 0;
  /// By value: an op or an output reads it. Empty: not asked yet.
  std::vector<bool> isRead;
};

} // namespace

Result<std::unique_ptr<Plan>> buildPlan(const ExecutorCore &core,
                                        std::span<const TensorView> inputs,
                                        const PlanOptions &options, OpIndex &failedOp) {
  auto plan = std::make_unique<Plan>();
  for (const TensorView &input : inputs) {
    plan->key.insert(plan->key.end(), input.shape.begin(), input.shape.end());
    plan->key.insert(plan->key.end(), input.strides.begin(), input.strides.end());
  }
  plan->keepsAllValues = options.keepsAllValues;
  plan->isOpByOp = options.isOpByOp;
  PlanBuilder builder(core, options, *plan);
  Status status = builder.run(inputs);
  failedOp = builder.failedOp;
  if (!status.ok()) {
    return status;
  }
  return plan;
}

} // namespace tracert
