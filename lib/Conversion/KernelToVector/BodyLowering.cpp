// The ops at one point of the domain, for the lanes of the point.
#include "Conversion/KernelToVector/KernelLowering.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tracec;
using namespace tracec::kernel;
using tracert::DType;

KernelLowering::Values KernelLowering::emitBody(const NestPoint &point, ValueRange carried) {
  mapping.clear();
  Values next(carried);
  Value terms = hasColumns ? carried[reductions.size()] : Value();
  int64_t lanes = point.lanes.count;
  Value selected = mask ? carried.back() : Value();
  selectedBits = Value();
  size_t reduction = 0;
  for (Operation &op : func.getBody().front()) {
    llvm::TypeSwitch<Operation *>(&op)
        .Case([&](LoadOp load) {
          mapping[load] = emitLoad(point, cast<BlockArgument>(load.getAccess()));
        })
        .Case([&](GatherOp gather) { mapping[gather] = emitGather(point, gather); })
        .Case([&](ApplyOp apply) { mapping[apply] = emitApply(apply, lanes); })
        .Case([&](CastOp castOp) {
          mapping[castOp] =
              build->cast(lookup(castOp.getInput()), *dtypeOfElement(castOp.getInput().getType()),
                          *dtypeOfElement(castOp.getType()), lanes);
        })
        .Case([&](ConstOp constant) {
          mapping[constant] =
              build->constantOf(*dtypeOfElement(constant.getType()), constant.getValue(), lanes);
        })
        .Case([&](PositionOp positionOp) {
          Value first = build->splat(position(point), lanes);
          mapping[positionOp] = build->add(first, build->laneNumbers(lanes));
        })
        .Case([&](StoreOp store) {
          emitStore(point, cast<BlockArgument>(store.getAccess()), lookup(store.getValue()));
        })
        .Case([&](CompactOp compact) { emitCompact(point, compact, selected); })
        .Case([&](ReduceOp reduce) {
          next[reduction] = accumulate(reductions[reduction], point, carried[reduction], terms,
                                       lookup(reduce.getValue()));
          ++reduction;
        });
  }
  if (hasColumns) {
    next[reductions.size()] = build->add(terms, build->constant(1));
  }
  if (mask) {
    Value count = LLVM::CtPopOp::create(builder, loc, builder.getI32Type(), bitsOfMask(point));
    next.back() = build->add(selected, arith::ExtUIOp::create(builder, loc, build->i64(), count));
  }
  return next;
}

Value KernelLowering::emitApply(ApplyOp apply, int64_t lanes) {
  Values operands;
  for (Value input : apply.getInputs()) {
    operands.push_back(lookup(input));
  }
  DType dtype = *dtypeOfElement(apply.getInputs().back().getType());
  return build->callScalar(apply.getCallee(), dtype, operands, *dtypeOfElement(apply.getType()),
                           lanes);
}

void KernelLowering::emitCompact(const NestPoint &point, CompactOp compact, Value selected) {
  int64_t lanes = point.lanes.count;
  DType dtype = *dtypeOfElement(compact.getValue().getType());
  Value value = lookup(compact.getValue());
  // Packing moves bits.
  if (isa<FloatType>(build->elementOf(dtype))) {
    Type bits = builder.getIntegerType(8 * tracert::dtypeSize(dtype));
    value = LLVM::BitcastOp::create(builder, loc, build->vectorOf(bits, lanes), value);
  }
  std::string name =
      "tck_pack_b" + std::to_string(tracert::dtypeSize(dtype)) + "_v" + std::to_string(lanes);
  unsigned access = cast<BlockArgument>(compact.getAccess()).getArgNumber();
  build->call(name, Type(),
              {point.pointers[access], selected, build->spill(value), bitsOfMask(point)});
}

Value KernelLowering::bitsOfMask(const NestPoint &point) {
  if (!selectedBits) {
    Value all = build->maskAnd(point.lanes.active, build->toMask(lookup(mask)));
    selectedBits = build->maskBits(all, point.lanes.count);
  }
  return selectedBits;
}

Value KernelLowering::laneOffsets(const NestPoint &point, unsigned access) {
  AccessType type = func.accessType(access);
  int64_t lanes = point.lanes.count;
  if (lanes == 1 || type.getStride() == InnerStride::Zero) {
    return build->splat(build->constant(0), lanes);
  }
  Value stride = strides[access][vectorAxis];
  if (type.getStride() == InnerStride::Contiguous) {
    stride = build->constant(tracert::dtypeSize(*dtypeOfElement(type.getElementType())));
  }
  return build->mul(build->laneNumbers(lanes), build->splat(stride, lanes));
}

Value KernelLowering::emitLoad(const NestPoint &point, BlockArgument access) {
  unsigned number = access.getArgNumber();
  AccessType type = func.accessType(number);
  DType dtype = *dtypeOfElement(type.getElementType());
  Value pointer = point.pointers[number];
  int64_t lanes = point.lanes.count;
  if (type.getStride() == InnerStride::Zero || lanes == 1) {
    Value element = point.hoisted[number];
    if (!element) {
      element = build->loadScalar(build->elementOf(dtype), pointer);
    }
    return build->splat(element, lanes);
  }
  if (type.getStride() == InnerStride::Contiguous) {
    return build->loadContiguous(dtype, pointer, point.lanes);
  }
  // An inactive lane of a tail reads the first lane's element.
  return build->loadOffsets(dtype, pointer, laneOffsets(point, number), point.lanes, pointer);
}

void KernelLowering::emitStore(const NestPoint &point, BlockArgument access, Value value) {
  unsigned number = access.getArgNumber();
  AccessType type = func.accessType(number);
  DType dtype = *dtypeOfElement(type.getElementType());
  Value pointer = point.pointers[number];
  if (point.lanes.count == 1) {
    build->storeScalar(value, pointer);
    return;
  }
  if (type.getStride() == InnerStride::Contiguous) {
    build->storeContiguous(dtype, value, pointer, point.lanes);
    return;
  }
  build->storeOffsets(dtype, value, pointer, laneOffsets(point, number), point.lanes);
}

Value KernelLowering::position(const NestPoint &point) {
  Value result = build->constant(0);
  for (int64_t axis = 0; axis < rank; ++axis) {
    if (!func.isUnitAxis(axis)) {
      result = build->add(build->mul(result, sizes[axis]), point.indices[axis]);
    }
  }
  return result;
}

Value KernelLowering::emitGather(const NestPoint &point, GatherOp op) {
  unsigned number = cast<BlockArgument>(op.getAccess()).getArgNumber();
  AccessType type = func.accessType(number);
  DType dtype = *dtypeOfElement(type.getElementType());
  int64_t lanes = point.lanes.count;
  Value wanted = point.lanes.active;
  if (Value selected = op.getMask()) {
    wanted = build->maskAnd(wanted, build->toMask(lookup(selected)));
  }
  Value offsets = laneOffsets(point, number);
  Value readable = wanted;
  for (auto [axis, indexValue] : llvm::enumerate(op.getIndices())) {
    DType indexDType = *dtypeOfElement(indexValue.getType());
    Value index = build->cast(lookup(indexValue), indexDType, DType::Int64, lanes);
    Value size = build->splat(gatherSizes[number][axis], lanes);
    Value zero = build->bitsOf(DType::Int64, 0, lanes);
    if (indexDType == DType::UInt64) {
      // What int64 does not hold lies beyond every axis.
      index = arith::MinUIOp::create(builder, loc, index,
                                     build->bitsOf(DType::Int64, INT64_MAX, lanes));
    } else if (tracert::isSigned(indexDType)) {
      Value isNegative = build->compare(arith::CmpIPredicate::slt, index, zero);
      index = build->select(isNegative, build->add(index, size), index);
    }
    if (op.getUnchecked()) {
      Value last = build->sub(size, build->bitsOf(DType::Int64, 1, lanes));
      index = arith::MinSIOp::create(builder, loc, index, last);
      index = arith::MaxSIOp::create(builder, loc, index, zero);
      // An axis without elements has nothing to clamp to.
      readable = build->maskAnd(readable, build->compare(arith::CmpIPredicate::sgt, size, zero));
    } else {
      // Unsigned, so that what is still negative is too large.
      Value isGood = build->compare(arith::CmpIPredicate::ult, index, size);
      Value isBad = build->compare(arith::CmpIPredicate::uge, index, size);
      Value badBits = build->maskBits(build->maskAnd(isBad, wanted), lanes);
      Value none = arith::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(0));
      Value anyBad = build->compare(arith::CmpIPredicate::ne, badBits, none);
      auto report = scf::IfOp::create(builder, loc, anyBad, /*withElseRegion=*/false);
      unsigned failed = number;
      if (auto load = indexValue.getDefiningOp<LoadOp>()) {
        if (load.getAccess().getType().getKind() == AccessKind::Index) {
          failed = cast<BlockArgument>(load.getAccess()).getArgNumber();
        }
      }
      {
        OpBuilder::InsertionGuard guard(builder);
        builder.setInsertionPointToStart(report.thenBlock());
        build->call(
            "tck_errors_note", Type(),
            {scratch, build->constant(number), build->constant(failed), position(point), badBits});
      }
      readable = build->maskAnd(readable, isGood);
    }
    Value step = build->splat(gatherSteps[number][axis], lanes);
    offsets = build->add(offsets, build->mul(index, step));
  }
  Lanes readLanes{lanes, readable};
  return build->loadOffsets(dtype, point.pointers[number], offsets, readLanes, scratch);
}
