/// VectorBuilder: the instructions that kernels are made of, for `lanes` lanes of a dtype.
///
///   VectorBuilder build(builder, loc, module);
///   Value x = build.load(DType::Float32, pointer, step, lanes);
///   Value y = build.callScalar("exp", DType::Float32, {x}, DType::Float32, lanes.count);
///
/// Values of a dtype are in stored form: integers as they are, bool as i8, a narrow float as its
/// bits. One lane is the element itself. Masks are i1 per lane.
#pragma once

#include "tracert/DType.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"

namespace tracec {

/// The lanes that an operation works on.
struct Lanes {
  int64_t count = 1;
  /// i1 per lane; null when all are active.
  mlir::Value active;
};

class VectorBuilder {
public:
  VectorBuilder(mlir::OpBuilder &builder, mlir::Location loc, mlir::ModuleOp module,
                mlir::Block *entry)
      : builder(builder), loc(loc), module(module), entry(entry) {}

  mlir::OpBuilder &builder;
  mlir::Location loc;

  // Types.
  mlir::Type pointerType() const { return mlir::LLVM::LLVMPointerType::get(builder.getContext()); }
  mlir::Type i64() const { return builder.getI64Type(); }
  mlir::Type elementOf(tracert::DType dtype) const;
  mlir::Type vectorOf(mlir::Type element, int64_t lanes) const {
    return lanes == 1 ? element : mlir::VectorType::get({lanes}, element);
  }

  // Integers.
  mlir::Value constant(int64_t value) const;
  mlir::Value constantOf(tracert::DType dtype, mlir::TypedAttr value, int64_t lanes) const;
  /// Splat of a stored bit pattern.
  mlir::Value bitsOf(tracert::DType dtype, uint64_t bits, int64_t lanes) const;
  mlir::Value add(mlir::Value a, mlir::Value b) const;
  mlir::Value sub(mlir::Value a, mlir::Value b) const;
  mlir::Value mul(mlir::Value a, mlir::Value b) const;
  mlir::Value compare(mlir::arith::CmpIPredicate how, mlir::Value a, mlir::Value b) const;
  mlir::Value select(mlir::Value condition, mlir::Value a, mlir::Value b) const;
  /// Element to all lanes; returns it for one lane.
  mlir::Value splat(mlir::Value element, int64_t lanes) const;
  /// 0, 1, 2, ... as i64; 0 for one lane.
  mlir::Value laneNumbers(int64_t lanes) const;
  /// The mask of the first `count` (i64, at most `lanes`) lanes.
  mlir::Value firstLanes(mlir::Value count, int64_t lanes) const;
  /// Both or the one that is not null.
  mlir::Value maskAnd(mlir::Value a, mlir::Value b) const;
  /// Mask to an i32 with one bit per lane; of null: all bits.
  mlir::Value maskBits(mlir::Value mask, int64_t lanes) const;
  /// Stored bool to mask.
  mlir::Value toMask(mlir::Value stored) const;

  // Memory. Offsets are in bytes.
  mlir::Value advance(mlir::Value pointer, mlir::Value bytes) const;
  mlir::Value loadScalar(mlir::Type type, mlir::Value pointer, int64_t offset = 0) const;
  void storeScalar(mlir::Value value, mlir::Value pointer, int64_t offset = 0) const;
  mlir::Value loadContiguous(tracert::DType dtype, mlir::Value pointer, const Lanes &lanes) const;
  void storeContiguous(tracert::DType dtype, mlir::Value value, mlir::Value pointer,
                       const Lanes &lanes) const;
  /// One address per lane: pointer + offsets (i64 per lane). Inactive lanes are not touched.
  mlir::Value loadOffsets(tracert::DType dtype, mlir::Value pointer, mlir::Value offsets,
                          const Lanes &lanes, mlir::Value safePointer) const;
  void storeOffsets(tracert::DType dtype, mlir::Value value, mlir::Value pointer,
                    mlir::Value offsets, const Lanes &lanes) const;
  /// A stack slot holding `value`, for support functions that take vectors by pointer.
  mlir::Value spill(mlir::Value value) const;

  // Calls.
  mlir::Value call(llvm::StringRef name, mlir::Type result, mlir::ValueRange arguments) const;
  /// tcs_<op>_<dtype>_v<lanes>
  mlir::Value callScalar(llvm::StringRef op, tracert::DType dtype, mlir::ValueRange operands,
                         tracert::DType result, int64_t lanes) const;
  mlir::Value cast(mlir::Value value, tracert::DType from, tracert::DType to, int64_t lanes) const;

private:
  mutable mlir::ModuleOp module;
  mlir::Block *entry;
};

} // namespace tracec
