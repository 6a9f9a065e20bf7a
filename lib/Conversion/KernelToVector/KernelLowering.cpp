#include "Conversion/KernelToVector/KernelLowering.h"

#include "Conversion/KernelToVector/ScratchLayout.h"

using namespace mlir;
using namespace tracec;
using namespace tracec::kernel;
using tracert::KernelFrame;

KernelLowering::KernelLowering(FuncOp func, const LaneConfig &config)
    : func(func), config(config), builder(func), loc(func.getLoc()) {
  rank = static_cast<int64_t>(func.getDomainRank());
  vectorAxis = func.vectorAxis();
  mask = func.mask();
  isInnerOrder = mask || vectorAxis < 0 || func.isReducedAxis(vectorAxis) || !func.hasReduction();
  // A mask takes the selected points in C order, which is the plain order of axes.
  for (bool reduced : {false, true}) {
    for (int64_t axis = 0; axis < rank; ++axis) {
      if (!func.isUnitAxis(axis) && func.isReducedAxis(axis) == reduced) {
        order.push_back(axis);
      }
    }
  }
  for (size_t level = 0; level < order.size(); ++level) {
    if (order[level] == vectorAxis) {
      vectorLevel = level;
    }
    if (!func.isReducedAxis(order[level]) && !mask) {
      carryLevel = level + 1;
    }
  }
}

LogicalResult KernelLowering::run() {
  if (failed(planReductions())) {
    return failure();
  }
  auto type = LLVM::LLVMFunctionType::get(builder.getI32Type(),
                                          {LLVM::LLVMPointerType::get(builder.getContext())});
  lowered = LLVM::LLVMFuncOp::create(builder, loc, func.getSymName(), type);
  Block *entry = lowered.addEntryBlock(builder);
  builder.setInsertionPointToStart(entry);
  auto module = func->getParentOfType<ModuleOp>();
  build.emplace(builder, loc, module, entry);
  readFrame();
  emitKernel();
  func.erase();
  return success();
}

LogicalResult KernelLowering::planReductions() {
  size_t states = 0;
  for (ReduceOp op : func.getBody().getOps<ReduceOp>()) {
    Reduction reduction;
    reduction.op = op;
    reduction.input = *dtypeOfElement(op.getValue().getType());
    reduction.output = *dtypeOfElement(op.getAccess().getType().getElementType());
    reduction.info = &op.info();
    reduction.accumulator = reduction.info->accumulator(reduction.input);
    if (reduction.info->isOrdered && tracert::isFloat(reduction.accumulator)) {
      reduction.form = isInnerOrder ? Reduction::Sequence : Reduction::Columns;
      hasColumns |= !isInnerOrder;
      ++states;
    }
    reductions.push_back(reduction);
  }
  if (states > kMaxReductionStates) {
    return func.emitOpError() << "has " << states << " ordered reductions, scratch holds "
                              << kMaxReductionStates;
  }
  for (GatherOp op : func.getBody().getOps<GatherOp>()) {
    hasCheckedGather |= !op.getUnchecked();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// The frame
//===----------------------------------------------------------------------===//

void KernelLowering::readFrame() {
  frame = lowered.getArgument(0);
  Type pointer = build->pointerType(), i64 = build->i64();
  unsigned accesses = func.getBody().getNumArguments();
  Value domain = build->loadScalar(pointer, frame, offsetof(KernelFrame, domain));
  sizes.resize(rank);
  for (int64_t axis : order) {
    sizes[axis] = build->loadScalar(i64, domain, axis * 8);
  }
  Value strideTable = build->loadScalar(pointer, frame, offsetof(KernelFrame, strides));
  strides.resize(accesses);
  for (unsigned access = 0; access < accesses; ++access) {
    strides[access].resize(rank);
    for (int64_t axis : order) {
      strides[access][axis] = build->loadScalar(i64, strideTable, (access * rank + axis) * 8);
    }
  }
  gatherSizes.resize(accesses);
  gatherSteps.resize(accesses);
  Value gatherTable;
  int64_t entry = 0;
  for (unsigned access = 0; access < accesses; ++access) {
    int64_t indexedAxes = func.accessType(access).getIndexedAxes();
    if (indexedAxes > 0 && !gatherTable) {
      gatherTable = build->loadScalar(pointer, frame, offsetof(KernelFrame, gathers));
    }
    for (int64_t i = 0; i < indexedAxes; ++i, entry += 2) {
      gatherSizes[access].push_back(build->loadScalar(i64, gatherTable, entry * 8));
      gatherSteps[access].push_back(build->loadScalar(i64, gatherTable, entry * 8 + 8));
    }
  }
  if (func.getSplit() != Split::None) {
    begin = build->loadScalar(i64, frame, offsetof(KernelFrame, begin));
    end = build->loadScalar(i64, frame, offsetof(KernelFrame, end));
  }
  scratch = build->loadScalar(pointer, frame, offsetof(KernelFrame, scratch));
  int64_t offset = kScratchErrorBytes;
  for (Reduction &reduction : reductions) {
    if (reduction.form != Reduction::AnyOrder) {
      reduction.state = build->advance(scratch, build->constant(offset));
      offset += kReductionStateBytes;
    }
  }
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

static scf::ForOp forLoop(OpBuilder &builder, Location loc, ArrayRef<Value> bounds,
                          ValueRange carried,
                          function_ref<SmallVector<Value>(Value, ValueRange)> body) {
  return scf::ForOp::create(builder, loc, bounds[0], bounds[1], bounds[2], carried,
                            [&](OpBuilder &inner, Location, Value index, ValueRange values) {
                              OpBuilder::InsertionGuard guard(builder);
                              builder.setInsertionPoint(inner.getBlock(),
                                                        inner.getInsertionPoint());
                              SmallVector<Value> results = body(index, values);
                              scf::YieldOp::create(builder, loc, results);
                            });
}

void KernelLowering::emitKernel() {
  NestPoint point;
  unsigned accesses = func.getBody().getNumArguments();
  Value table = build->loadScalar(build->pointerType(), frame, offsetof(KernelFrame, pointers));
  for (unsigned access = 0; access < accesses; ++access) {
    point.pointers.push_back(build->loadScalar(build->pointerType(), table, access * 8));
  }
  point.hoisted.resize(accesses);
  point.indices.resize(rank);
  if (hasCheckedGather) {
    build->call("tck_errors_begin", Type(), scratch);
  }
  if (func.getSplit() == Split::SequenceBlocks) {
    Value blockLength = build->constant(4096), size = sizes[0];
    forLoop(builder, loc, {begin, end, build->constant(1)}, {}, [&](Value block, ValueRange) {
      blockBegin = build->mul(block, blockLength);
      Value blockLimit = build->add(blockBegin, blockLength);
      blockEnd = arith::MinSIOp::create(builder, loc, blockLimit, size);
      NestPoint inBlock = point;
      inBlock.block = block;
      emitLevel(0, inBlock, {});
      return Values();
    });
  } else {
    emitLevel(0, point, {});
  }
  Value result = arith::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(0));
  if (hasCheckedGather) {
    result = build->call("tck_errors_finish", builder.getI32Type(), {scratch, frame});
  }
  LLVM::ReturnOp::create(builder, loc, result);
}

KernelLowering::Values KernelLowering::emitLevel(size_t level, const NestPoint &point,
                                                 ValueRange carried) {
  bool carries = mask || !reductions.empty();
  if (carries && carried.empty() && level == carryLevel) {
    Values started = beginReductions(point);
    Values finished = emitLevel(level, point, started);
    finishReductions(point, finished);
    return {};
  }
  if (level == order.size()) {
    return emitBody(point, carried);
  }
  return order[level] == vectorAxis ? emitVectorLoop(level, point, carried)
                                    : emitLoop(level, point, carried);
}

std::pair<Value, Value> KernelLowering::bounds(int64_t axis) {
  if (blockBegin) {
    return {blockBegin, blockEnd};
  }
  if (axis == 0 && func.getSplit() == Split::OuterAxis) {
    return {begin, end};
  }
  return {build->constant(0), sizes[axis]};
}

KernelLowering::Values KernelLowering::emitLoop(size_t level, const NestPoint &point,
                                                ValueRange carried) {
  int64_t axis = order[level];
  auto [lower, upper] = bounds(axis);
  auto loop = forLoop(builder, loc, {lower, upper, build->constant(1)}, carried,
                      [&](Value index, ValueRange values) {
                        return emitLevel(level + 1, enter(point, axis, index), values);
                      });
  return Values(loop.getResults());
}

NestPoint KernelLowering::enter(const NestPoint &point, int64_t axis, Value index) {
  NestPoint inside = point;
  inside.indices[axis] = index;
  for (auto [access, pointer] : llvm::enumerate(inside.pointers)) {
    AccessType type = func.accessType(access);
    if (type.getKind() == AccessKind::CompactStore ||
        (type.getKind() == AccessKind::ReduceStore && func.isReducedAxis(axis))) {
      continue;
    }
    Value stride = strides[access][axis];
    if (axis == vectorAxis) {
      if (type.getStride() == InnerStride::Zero) {
        continue;
      }
      if (type.getStride() == InnerStride::Contiguous) {
        stride = build->constant(tracert::dtypeSize(*dtypeOfElement(type.getElementType())));
      }
    }
    pointer = build->advance(pointer, build->mul(index, stride));
  }
  return inside;
}

void KernelLowering::hoistLoads(NestPoint &point) {
  for (BlockArgument argument : func.getBody().getArguments()) {
    auto type = cast<AccessType>(argument.getType());
    bool isLoad = type.getKind() == AccessKind::Load || type.getKind() == AccessKind::Index;
    if (isLoad && type.getStride() == InnerStride::Zero && !argument.use_empty()) {
      unsigned access = argument.getArgNumber();
      point.hoisted[access] = build->loadScalar(
          build->elementOf(*dtypeOfElement(type.getElementType())), point.pointers[access]);
    }
  }
}

KernelLowering::Values KernelLowering::emitVectorLoop(size_t level, NestPoint point,
                                                      ValueRange carried) {
  auto [lower, upper] = bounds(vectorAxis);
  if (level + 1 == order.size()) {
    hoistLoads(point);
  }
  Value lanes = build->constant(config.lanes);
  Value length = build->sub(upper, lower);
  Value fullLength = arith::AndIOp::create(builder, loc, length, build->constant(-config.lanes));
  Value fullEnd = build->add(lower, fullLength);
  auto inside = [&](Value index, Lanes active, ValueRange values) {
    NestPoint at = enter(point, vectorAxis, index);
    at.lanes = active;
    return emitLevel(level + 1, at, values);
  };
  auto mainLoop =
      forLoop(builder, loc, {lower, fullEnd, lanes}, carried, [&](Value index, ValueRange values) {
        return inside(index, {config.lanes, Value()}, values);
      });
  Values results(mainLoop.getResults());
  if (!config.hasMaskedTail) {
    auto tail = forLoop(
        builder, loc, {fullEnd, upper, build->constant(1)}, results,
        [&](Value index, ValueRange values) { return inside(index, {1, Value()}, values); });
    return Values(tail.getResults());
  }
  Value hasTail = build->compare(arith::CmpIPredicate::slt, fullEnd, upper);
  SmallVector<Type> types(ValueRange(results).getTypes());
  auto tail = scf::IfOp::create(builder, loc, types, hasTail, /*withElseRegion=*/!types.empty());
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(tail.thenBlock());
    Value active = build->firstLanes(build->sub(upper, fullEnd), config.lanes);
    Values values = inside(fullEnd, {config.lanes, active}, results);
    if (types.empty()) {
      return {};
    }
    scf::YieldOp::create(builder, loc, values);
    builder.setInsertionPointToStart(tail.elseBlock());
    scf::YieldOp::create(builder, loc, results);
  }
  return Values(tail.getResults());
}
