// The steps of a plan whose types or places are known only while it runs.
#include "PlanRunner.h"

#include <algorithm>

namespace tracert {
namespace {

bool isOperandKnown(const PlanValue &value) {
  return value.hasMemory() && value.type.isFullyKnown();
}

} // namespace

bool isCounted(const OpDef &op) {
  if (!op.call.info().has(kTraitDataDependentShape)) {
    return false;
  }
  if (op.call.attrs.empty() || op.call.attrs[0].kind() != AttrKind::Index) {
    return true;
  }
  const std::vector<IndexItem> &items = op.call.attrs[0].asIndex().items;
  return std::any_of(items.begin(), items.end(),
                     [](const IndexItem &item) { return item.kind == IndexItemKind::Mask; });
}

const Dims *inputStrides(const Plan &plan, const PlanValue &value) {
  bool isInput = value.state == ValueState::Static && !value.isAlias &&
                 plan.storages[value.storage].kind == StorageKind::Input;
  return isInput ? &value.view.strides : nullptr;
}

Result<ResultTypes> PlanRunner::currentTypes(Plan &plan, OpIndex index) {
  const OpDef &op = program.ops[index];
  const OpInfo &info = op.call.info();
  std::vector<OperandInfo> infos;
  infos.reserve(op.operands.size());
  bool allReady = true;
  for (size_t i = 0; i < op.operands.size(); ++i) {
    PlanValue &value = plan.values[op.operands[i]];
    allReady = allReady && isOperandKnown(value);
    bool isSize = info.operandCount >= 0 && i >= static_cast<size_t>(info.operandCount) &&
                  value.type.rank() == 0 && isInteger(value.type.dtype);
    OperandInfo operand{value.type, value.sizeValue, inputStrides(plan, value)};
    if (isSize && !operand.sizeValue && value.hasMemory()) {
      TRACERT_ASSIGN(operand.sizeValue, core.integer(value.view));
    }
    infos.push_back(std::move(operand));
  }
  if (!isCounted(op) || !allReady) {
    return inferTypes(op.call, infos);
  }
  std::vector<TensorView> views;
  for (ValueId operand : op.operands) {
    views.push_back(plan.values[operand].view);
  }
  // The type rule first: counting needs operands that obey it.
  TRACERT_ASSIGN(ResultTypes unknown, inferTypes(op.call, infos));
  TRACERT_ASSIGN(std::vector<int64_t> counts,
                 core.copies ? core.copies->readCounts(core.context(index), op.call, views)
                             : readCounts(core.context(index), op.call, views));
  return inferTypesWithCounts(op.call, infos, counts);
}

Status PlanRunner::giveMemory(Plan &plan, ValueId id, const TensorType &type) {
  PlanValue &value = plan.values[id];
  if (value.state == ValueState::Static) {
    if (value.type == type) {
      return {};
    }
    return Status::internal("value %" + std::to_string(id) + " was planned as " + value.type.str() +
                            " and turned out to be " + type.str());
  }
  value.type = type;
  value.buffer =
      BufferRef(Buffer::allocate(*core.allocator, static_cast<size_t>(type.byteCount())));
  if (!value.buffer) {
    return Status::outOfMemory("no memory for a value of type " + type.str());
  }
  value.view = TensorView::contiguous(value.buffer->data(), type);
  value.isReady = true;
  return {};
}

bool PlanRunner::tryInPlace(Plan &plan, const OpDef &op) {
  PlanValue &old = plan.values[op.operands[0]];
  PlanValue &result = plan.values[op.results[0]];
  bool canShare = op.inPlace && !plan.isOpByOp && old.state == ValueState::Dynamic && old.buffer &&
                  result.state == ValueState::Dynamic && old.buffer->isUnique() &&
                  !old.buffer->isForeign() && old.view.data == old.buffer->data() &&
                  old.view.isContiguous();
  // Outputs are read after every step.
  if (!canShare || isOutput[op.operands[0]]) {
    return false;
  }
  result.type = old.type;
  result.view = old.view;
  result.buffer = old.buffer;
  result.isReady = true;
  return true;
}

Status PlanRunner::runOp(Plan &plan, OpIndex index) {
  const OpDef &op = program.ops[index];
  const OpInfo &info = op.call.info();
  PlanValue &first = plan.values[op.results[0]];
  if (first.state == ValueState::Static && first.isAlias) {
    return {};
  }
  TRACERT_ASSIGN(ResultTypes types, currentTypes(plan, index));
  if (info.has(kTraitSizeOnly)) {
    std::vector<OperandInfo> infos;
    for (ValueId operand : op.operands) {
      const PlanValue &value = plan.values[operand];
      infos.push_back({value.type, std::nullopt, inputStrides(plan, value)});
    }
    TRACERT_ASSIGN(int64_t size, inferSizeValue(op.call, infos));
    TRACERT_TRY(giveMemory(plan, op.results[0], types[0]));
    if (core.copies) {
      return core.copies->put(&size, first.view.data, sizeof size);
    }
    std::memcpy(first.view.data, &size, sizeof size);
    return {};
  }
  std::vector<TensorView> operands;
  for (ValueId operand : op.operands) {
    if (!plan.values[operand].hasMemory()) {
      return Status::internal("operand %" + std::to_string(operand) +
                              " is computed by no instruction of the section");
    }
    operands.push_back(plan.values[operand].view);
  }
  if (info.has(kTraitView) && first.state != ValueState::Static) {
    std::vector<int64_t> sizes;
    for (size_t i = 1; i < op.operands.size(); ++i) {
      sizes.emplace_back();
      TRACERT_ASSIGN(sizes.back(), core.integer(operands[i]));
    }
    TRACERT_ASSIGN(std::optional<TensorView> view, viewOf(op.call, operands[0], sizes));
    if (view) {
      first.type = view->type();
      first.buffer = plan.values[op.operands[0]].buffer;
      first.view = *view;
      first.isReady = true;
      return {};
    }
  }
  for (const TensorType &type : types) {
    if (!type.isFullyKnown()) {
      return Status::internal("the size of a result is still unknown");
    }
  }
  bool isInPlace = info.has(kTraitSet) && tryInPlace(plan, op);
  std::vector<TensorView> results;
  for (size_t i = 0; i < types.size(); ++i) {
    if (!isInPlace) {
      TRACERT_TRY(giveMemory(plan, op.results[i], types[i]));
    }
    results.push_back(plan.values[op.results[i]].view);
  }
  return runLibraryKernel(index, operands, results);
}

Status PlanRunner::checkOp(Plan &plan, OpIndex index) {
  const OpDef &op = program.ops[index];
  TRACERT_ASSIGN(ResultTypes types, currentTypes(plan, index));
  bool isKnown = true;
  for (size_t i = 0; i < types.size(); ++i) {
    PlanValue &value = plan.values[op.results[i]];
    if (value.state == ValueState::Static && !(value.type == types[i])) {
      return Status::internal("value %" + std::to_string(op.results[i]) + " was planned as " +
                              value.type.str() + " and turned out to be " + types[i].str());
    }
    if (value.state != ValueState::Static) {
      value.type = types[i];
    }
    isKnown = isKnown && types[i].isFullyKnown();
  }
  bool operandsKnown = true;
  for (ValueId operand : op.operands) {
    operandsKnown = operandsKnown && plan.values[operand].type.isFullyKnown();
  }
  // A count that only the kernel finds: the rule runs again when it is there.
  if (!isKnown || !operandsKnown) {
    plan.pendingChecks.push_back(index);
  }
  return {};
}

Status PlanRunner::prepareStores(Plan &plan, const KernelDef &kernel) {
  for (const KernelAccess &access : kernel.accesses) {
    if (access.kind == AccessKind::SetStore) {
      const OpDef &op = program.ops[access.op];
      const PlanValue &old = plan.values[op.operands[0]];
      if (!old.hasMemory()) {
        return Status::internal("the old value of a set is computed by no instruction");
      }
      TRACERT_TRY(giveMemory(plan, op.results[0], old.view.type()));
      TRACERT_TRY(core.copy(old.view, plan.values[op.results[0]].view));
      continue;
    }
    bool isStore = access.kind == AccessKind::Store || access.kind == AccessKind::ReduceStore ||
                   access.kind == AccessKind::CompactStore;
    if (!isStore) {
      continue;
    }
    TensorType type = plan.values[access.value].type;
    if (!type.isFullyKnown() && access.kind == AccessKind::CompactStore) {
      // The mask exists only inside the kernel: room for every element, cut to size afterwards.
      TRACERT_ASSIGN(TensorType domain, domainType(program, kernel, plan.values, &readInteger));
      type.shape.assign(1, domain.elementCount());
    }
    if (!type.isFullyKnown()) {
      return Status::internal("kernel '" + kernel.name + "' stores a value of unknown size");
    }
    TRACERT_TRY(giveMemory(plan, access.value, type));
  }
  return {};
}

Status PlanRunner::runCoveredOps(Plan &plan, const Instruction &launch, OpIndex &failedOp) {
  for (OpIndex op : core.coveredOps(launch)) {
    if (Status status = runOp(plan, op); !status.ok()) {
      failedOp = op;
      return status;
    }
    TRACERT_TRY(core.checkControl());
  }
  return {};
}

void PlanRunner::releaseInnerValues(Plan &plan, const Instruction &launch) {
  for (OpIndex op : core.coveredOps(launch)) {
    for (ValueId id : program.ops[op].results) {
      PlanValue &value = plan.values[id];
      if (value.state == ValueState::TypeOnly) {
        value.buffer = BufferRef();
        value.isReady = false;
      }
    }
  }
}

Status PlanRunner::recheckPending(Plan &plan, OpIndex &failedOp) {
  std::vector<OpIndex> pending = std::move(plan.pendingChecks);
  plan.pendingChecks.clear();
  for (OpIndex op : pending) {
    bool hasCount =
        isCounted(program.ops[op]) && plan.values[program.ops[op].results[0]].type.isFullyKnown();
    if (hasCount) {
      continue;
    }
    if (Status status = checkOp(plan, op); !status.ok()) {
      failedOp = op;
      return status;
    }
  }
  return {};
}

Status PlanRunner::takeCount(Plan &plan, const Instruction &launch, int64_t count,
                             OpIndex &failedOp) {
  // One kernel has one mask, so the count is that of each of its selecting ops.
  for (OpIndex index : core.coveredOps(launch)) {
    const OpDef &op = program.ops[index];
    if (!isCounted(op)) {
      continue;
    }
    std::vector<OperandInfo> infos;
    for (ValueId operand : op.operands) {
      infos.push_back({plan.values[operand].type, std::nullopt});
    }
    Result<ResultTypes> types = inferTypesWithCounts(op.call, infos, std::span(&count, 1));
    if (!types.ok()) {
      failedOp = index;
      return types.status();
    }
    for (size_t i = 0; i < types->size(); ++i) {
      plan.values[op.results[i]].type = (*types)[i];
    }
  }
  TRACERT_TRY(recheckPending(plan, failedOp));
  const KernelDef &kernel = core.section->kernels[launch.index];
  for (const KernelAccess &access : kernel.accesses) {
    PlanValue &value = plan.values[access.value];
    if (access.kind == AccessKind::CompactStore && value.state == ValueState::Dynamic) {
      if (!value.type.isFullyKnown()) {
        return Status::internal("kernel '" + kernel.name + "' leaves the size of value %" +
                                std::to_string(access.value) + " unknown");
      }
      value.view = TensorView::contiguous(value.view.data, value.type);
    }
  }
  return {};
}

Status PlanRunner::runDynamicLaunch(Plan &plan, Step &step, OpIndex &failedOp) {
  const Instruction &instruction = step.instruction;
  const KernelDef &kernel = core.section->kernels[instruction.index];
  // CompactStore at its bound has no count yet; remember which values that concerns.
  std::vector<std::pair<ValueId, TensorType>> countedTypes;
  for (const KernelAccess &access : kernel.accesses) {
    if (access.kind == AccessKind::CompactStore) {
      countedTypes.emplace_back(access.value, plan.values[access.value].type);
    }
  }
  TRACERT_TRY(prepareStores(plan, kernel));
  TRACERT_ASSIGN(BindOutcome outcome, bindLaunch(program, *core.section, instruction, plan.values,
                                                 &readInteger, *step.launch));
  for (const auto &[value, type] : countedTypes) {
    plan.values[value].type = type;
  }
  if (outcome == BindOutcome::NotFitting) {
    ++replacedCount;
    for (ValueId value : step.writes) {
      PlanValue &written = plan.values[value];
      if (written.state != ValueState::Static) {
        written.buffer = BufferRef();
        written.isReady = false;
      }
    }
    TRACERT_TRY(runCoveredOps(plan, instruction, failedOp));
    releaseInnerValues(plan, instruction);
    return recheckPending(plan, failedOp);
  }
  if (!step.launch->entry) {
    TRACERT_ASSIGN(step.launch->entry, core.code->kernel(kernel));
  }
  BufferRef partials;
  if (step.launch->partialBytes > 0) {
    partials = BufferRef(Buffer::allocate(*core.allocator, step.launch->partialBytes));
    if (!partials) {
      return Status::outOfMemory("no memory for the partial results of a reduction");
    }
    for (size_t i = 0; i < step.launch->pointers.size(); ++i) {
      if (step.launch->pointerSources[i] == kNoIndex) {
        step.launch->pointers[i] =
            static_cast<char *>(partials->data()) + step.launch->pointerOffsets[i];
      }
    }
  }
  LaunchOutcome result;
  TRACERT_TRY(launch(*step.launch, partials ? partials->data() : nullptr, result));
  TRACERT_TRY(core.checkControl());
  if (result.isIndexError) {
    return badIndexIn(kernel);
  }
  if (kernel.countValue != kNoIndex) {
    return takeCount(plan, instruction, result.count, failedOp);
  }
  return {};
}

} // namespace tracert
