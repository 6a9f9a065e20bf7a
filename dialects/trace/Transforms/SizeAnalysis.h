/// What the compiler assumes about sizes and strides: every value's sizes as they were while
/// recording, counts as symbols, and the strides that the executor will most likely see.
///
///   SizeAnalysis sizes(function);
///   if (sizes.sameShape(a, b)) { ... }
///
/// Two dims with the same recorded size are taken to be equal. That is a hint, used to choose which
/// ops share a kernel and which stride class is compiled: the executor checks every call and runs
/// the ops one by one when a guess does not hold. Linear in ops.
#pragma once

#include "trace/IR/OpBridge.h"
#include "tracert/Program.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tracec::trace {

/// Name of the function argument attribute with the sizes seen while recording.
inline constexpr llvm::StringLiteral kRecordedShapeAttr = "trace.recorded_shape";
/// Argument attribute: "inner", only the last axis is predicted contiguous, or "any". Without it
/// the whole argument is.
inline constexpr llvm::StringLiteral kStridesAttr = "trace.strides";
/// Name of the argument's (and result's) name in the signature.
inline constexpr llvm::StringLiteral kNameAttr = "trace.name";

struct ValueSizes {
  /// A recorded size, or a symbol (negative). kUnrecorded is a symbol that equals only itself.
  llvm::SmallVector<int64_t> dims;
  /// Predicted byte strides; absent when dims or strides are unknown.
  std::optional<llvm::SmallVector<int64_t>> strides;
  /// Predicted to be contiguous, also when dims are not known.
  bool isContiguous = true;
  /// The number, for rank-0 integers that are known.
  std::optional<int64_t> sizeValue;
};

class SizeAnalysis {
public:
  /// The size of a dynamic function argument dim of which nothing is known.
  static constexpr int64_t kUnrecorded = -1;

  explicit SizeAnalysis(mlir::func::FuncOp function);

  const ValueSizes &of(mlir::Value value) const { return values.find(value)->second; }
  /// Adds an op that a pass has created; its operands are known.
  void add(mlir::Operation *op);

  bool sameShape(mlir::Value a, mlir::Value b) const { return of(a).dims == of(b).dims; }
  /// Whether the dim is the count of a mask (which may be 1 at run time) or computed from one.
  bool isCount(int64_t dim) const { return dim < kUnrecorded; }
  bool hasCount(mlir::Value value) const;

  /// Class of the stride of `value` along `axis` of a domain that it broadcasts onto.
  tracert::InnerStride strideClass(mlir::Value value, llvm::ArrayRef<int64_t> domain,
                                   unsigned axis) const;

private:
  void addValue(mlir::Value value, ValueSizes sizes);
  int64_t freshSymbol() { return nextSymbol--; }
  int64_t countSymbol(mlir::Value mask);
  int64_t unknownDim(mlir::Operation *op, unsigned result, unsigned axis, unsigned unknownCount);
  /// The dim of a read with one int array that comes from the array.
  std::optional<int64_t> dimOfIndexArray(mlir::Operation *op, unsigned axis) const;

  llvm::DenseMap<mlir::Value, ValueSizes> values;
  llvm::DenseMap<mlir::Value, int64_t> countSymbols;
  int64_t nextSymbol = kUnrecorded - 1;
};

} // namespace tracec::trace
