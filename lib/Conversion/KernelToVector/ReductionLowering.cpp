// What reductions and masks carry through the loops, and how it starts, grows and ends.
// Carried, in order: one value per reduction; the count of terms, if there are Columns; the count
// of selected points, if there is a mask.
#include "Conversion/KernelToVector/KernelLowering.h"

#include "tracert/KernelAbi.h"

using namespace mlir;
using namespace tracec;
using namespace tracec::kernel;
using tracert::DType;

static std::string nameOf(StringRef stem, DType dtype, int64_t lanes = 0) {
  std::string name = (stem + "_" + llvm::StringRef(tracert::dtypeShortName(dtype))).str();
  return lanes == 0 ? name : name + "_v" + std::to_string(lanes);
}

StringRef KernelLowering::combiner(const Reduction &reduction) const {
  return reduction.op.getKind() == ReduceKind::Sum ? "add" : "maximum";
}

Value KernelLowering::identity(const Reduction &reduction, int64_t lanes) {
  uint64_t bits = 0;
  if (reduction.form != Reduction::AnyOrder) {
    // -0.0: the one value that leaves every other unchanged.
    bits = uint64_t(1) << (8 * tracert::dtypeSize(reduction.accumulator) - 1);
  } else if (reduction.op.getKind() == ReduceKind::Max) {
    switch (reduction.accumulator) {
    case DType::Bool:
    case DType::UInt8:
      break;
    case DType::Int32:
      bits = uint64_t(1) << 31;
      break;
    case DType::Int64:
      bits = uint64_t(1) << 63;
      break;
    case DType::Float16:
      bits = 0xFC00;
      break;
    case DType::Float32:
      bits = 0xFF800000;
      break;
    case DType::Float64:
      bits = 0xFFF0000000000000;
      break;
    }
  }
  return build->bitsOf(reduction.accumulator, bits, lanes);
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
      build->call(nameOf("tck_sequence_begin", reduction.accumulator), Type(), reduction.state);
      carried.push_back(build->constant(0));
      continue;
    }
    int64_t lanes = carriedLanes(reduction, point);
    if (reduction.form == Reduction::Columns) {
      build->call(nameOf("tck_columns_begin", reduction.accumulator, lanes), Type(),
                  reduction.state);
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
      return build->call(nameOf("tck_sequence_append", dtype, lanes), build->i64(), arguments);
    }
    arguments.push_back(build->maskBits(active, lanes));
    return build->call(nameOf("tck_sequence_append_where", dtype, lanes), build->i64(), arguments);
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
      build->call(nameOf("tck_columns_push", dtype, lanes), Type(),
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
      result = build->call(nameOf("tck_sequence_finish", dtype), build->elementOf(dtype),
                           {reduction.state, value});
      break;
    case Reduction::Columns: {
      Value slot = build->spill(value);
      build->call(nameOf("tck_columns_finish", dtype, point.lanes.count), Type(),
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
