// What reductions and masks carry through the loops, and how it starts, grows and ends.
// Carried, in order: one value per reduction; the count of terms, if there are Columns; the count
// of selected points, if there is a mask.
#include "Conversion/KernelToVector/KernelLowering.h"

#include "tracert/KernelAbi.h"

using namespace mlir;
using namespace tracec;
using namespace tracec::kernel;
using tracert::DType;

/// tck_<part>_<reduction>_<accumulator>; see KernelSupport.cpp.
static std::string nameOf(StringRef part, const Reduction &reduction, int64_t lanes = 0) {
  std::string name = ("tck_" + part + "_" + reduction.op.getReduction() + "_" +
                      llvm::StringRef(tracert::dtypeShortName(reduction.accumulator)))
                         .str();
  return lanes == 0 ? name : name + "_v" + std::to_string(lanes);
}

StringRef KernelLowering::combiner(const Reduction &reduction) const {
  return tracert::opInfo(reduction.info->combiner).name;
}

Value KernelLowering::identity(const Reduction &reduction, int64_t lanes) {
  tracert::Scalar start = tracert::reductionStart(reduction.info->start, reduction.accumulator);
  return build->bitsOf(reduction.accumulator, start.bits, lanes);
}

int64_t KernelLowering::carriedLanes(const Reduction &reduction, const NestPoint &point) const {
  if (reduction.form == Reduction::Sequence) {
    return 0;
  }
  return isInnerOrder ? config.lanes : point.lanes.count;
}

KernelLowering::Values KernelLowering::beginReductions(const NestPoint &point) {
  Values carried;
  for (const Reduction &reduction : reductions) {
    if (reduction.form == Reduction::Sequence) {
      build->call(nameOf("sequence_begin", reduction), Type(), reduction.state);
      carried.push_back(build->constant(0));
      continue;
    }
    int64_t lanes = carriedLanes(reduction, point);
    if (reduction.form == Reduction::Columns) {
      build->call(nameOf("columns_begin", reduction, lanes), Type(), reduction.state);
    }
    carried.push_back(identity(reduction, lanes));
  }
  if (hasColumns) {
    carried.push_back(build->constant(0));
  }
  if (mask) {
    carried.push_back(build->constant(0));
  }
  return carried;
}

Value KernelLowering::accumulate(const Reduction &reduction, const NestPoint &point, Value carried,
                                 Value terms, Value value) {
  int64_t lanes = point.lanes.count;
  DType dtype = reduction.accumulator;
  value = build->cast(value, reduction.input, dtype, lanes);
  Value active = point.lanes.active;
  ReduceOp op = reduction.op;
  if (Value selected = op.getMask()) {
    active = build->maskAnd(active, build->toMask(lookup(selected)));
  }
  switch (reduction.form) {
  case Reduction::Sequence: {
    SmallVector<Value> arguments{reduction.state, carried, build->spill(value)};
    if (!active) {
      return build->call(nameOf("sequence_append", reduction, lanes), build->i64(), arguments);
    }
    arguments.push_back(build->maskBits(active, lanes));
    return build->call(nameOf("sequence_append_where", reduction, lanes), build->i64(), arguments);
  }
  case Reduction::Columns: {
    // The chain is pushed when the next block's first term comes, so one block costs no tree.
    Value inBlock = arith::AndIOp::create(builder, loc, terms, build->constant(4095));
    Value isBoundary = arith::AndIOp::create(
        builder, loc, build->compare(arith::CmpIPredicate::eq, inBlock, build->constant(0)),
        build->compare(arith::CmpIPredicate::ne, terms, build->constant(0)));
    auto push = scf::IfOp::create(builder, loc, carried.getType(), isBoundary,
                                  /*withElseRegion=*/true);
    {
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToStart(push.thenBlock());
      build->call(nameOf("columns_push", reduction, lanes), Type(),
                  {reduction.state, build->spill(carried)});
      scf::YieldOp::create(builder, loc, identity(reduction, lanes));
      builder.setInsertionPointToStart(push.elseBlock());
      scf::YieldOp::create(builder, loc, carried);
    }
    return build->callScalar(combiner(reduction), dtype, {push.getResult(0), value}, dtype, lanes);
  }
  case Reduction::AnyOrder:
    break;
  }
  int64_t width = carriedLanes(reduction, point);
  // In outer order inactive lanes are other outputs, which are not stored.
  if (active && isInnerOrder) {
    value = build->select(active, value, identity(reduction, lanes));
  }
  if (lanes == width) {
    return build->callScalar(combiner(reduction), dtype, {carried, value}, dtype, lanes);
  }
  Value zero = arith::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(0));
  Value first = LLVM::ExtractElementOp::create(builder, loc, carried, zero);
  first = build->callScalar(combiner(reduction), dtype, {first, value}, dtype, 1);
  return LLVM::InsertElementOp::create(builder, loc, carried, first, zero);
}

Value KernelLowering::joinLanes(const Reduction &reduction, Value vector) {
  DType dtype = reduction.accumulator;
  for (int64_t half = config.lanes / 2; half > 0; half /= 2) {
    SmallVector<int32_t> upper(config.lanes);
    for (int64_t lane = 0; lane < config.lanes; ++lane) {
      upper[lane] = static_cast<int32_t>((lane + half) % config.lanes);
    }
    Value moved = LLVM::ShuffleVectorOp::create(builder, loc, vector, vector, upper);
    vector = build->callScalar(combiner(reduction), dtype, {vector, moved}, dtype, config.lanes);
  }
  Value zero = arith::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(0));
  return LLVM::ExtractElementOp::create(builder, loc, vector, zero);
}

void KernelLowering::finishReductions(const NestPoint &point, ValueRange carried) {
  Value terms = hasColumns ? carried[reductions.size()] : Value();
  for (auto [reduction, value] : llvm::zip(reductions, carried)) {
    DType dtype = reduction.accumulator;
    Value result = value;
    switch (reduction.form) {
    case Reduction::Sequence:
      result = build->call(nameOf("sequence_finish", reduction), build->elementOf(dtype),
                           {reduction.state, value});
      break;
    case Reduction::Columns: {
      Value slot = build->spill(value);
      build->call(nameOf("columns_finish", reduction, point.lanes.count), Type(),
                  {reduction.state, slot, terms});
      result = LLVM::LoadOp::create(builder, loc, value.getType(), slot);
      break;
    }
    case Reduction::AnyOrder:
      if (isInnerOrder) {
        result = joinLanes(reduction, value);
      }
      break;
    }
    auto access = cast<BlockArgument>(reduction.op.getAccess());
    if (!isInnerOrder) {
      result = build->cast(result, dtype, reduction.output, point.lanes.count);
      emitStore(point, access, result);
      continue;
    }
    result = build->cast(result, dtype, reduction.output, 1);
    Value pointer = point.pointers[access.getArgNumber()];
    if (point.block) {
      Value size = build->constant(tracert::dtypeSize(reduction.output));
      pointer = build->advance(pointer, build->mul(point.block, size));
    }
    build->storeScalar(result, pointer);
  }
  if (mask) {
    build->storeScalar(carried.back(), frame, offsetof(tracert::KernelFrame, count));
  }
}
