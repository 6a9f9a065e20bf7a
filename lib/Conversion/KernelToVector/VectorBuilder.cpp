#include "Conversion/KernelToVector/VectorBuilder.h"

#include "trace/IR/ElementTypes.h"

using namespace mlir;
using tracert::DType;

namespace tracec {

Type VectorBuilder::elementOf(DType dtype) const {
  return tracert::visitDType(dtype, [&](auto tag) -> Type {
    using D = decltype(tag);
    if constexpr (tracert::isFloatTag<D> && !tracert::isNarrowFloatTag<D>) {
      return elementTypeOf<D>(builder.getContext());
    } else {
      return builder.getIntegerType(8 * sizeof(typename D::Storage));
    }
  });
}

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

static Value splatConstant(const VectorBuilder &build, TypedAttr element, int64_t lanes) {
  if (lanes == 1) {
    return arith::ConstantOp::create(build.builder, build.loc, element);
  }
  auto type = cast<VectorType>(build.vectorOf(element.getType(), lanes));
  return arith::ConstantOp::create(build.builder, build.loc,
                                   DenseElementsAttr::get(type, Attribute(element)));
}

Value VectorBuilder::constant(int64_t value) const {
  return arith::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(value));
}

Value VectorBuilder::bitsOf(DType dtype, uint64_t bits, int64_t lanes) const {
  Type element = elementOf(dtype);
  if (auto floatType = dyn_cast<FloatType>(element)) {
    APInt pattern(floatType.getWidth(), bits, /*isSigned=*/false, /*implicitTrunc=*/true);
    return splatConstant(
        *this, FloatAttr::get(floatType, APFloat(floatType.getFloatSemantics(), pattern)), lanes);
  }
  APInt pattern(element.getIntOrFloatBitWidth(), bits, /*isSigned=*/false, /*implicitTrunc=*/true);
  return splatConstant(*this, IntegerAttr::get(element, pattern), lanes);
}

Value VectorBuilder::constantOf(DType dtype, TypedAttr value, int64_t lanes) const {
  APInt bits = isa<FloatAttr>(value) ? cast<FloatAttr>(value).getValue().bitcastToAPInt()
                                     : cast<IntegerAttr>(value).getValue();
  return bitsOf(dtype, bits.getZExtValue(), lanes);
}

Value VectorBuilder::add(Value a, Value b) const {
  return arith::AddIOp::create(builder, loc, a, b);
}
Value VectorBuilder::sub(Value a, Value b) const {
  return arith::SubIOp::create(builder, loc, a, b);
}
Value VectorBuilder::mul(Value a, Value b) const {
  return arith::MulIOp::create(builder, loc, a, b);
}

Value VectorBuilder::compare(arith::CmpIPredicate how, Value a, Value b) const {
  return arith::CmpIOp::create(builder, loc, how, a, b);
}

Value VectorBuilder::select(Value condition, Value a, Value b) const {
  return arith::SelectOp::create(builder, loc, condition, a, b);
}

Value VectorBuilder::splat(Value element, int64_t lanes) const {
  if (lanes == 1) {
    return element;
  }
  Type type = vectorOf(element.getType(), lanes);
  Value poison = LLVM::PoisonOp::create(builder, loc, type);
  Value zero = arith::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(0));
  Value first = LLVM::InsertElementOp::create(builder, loc, poison, element, zero);
  SmallVector<int32_t> zeros(lanes, 0);
  return LLVM::ShuffleVectorOp::create(builder, loc, first, poison, zeros);
}

Value VectorBuilder::laneNumbers(int64_t lanes) const {
  if (lanes == 1) {
    return constant(0);
  }
  SmallVector<int64_t> numbers = llvm::to_vector(llvm::seq<int64_t>(0, lanes));
  auto type = cast<VectorType>(vectorOf(i64(), lanes));
  return arith::ConstantOp::create(builder, loc, DenseElementsAttr::get(type, ArrayRef(numbers)));
}

Value VectorBuilder::firstLanes(Value count, int64_t lanes) const {
  // 32 bits, so that one register holds the numbers of 16 lanes.
  SmallVector<int32_t> numbers =
      llvm::to_vector(llvm::seq<int32_t>(0, static_cast<int32_t>(lanes)));
  Value narrow = arith::TruncIOp::create(builder, loc, builder.getI32Type(), count);
  auto type = cast<VectorType>(vectorOf(builder.getI32Type(), lanes));
  Value numbered =
      arith::ConstantOp::create(builder, loc, DenseElementsAttr::get(type, ArrayRef(numbers)));
  return compare(arith::CmpIPredicate::slt, numbered, splat(narrow, lanes));
}

Value VectorBuilder::maskAnd(Value a, Value b) const {
  if (!a || !b) {
    return a ? a : b;
  }
  return arith::AndIOp::create(builder, loc, a, b);
}

Value VectorBuilder::maskBits(Value mask, int64_t lanes) const {
  Type i32 = builder.getI32Type();
  if (!mask) {
    return arith::ConstantOp::create(builder, loc,
                                     builder.getI32IntegerAttr((int64_t(1) << lanes) - 1));
  }
  if (lanes > 1) {
    mask = LLVM::BitcastOp::create(builder, loc, builder.getIntegerType(lanes), mask);
  }
  return arith::ExtUIOp::create(builder, loc, i32, mask);
}

Value VectorBuilder::toMask(Value stored) const {
  Value zero = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(stored.getType()));
  return compare(arith::CmpIPredicate::ne, stored, zero);
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

Value VectorBuilder::advance(Value pointer, Value bytes) const {
  auto vector = dyn_cast<VectorType>(bytes.getType());
  Type type = vector ? Type(VectorType::get(vector.getShape(), pointerType())) : pointerType();
  return LLVM::GEPOp::create(builder, loc, type, builder.getI8Type(), pointer,
                             ArrayRef<LLVM::GEPArg>{bytes});
}

static Value atOffset(const VectorBuilder &build, Value pointer, int64_t offset) {
  if (offset == 0) {
    return pointer;
  }
  return LLVM::GEPOp::create(build.builder, build.loc, build.pointerType(),
                             build.builder.getI8Type(), pointer,
                             ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(offset)});
}

Value VectorBuilder::loadScalar(Type type, Value pointer, int64_t offset) const {
  return LLVM::LoadOp::create(builder, loc, type, atOffset(*this, pointer, offset));
}

void VectorBuilder::storeScalar(Value value, Value pointer, int64_t offset) const {
  LLVM::StoreOp::create(builder, loc, value, atOffset(*this, pointer, offset));
}

Value VectorBuilder::loadContiguous(DType dtype, Value pointer, const Lanes &lanes) const {
  Type type = vectorOf(elementOf(dtype), lanes.count);
  unsigned alignment = tracert::dtypeSize(dtype);
  if (!lanes.active) {
    return LLVM::LoadOp::create(builder, loc, type, pointer, alignment);
  }
  Value zero = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
  return LLVM::MaskedLoadOp::create(builder, loc, type, pointer, lanes.active, zero,
                                    builder.getI32IntegerAttr(alignment));
}

void VectorBuilder::storeContiguous(DType dtype, Value value, Value pointer,
                                    const Lanes &lanes) const {
  unsigned alignment = tracert::dtypeSize(dtype);
  if (!lanes.active) {
    LLVM::StoreOp::create(builder, loc, value, pointer, alignment);
    return;
  }
  LLVM::MaskedStoreOp::create(builder, loc, value, pointer, lanes.active,
                              builder.getI32IntegerAttr(alignment));
}

static Value allTrue(const VectorBuilder &build, int64_t lanes) {
  auto type = VectorType::get({lanes}, build.builder.getI1Type());
  return arith::ConstantOp::create(build.builder, build.loc, DenseElementsAttr::get(type, true));
}

Value VectorBuilder::loadOffsets(DType dtype, Value pointer, Value offsets, const Lanes &lanes,
                                 Value safePointer) const {
  Type type = vectorOf(elementOf(dtype), lanes.count);
  unsigned alignment = tracert::dtypeSize(dtype);
  Value addresses = advance(pointer, offsets);
  Value active = lanes.active;
  // Without an instruction a masked gather becomes a branch per lane: read somewhere safe instead.
  bool hasGatherInstruction = lanes.count > 1 && tracert::dtypeSize(dtype) >= 4;
  if (active && !hasGatherInstruction) {
    addresses =
        LLVM::SelectOp::create(builder, loc, active, addresses, splat(safePointer, lanes.count));
    active = Value();
  }
  if (lanes.count == 1) {
    return LLVM::LoadOp::create(builder, loc, type, addresses, alignment);
  }
  if (!active) {
    active = allTrue(*this, lanes.count);
  }
  Value zero = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
  return LLVM::masked_gather::create(builder, loc, type, addresses, active, ValueRange{zero},
                                     builder.getI32IntegerAttr(alignment));
}

void VectorBuilder::storeOffsets(DType dtype, Value value, Value pointer, Value offsets,
                                 const Lanes &lanes) const {
  unsigned alignment = tracert::dtypeSize(dtype);
  Value addresses = advance(pointer, offsets);
  if (lanes.count == 1) {
    LLVM::StoreOp::create(builder, loc, value, addresses, alignment);
    return;
  }
  Value active = lanes.active ? lanes.active : allTrue(*this, lanes.count);
  LLVM::masked_scatter::create(builder, loc, value, addresses, active,
                               builder.getI32IntegerAttr(alignment));
}

Value VectorBuilder::spill(Value value) const {
  Value slot;
  {
    // In the entry block, so that it becomes registers and never grows the stack in a loop.
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(entry);
    Value one = arith::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(1));
    slot = LLVM::AllocaOp::create(builder, loc, pointerType(), value.getType(), one,
                                  /*alignment=*/128);
  }
  LLVM::StoreOp::create(builder, loc, value, slot);
  return slot;
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

Value VectorBuilder::call(StringRef name, Type result, ValueRange arguments) const {
  auto callee = module.lookupSymbol<LLVM::LLVMFuncOp>(name);
  if (!callee) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToEnd(module.getBody());
    Type returned = result ? result : LLVM::LLVMVoidType::get(builder.getContext());
    SmallVector<Type> types(arguments.getTypes());
    callee =
        LLVM::LLVMFuncOp::create(builder, loc, name, LLVM::LLVMFunctionType::get(returned, types));
  }
  auto made = LLVM::CallOp::create(builder, loc, callee, arguments);
  return result ? made.getResult() : Value();
}

Value VectorBuilder::callScalar(StringRef op, DType dtype, ValueRange operands, DType result,
                                int64_t lanes) const {
  std::string name = ("tcs_" + op + "_" + llvm::StringRef(tracert::dtypeShortName(dtype)) + "_v" +
                      llvm::Twine(lanes))
                         .str();
  return call(name, vectorOf(elementOf(result), lanes), operands);
}

Value VectorBuilder::cast(Value value, DType from, DType to, int64_t lanes) const {
  if (from == to) {
    return value;
  }
  std::string op = "cast_" + std::string(tracert::dtypeShortName(from));
  return callScalar(op, to, value, to, lanes);
}

} // namespace tracec
