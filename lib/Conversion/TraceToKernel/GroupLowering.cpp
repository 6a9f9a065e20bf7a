#include "Conversion/TraceToKernel/GroupLowering.h"

#include "tracert/KernelAbi.h"

using namespace mlir;
using tracert::AccessKind;
using tracert::InnerStride;
using tracert::OpFamily;
using tracert::Result;
using tracert::Status;

namespace tracec {

Status notInKernel(Operation *op, const std::string &why) {
  return Status(tracert::StatusCode::Unsupported,
                "'" + op->getName().getStringRef().str() + "' cannot be in a kernel: " + why);
}

FusionGroup fusionGroupOf(trace::GroupOp group, const trace::SizeAnalysis &sizes,
                          std::string name) {
  FusionGroup fusion{trace::analyzeGroup(group, sizes), std::move(name), {}};
  for (Operation &op : group.getBody().front().without_terminator()) {
    fusion.ops.push_back(&op);
  }
  return fusion;
}

Result<LoweredGroup> lowerGroupToKernel(const FusionGroup &group, ModuleOp module) {
  return GroupLowering(group, module).run();
}

GroupLowering::GroupLowering(const FusionGroup &group, ModuleOp module)
    : group(group), module(module), builder(module.getContext()) {}

Result<LoweredGroup> GroupLowering::run() {
  if (group.ops.empty()) {
    return Status::internal("a fusion group has no ops");
  }
  module.getContext()->loadDialect<kernel::KernelDialect>();
  // Built apart, so that a group that cannot be lowered leaves no trace in the module.
  OwningOpRef<kernel::FuncOp> func =
      kernel::FuncOp::create(builder, group.ops.front()->getLoc(), group.name, 0);
  lowered.func = *func;
  builder.setInsertionPointToStart(&lowered.func.getBody().front());
  TRACERT_TRY(readDomain());
  SmallVector<int64_t> sourceOps;
  for (Operation *op : group.ops) {
    TRACERT_TRY(lowerOp(op));
    llvm::append_range(sourceOps, trace::opIdsOf(op));
  }
  llvm::sort(sourceOps);
  sourceOps.erase(llvm::unique(sourceOps), sourceOps.end());
  lowered.func.setSourceOps(sourceOps);
  chooseSplit();
  TRACERT_TRY(storeOutputs());
  lowered.nanosecondsPerElement = cost();
  module.push_back(func.release());
  return std::move(lowered);
}

Status GroupLowering::readDomain() {
  domain = group.domain
               ? SmallVector<int64_t>(cast<RankedTensorType>(group.domain.getType()).getShape())
               : group.domainShape;
  vectorAxis = domain.empty() ? -1 : static_cast<int64_t>(tracert::vectorAxisOf(domain));
  bool reducesAll = group.reducedAxes.size() == domain.size();
  if (group.isFlat && !group.reducedAxes.empty() && !reducesAll) {
    return Status(tracert::StatusCode::Unsupported, "a flat kernel reduces all axes or none, not " +
                                                        std::to_string(group.reducedAxes.size()) +
                                                        " of " + std::to_string(domain.size()));
  }
  if (group.isFlat) {
    lowered.domainRank = 1;
    lowered.func.setFlat(true);
    lowered.func.setReducedAxes(group.reducedAxes.empty() ? ArrayRef<int64_t>()
                                                          : ArrayRef<int64_t>(0));
  } else {
    lowered.domainRank = static_cast<uint8_t>(domain.size());
    lowered.func.setReducedAxes(group.reducedAxes);
    SmallVector<int64_t> unitAxes;
    for (auto [axis, size] : llvm::enumerate(domain)) {
      if (size == 1) {
        unitAxes.push_back(static_cast<int64_t>(axis));
      }
    }
    lowered.func.setUnitAxes(unitAxes);
  }
  lowered.func.setDomainRank(lowered.domainRank);
  return {};
}

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

Type GroupLowering::elementTypeOf(Value value) const {
  return cast<RankedTensorType>(value.getType()).getElementType();
}

InnerStride GroupLowering::strideOf(Value value) const {
  ArrayRef<int64_t> shape = cast<RankedTensorType>(value.getType()).getShape();
  bool isRepeated = true;
  if (group.isFlat) {
    isRepeated = llvm::all_of(shape, [](int64_t size) { return size == 1; });
  } else if (vectorAxis >= 0) {
    // Aligned at the right.
    int64_t axis =
        static_cast<int64_t>(shape.size()) - (static_cast<int64_t>(domain.size()) - vectorAxis);
    isRepeated = axis < 0 || shape[axis] == 1;
  }
  if (isRepeated) {
    return InnerStride::Zero;
  }
  auto told = group.innerStrides.find(value);
  return told == group.innerStrides.end() ? InnerStride::Any : told->second;
}

BlockArgument GroupLowering::addAccess(AccessKind kind, Value value, InnerStride stride,
                                       int64_t indexedAxes) {
  AccessBinding binding;
  binding.kind = kind;
  binding.value = value;
  binding.innerStride = stride;
  lowered.accesses.push_back(binding);
  auto type = kernel::AccessType::get(module.getContext(), static_cast<kernel::AccessKind>(kind),
                                      elementTypeOf(value),
                                      static_cast<kernel::InnerStride>(stride), indexedAxes);
  return lowered.func.addAccess(type, value.getLoc());
}

Result<Value> GroupLowering::element(Value value) {
  if (auto found = elements.find(value); found != elements.end()) {
    return found->second;
  }
  if (llvm::is_contained(group.ops, value.getDefiningOp())) {
    return notInKernel(value.getDefiningOp(), "another op of the kernel needs its finished result");
  }
  BlockArgument access = addAccess(AccessKind::Load, value, strideOf(value));
  Value loaded = kernel::LoadOp::create(builder, value.getLoc(), elementTypeOf(value), access);
  elements[value] = loaded;
  return loaded;
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

Status GroupLowering::lowerOp(Operation *op) {
  const tracert::OpInfo *info = trace::opInfoOf(op);
  if (!info) {
    return notInKernel(op, "it is not an op of the program");
  }
  if (hasSet) {
    return notInKernel(op, "it follows a set");
  }
  if (info->isPointwise()) {
    return lowerPointwise(op, *info);
  }
  switch (info->family) {
  case OpFamily::Reduce:
    return lowerReduce(op);
  case OpFamily::Compress:
    return lowerCondTake(op);
  case OpFamily::Create:
    return lowerFull(op);
  case OpFamily::Indexing: {
    if (info->has(tracert::kTraitSet)) {
      return lowerSet(op);
    }
    tracert::IndexItems items = trace::indexItemsOf(op).toItems();
    auto rank = cast<RankedTensorType>(op->getOperand(0).getType()).getRank();
    if (items.items.size() == 1 && items.items[0].kind == tracert::IndexItemKind::Mask &&
        items.items[0].maskRank == rank) {
      return lowerMaskRead(op, op->getOperand(1), op->getOperand(0));
    }
    return lowerGather(op);
  }
  case OpFamily::Shape:
    // Only broadcasting keeps the place of elements, aligned at the right.
    if (info->has(tracert::kTraitRepeats)) {
      TRACERT_ASSIGN(Value value, element(op->getOperand(0)));
      elements[op->getResult(0)] = value;
      return {};
    }
    return notInKernel(op, "it moves elements; as a view it stays outside");
  default:
    return notInKernel(op, "it has a kernel of its own");
  }
}

//===----------------------------------------------------------------------===//
// Outputs
//===----------------------------------------------------------------------===//

void GroupLowering::chooseSplit() {
  using tracert::KernelSplit;
  if (maskValue || lowered.domainRank == 0) {
    return;
  }
  kernel::FuncOp func = lowered.func;
  if (func.isUnitAxis(0)) {
    return;
  }
  if (!reductions.empty() && lowered.domainRank == 1) {
    lowered.split = KernelSplit::SequenceBlocks;
  } else if (!func.isReducedAxis(0)) {
    lowered.split = KernelSplit::OuterAxis;
  }
  func.setSplit(static_cast<kernel::Split>(lowered.split));
}

Status GroupLowering::storeOutputs() {
  bool isInnerOrder = group.isFlat || maskValue || vectorAxis < 0 ||
                      llvm::is_contained(group.reducedAxes, vectorAxis);
  for (const PendingReduction &reduction : reductions) {
    Value result = reduction.op->getResult(0);
    BlockArgument access = addAccess(AccessKind::ReduceStore, result,
                                     isInnerOrder ? InnerStride::Zero : InnerStride::Contiguous);
    auto type = cast<kernel::AccessType>(access.getType());
    if (lowered.split == tracert::KernelSplit::SequenceBlocks) {
      // Blocks leave partials in the accumulating type.
      tracert::DType accumulator =
          reduction.info->accumulator(*dtypeOfElement(reduction.value.getType()));
      access.setType(kernel::AccessType::get(
          module.getContext(), type.getKind(),
          tracec::elementTypeOf(module.getContext(), accumulator), type.getStride(), 0));
    }
    kernel::ReduceOp::create(builder, reduction.op->getLoc(),
                             reduction.op->getName().stripDialect(), reduction.value,
                             reduction.isMasked ? maskElement : Value(), access);
  }
  for (Value output : group.outputs) {
    auto found = elements.find(output);
    if (found == elements.end()) {
      bool isStored = hasSet || llvm::any_of(reductions, [&](const PendingReduction &reduction) {
                        return reduction.op == output.getDefiningOp();
                      });
      if (!isStored) {
        return Status::internal("an output of a fusion group is not computed in it");
      }
      continue;
    }
    Location loc = output.getLoc();
    if (isCompacted(output)) {
      BlockArgument access = addAccess(AccessKind::CompactStore, output, InnerStride::Contiguous);
      kernel::CompactOp::create(builder, loc, found->second, maskElement, access);
      continue;
    }
    BlockArgument access = addAccess(AccessKind::Store, output, InnerStride::Contiguous);
    kernel::StoreOp::create(builder, loc, found->second, access);
  }
  return {};
}

float GroupLowering::cost() {
  // One core: about 20 bytes per nanosecond from cache, and a few instructions per op and vector.
  float nanoseconds = 0.05f;
  for (const AccessBinding &access : lowered.accesses) {
    auto bytes =
        static_cast<float>(tracert::dtypeSize(trace::tensorTypeOf(access.value.getType()).dtype));
    bool isRepeated = access.innerStride == InnerStride::Zero && access.kind == AccessKind::Load;
    nanoseconds += isRepeated ? 0.0f : 0.05f * bytes;
    nanoseconds += access.kind == AccessKind::Gather ? 1.0f : 0.0f;
  }
  for (Operation &op : lowered.func.getBody().front()) {
    nanoseconds += isa<kernel::ApplyOp, kernel::CastOp>(op) ? 0.1f : 0.0f;
  }
  return nanoseconds;
}

} // namespace tracec
