#include "LaunchBinding.h"

#include "tracert/Element.h"
#include "tracert/KernelAbi.h"
#include "tracert/Limits.h"
#include "tracert/ThreadPool.h"
#include "tracert/scalar/Reduction.h"

#include <algorithm>

namespace tracert {
namespace {

/// The domain of one launch, before and after flattening.
struct Domain {
  Dims shape;
  size_t vectorAxis = 0;
};

/// What the items of the kernel's set op select, for operands as `infoOf` gives them.
template <class InfoOf>
Result<TensorType> selectedType(const Program &program, const KernelDef &kernel,
                                const InfoOf &infoOf) {
  for (const KernelAccess &access : kernel.accesses) {
    if (access.kind != AccessKind::SetStore) {
      continue;
    }
    const OpDef &op = program.ops[access.op];
    std::vector<OperandInfo> operands(1);
    TRACERT_ASSIGN(operands[0], infoOf(op.operands[0]));
    for (size_t i = static_cast<size_t>(op.call.info().operandCount); i < op.operands.size(); ++i) {
      operands.emplace_back();
      TRACERT_ASSIGN(operands.back(), infoOf(op.operands[i]));
    }
    TRACERT_ASSIGN(ResultTypes types, inferTypes(readCallOf(op.call), operands));
    return types[0];
  }
  return Status::internal("kernel '" + kernel.name + "' has no domain");
}

Result<Domain> resolveDomain(const Program &program, const KernelDef &kernel,
                             std::span<const PlanValue> values, const IntegerReader *read) {
  TRACERT_ASSIGN(TensorType type, domainType(program, kernel, values, read));
  if (!type.isFullyKnown()) {
    return Status::internal("kernel '" + kernel.name + "' has a domain of unknown size");
  }
  Domain domain{type.shape, 0};
  Dims staticDims;
  if (kernel.domainValue != kNoIndex) {
    staticDims = program.values[kernel.domainValue].dims;
  } else {
    // The set's selection with declared types only: dims that are 1 in it are statically 1.
    TRACERT_ASSIGN(TensorType declared,
                   selectedType(program, kernel, [&](ValueId value) -> Result<OperandInfo> {
                     return OperandInfo{{program.values[value].dtype, program.values[value].dims}};
                   }));
    staticDims = declared.shape;
  }
  domain.vectorAxis = vectorAxisOf({staticDims.data(), staticDims.size()});
  return domain;
}

bool isReduced(const KernelDef &kernel, size_t axis) {
  return std::find(kernel.reducedAxes.begin(), kernel.reducedAxes.end(),
                   static_cast<int64_t>(axis)) != kernel.reducedAxes.end();
}

bool broadcastsOnto(const Dims &from, const Dims &to) {
  // Extra leading axes of size 1 are allowed, as in assignments.
  size_t extra = from.size() > to.size() ? from.size() - to.size() : 0;
  for (size_t i = 0; i < extra; ++i) {
    if (from[i] != 1) {
      return false;
    }
  }
  for (size_t i = extra; i < from.size(); ++i) {
    int64_t target = to[to.size() - (from.size() - i)];
    if (from[i] != 1 && from[i] != target) {
      return false;
    }
  }
  return true;
}

/// Strides of `view` repeated over the domain; false when it does not broadcast onto it.
bool stridesOnto(const TensorView &view, const Dims &domain, Dims &strides) {
  if (!broadcastsOnto(view.shape, domain)) {
    return false;
  }
  strides.assign(domain.size(), 0);
  size_t common = std::min(view.shape.size(), domain.size());
  for (size_t i = 0; i < common; ++i) {
    size_t from = view.shape.size() - 1 - i;
    size_t to = domain.size() - 1 - i;
    strides[to] = view.shape[from] == 1 && domain[to] != 1 ? 0 : view.strides[from];
  }
  return true;
}

/// Strides of a reduction's result over the domain: 0 along reduced axes.
bool resultStrides(const KernelDef &kernel, const TensorView &view, const Dims &domain,
                   Dims &strides) {
  strides.assign(domain.size(), 0);
  bool keepsDims = view.rank() == domain.size();
  if (!keepsDims && view.rank() + kernel.reducedAxes.size() != domain.size()) {
    return false;
  }
  size_t next = 0;
  for (size_t axis = 0; axis < domain.size(); ++axis) {
    bool reduced = isReduced(kernel, axis);
    if (reduced && !keepsDims) {
      continue;
    }
    if (view.shape[next] != (reduced ? 1 : domain[axis])) {
      return false;
    }
    strides[axis] = reduced ? 0 : view.strides[next];
    ++next;
  }
  return true;
}

/// One axis instead of all: possible when the elements are contiguous or one element repeats.
bool flatten(const Dims &domain, int64_t elementSize, Dims &strides) {
  bool isRepeated = true;
  bool isContiguous = true;
  bool isEmpty = false;
  int64_t step = elementSize;
  for (size_t axis = domain.size(); axis-- > 0;) {
    isEmpty = isEmpty || domain[axis] == 0;
    if (domain[axis] == 1) {
      continue;
    }
    isRepeated = isRepeated && strides[axis] == 0;
    isContiguous = isContiguous && strides[axis] == step;
    step *= std::max<int64_t>(domain[axis], 1);
  }
  if (!isRepeated && !isContiguous && !isEmpty) {
    return false;
  }
  // With at most one element both hold; the compiled class decides (see matchesClass).
  strides.assign(1, isRepeated ? 0 : elementSize);
  return true;
}

/// Whether the code's assumption holds; a stride that is never used is set to what it assumes.
bool matchesClass(InnerStride wanted, int64_t size, int64_t elementSize, int64_t &stride) {
  int64_t assumed = wanted == InnerStride::Contiguous ? elementSize : 0;
  if (wanted == InnerStride::Any || stride == assumed) {
    return true;
  }
  if (size <= 1) {
    stride = assumed;
    return true;
  }
  return false;
}

class Binder {
public:
  Binder(const Program &program, const KernelDef &kernel, std::span<const OpIndex> covered,
         std::span<const PlanValue> values, const IntegerReader *read, BoundLaunch &bound)
      : program(program), kernel(kernel), covered(covered), values(values), read(read),
        bound(bound) {}

  Result<BindOutcome> run() {
    TRACERT_ASSIGN(domain, resolveDomain(program, kernel, values, read));
    bound.kernel = &kernel;
    bound.pointerSources.clear();
    bound.pointers.clear();
    bound.pointerOffsets.clear();
    bound.strides.clear();
    bound.gathers.clear();
    bound.joins.clear();
    bound.partialBytes = 0;
    int64_t elements = 1;
    for (int64_t size : domain.shape) {
      elements *= size;
    }
    bound.domain = domain.shape;
    if (kernel.isFlat) {
      bound.domain.assign(1, elements);
    }
    if (bound.domain.size() != kernel.domainRank) {
      return BindOutcome::NotFitting;
    }
    if (changesOrder()) {
      return BindOutcome::NotFitting;
    }
    setSplit(elements);
    for (size_t i = 0; i < kernel.accesses.size(); ++i) {
      TRACERT_ASSIGN(BindOutcome outcome, bindAccess(i));
      if (outcome != BindOutcome::Bound) {
        return outcome;
      }
    }
    return BindOutcome::Bound;
  }

private:
  /// The order of a sum depends on whether the innermost axis that is not 1 is reduced; the code
  /// was made for the vector axis, which a call may turn into an axis of size 1.
  bool changesOrder() const {
    if (kernel.isFlat || kernel.reducedAxes.empty()) {
      return false;
    }
    for (size_t axis = domain.shape.size(); axis-- > 0;) {
      if (domain.shape[axis] != 1) {
        return isReduced(kernel, axis) != isReduced(kernel, domain.vectorAxis);
      }
    }
    return false;
  }

  void setSplit(int64_t elements) {
    bound.splitCount = bound.domain.empty() ? 1 : bound.domain[0];
    if (kernel.split == KernelSplit::SequenceBlocks) {
      bound.splitCount = scalar::ReductionOrder::blockCount(elements);
    }
    bound.isWorthThreads =
        kernel.split != KernelSplit::None &&
        static_cast<double>(elements) * kernel.nanosecondsPerElement >= kMinParallelNanoseconds;
    bound.canSplit = kernel.split != KernelSplit::None && kernel.countValue == kNoIndex;
    double parts = bound.canSplit ? static_cast<double>(std::max<int64_t>(bound.splitCount, 1)) : 1;
    // A file's estimate is no more than that: never less than what any kernel takes.
    double perElement = std::max(0.01, static_cast<double>(kernel.nanosecondsPerElement));
    bound.nanosecondsPerPart = static_cast<double>(elements) * perElement / parts;
  }

  Result<BindOutcome> bindAccess(size_t index) {
    const KernelAccess &access = kernel.accesses[index];
    switch (access.kind) {
    case AccessKind::Load:
      return bindView(access, access.value, values[access.value].view);
    case AccessKind::Gather:
    case AccessKind::Index:
      return bindGather(access);
    case AccessKind::Store:
      return bindStore(access);
    case AccessKind::ReduceStore:
      return bindReduce(index, access);
    case AccessKind::CompactStore:
      return bindCompact(access);
    case AccessKind::SetStore:
      return bindSet(access);
    }
    return Status::internal("kernel '" + kernel.name + "' has an access of unknown kind");
  }

  Status needsMemory(ValueId value) {
    if (values[value].hasMemory()) {
      return {};
    }
    return Status::internal("kernel '" + kernel.name + "' needs value %" + std::to_string(value) +
                            ", which nothing has computed");
  }

  Result<BindOutcome> push(const KernelAccess &access, ValueId source, DType dtype, void *pointer,
                           Dims strides) {
    auto elementSize = static_cast<int64_t>(dtypeSize(dtype));
    if (kernel.isFlat && !flatten(domain.shape, elementSize, strides)) {
      return BindOutcome::NotFitting;
    }
    bool isPacked = access.kind == AccessKind::CompactStore;
    bool isFolded = access.kind == AccessKind::ReduceStore ||
                    (access.kind == AccessKind::Store && isReduced(kernel, domain.vectorAxis));
    if (!isPacked && !isFolded && !strides.empty()) {
      size_t axis = kernel.isFlat ? 0 : domain.vectorAxis;
      if (!matchesClass(access.innerStride, bound.domain[axis], elementSize, strides[axis])) {
        return BindOutcome::NotFitting;
      }
    }
    bound.pointerSources.push_back(source);
    bound.pointers.push_back(pointer);
    const void *start = source == kNoIndex ? pointer : values[source].view.data;
    bound.pointerOffsets.push_back(static_cast<const char *>(pointer) -
                                   static_cast<const char *>(start));
    bound.strides.insert(bound.strides.end(), strides.begin(), strides.end());
    return BindOutcome::Bound;
  }

  Result<BindOutcome> bindView(const KernelAccess &access, ValueId source, const TensorView &view) {
    TRACERT_TRY(needsMemory(source));
    Dims strides;
    if (!stridesOnto(view, domain.shape, strides)) {
      return BindOutcome::NotFitting;
    }
    return push(access, source, view.dtype, view.data, std::move(strides));
  }

  Result<BindOutcome> bindGather(const KernelAccess &access) {
    const OpDef &op = program.ops[access.op];
    ValueId baseValue = op.operands[0];
    const IndexItems &items = op.call.attrs[0].asIndex();
    size_t fixed = static_cast<size_t>(op.call.info().operandCount);
    std::vector<TensorView> extras;
    for (size_t i = fixed; i < op.operands.size(); ++i) {
      const PlanValue &extra = values[op.operands[i]];
      // An index array from inside the kernel has a shape only, which is all that is read here.
      extras.push_back(extra.hasMemory()
                           ? extra.view
                           : TensorView::contiguous(values[baseValue].view.data, extra.type));
    }
    for (const IndexItem &item : items.items) {
      if (item.kind == IndexItemKind::Mask) {
        return BindOutcome::NotFitting;
      }
    }
    TRACERT_TRY(needsMemory(baseValue));
    // The kernel looks only at indices that it meets in its domain; the op checks all of them.
    bool isEmpty = std::find(bound.domain.begin(), bound.domain.end(), 0) != bound.domain.end();
    bool hasIndices = std::any_of(extras.begin(), extras.end(),
                                  [](const TensorView &extra) { return extra.elementCount() > 0; });
    if (isEmpty && hasIndices) {
      return BindOutcome::NotFitting;
    }
    TRACERT_ASSIGN(IndexAccess found, indexAccess(items, values[baseValue].view, extras, {}));
    if (access.kind == AccessKind::Gather) {
      for (const IndexAccess::IndexedAxis &axis : found.axes) {
        bound.gathers.push_back(axis.size);
        bound.gathers.push_back(axis.stride);
      }
      return bindView(access, baseValue, found.base);
    }
    if (access.indexedAxis >= found.axes.size()) {
      return Status::internal("kernel '" + kernel.name + "' has an index access without an axis");
    }
    // The index operand is the access's value; its view is broadcast onto the op's result.
    return bindView(access, access.value, found.axes[access.indexedAxis].indices);
  }

  Result<BindOutcome> bindStore(const KernelAccess &access) {
    TRACERT_TRY(needsMemory(access.value));
    const TensorView &view = values[access.value].view;
    Dims strides;
    if (view.shape.size() == domain.shape.size() && view.shape == domain.shape) {
      return push(access, access.value, view.dtype, view.data, view.strides);
    }
    if (kernel.reducedAxes.empty() || !resultStrides(kernel, view, domain.shape, strides)) {
      return BindOutcome::NotFitting;
    }
    return push(access, access.value, view.dtype, view.data, std::move(strides));
  }

  Result<BindOutcome> bindReduce(size_t index, const KernelAccess &access) {
    TRACERT_TRY(needsMemory(access.value));
    const TensorView &view = values[access.value].view;
    Dims strides(domain.shape.size(), 0);
    // A masked reduction folds all axes; its result type may keep them.
    bool foldsAll = view.elementCount() == 1 && kernel.reducedAxes.size() == domain.shape.size();
    if (!foldsAll && !resultStrides(kernel, view, domain.shape, strides)) {
      return BindOutcome::NotFitting;
    }
    OpIndex op = coveredDefinition(access.value);
    const ReductionInfo *reduction =
        op == kNoIndex ? nullptr : program.ops[op].call.info().reduction;
    if (!reduction || reduction->isIndexed) {
      return Status::internal("kernel '" + kernel.name + "' covers no reduction to %" +
                              std::to_string(access.value));
    }
    // An operand that is only broadcast onto the domain here would be counted several times.
    ValueId operand = program.ops[op].operands[0];
    bool isMasked = kernel.countValue != kNoIndex;
    if (!isMasked && !(values[operand].type.shape == domain.shape)) {
      return BindOutcome::NotFitting;
    }
    if (kernel.split != KernelSplit::SequenceBlocks) {
      return push(access, access.value, view.dtype, view.data, std::move(strides));
    }
    if (view.elementCount() != 1) {
      return BindOutcome::NotFitting;
    }
    PartialJoin join;
    join.access = index;
    join.reduction = reduction;
    join.operand = values[operand].type.dtype;
    DType partialDType = reduction->accumulator(join.operand);
    join.blockCount = bound.splitCount;
    join.value = access.value;
    join.result = view;
    join.byteOffset = bound.partialBytes;
    size_t bytes = static_cast<size_t>(join.blockCount) * dtypeSize(partialDType);
    bound.partialBytes += (bytes + kBufferSlack + 63) / 64 * 64;
    bound.joins.push_back(join);
    strides.assign(domain.shape.size(), 0);
    TRACERT_ASSIGN(BindOutcome outcome,
                   push(access, kNoIndex, partialDType, nullptr, std::move(strides)));
    bound.pointerOffsets.back() = static_cast<int64_t>(join.byteOffset);
    return outcome;
  }

  Result<BindOutcome> bindCompact(const KernelAccess &access) {
    TRACERT_TRY(needsMemory(access.value));
    const TensorView &view = values[access.value].view;
    auto elementSize = static_cast<int64_t>(dtypeSize(view.dtype));
    bound.pointerSources.push_back(access.value);
    bound.pointers.push_back(view.data);
    bound.pointerOffsets.push_back(0);
    for (size_t axis = 0; axis < bound.domain.size(); ++axis) {
      bound.strides.push_back(axis + 1 == bound.domain.size() ? elementSize : 0);
    }
    return BindOutcome::Bound;
  }

  Result<BindOutcome> bindSet(const KernelAccess &access) {
    const OpDef &op = program.ops[access.op];
    ValueId result = op.results[0];
    TRACERT_TRY(needsMemory(result));
    std::vector<int64_t> bounds;
    for (size_t i = static_cast<size_t>(op.call.info().operandCount); i < op.operands.size(); ++i) {
      const PlanValue &extra = values[op.operands[i]];
      if (!extra.sizeValue) {
        TRACERT_TRY(needsMemory(op.operands[i]));
        assert(read);
        bounds.emplace_back();
        TRACERT_ASSIGN(bounds.back(), (*read)(extra.view));
        continue;
      }
      bounds.push_back(*extra.sizeValue);
    }
    TRACERT_ASSIGN(std::optional<TensorView> view,
                   viewOf(readCallOf(op.call), values[result].view, bounds));
    if (!view) {
      return BindOutcome::NotFitting;
    }
    return bindView(access, result, *view);
  }

  /// The op of the launch that makes `value`.
  OpIndex coveredDefinition(ValueId value) const {
    for (OpIndex op : covered) {
      const std::vector<ValueId> &results = program.ops[op].results;
      if (std::find(results.begin(), results.end(), value) != results.end()) {
        return op;
      }
    }
    return kNoIndex;
  }

  const Program &program;
  const KernelDef &kernel;
  std::span<const OpIndex> covered;
  std::span<const PlanValue> values;
  const IntegerReader *read;
  BoundLaunch &bound;
  Domain domain;
};

} // namespace

OpCall readCallOf(const OpCall &set) { return {OpKind::subtensor, set.attrs}; }

Result<TensorType> domainType(const Program &program, const KernelDef &kernel,
                              std::span<const PlanValue> values, const IntegerReader *read) {
  if (kernel.domainValue != kNoIndex) {
    return values[kernel.domainValue].type;
  }
  return selectedType(program, kernel, [&](ValueId id) -> Result<OperandInfo> {
    const PlanValue &value = values[id];
    OperandInfo info{value.type, value.sizeValue};
    bool isBound = value.type.rank() == 0 && isInteger(value.type.dtype);
    if (isBound && !info.sizeValue && read && value.hasMemory()) {
      TRACERT_ASSIGN(info.sizeValue, (*read)(value.view));
    }
    return info;
  });
}

Result<BindOutcome> bindLaunch(const Program &program, const NativeSection &section,
                               const Instruction &instruction, std::span<const PlanValue> values,
                               const IntegerReader *read, BoundLaunch &bound) {
  auto covered =
      std::span(section.coveredOps).subspan(instruction.firstCovered, instruction.coveredCount);
  return Binder(program, section.kernels[instruction.index], covered, values, read, bound).run();
}

} // namespace tracert
