/// What the compiler knows about sizes and strides: for every value, its dims and byte strides as
/// expressions, made by the ops' own type and view rules.
///
///   SizeAnalysis sizes(function);
///   if (sizes.sameShape(a, b)) { ... }           // equal in every call: may change what runs
///   if (sizes.domainOf(a) == sizes.domainOf(b))  // equal unless an op between fails: chooses code
///
/// Each dynamic size of an input is a symbol, the count of each mask another. Symbols that meet in
/// a broadcast become one: the program refuses calls in which they differ, at its door (unless its
/// symbols are given). No op is named here; a comparison that symbols do not decide gives a symbol
/// or a broadcast of its own, and the executor checks it. Recorded sizes are hints of expressions:
/// they say which of the sizes that meet are alike, never what is true. Linear in ops.
#pragma once

#include "trace/IR/OpBridge.h"
#include "trace/Transforms/SymbolicMath.h"
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
/// Argument attribute: per axis the number of its symbol, or -1 for a static size.
inline constexpr llvm::StringLiteral kSymbolsAttr = "trace.symbols";
/// Function attribute: the door compares only sizes that came with one symbol, whatever meets.
inline constexpr llvm::StringLiteral kGivenSymbolsAttr = "trace.symbols_given";
/// Function attribute: per symbol its only size, or -1.
inline constexpr llvm::StringLiteral kFixedSizesAttr = "trace.fixed_sizes";

class SizeAnalysis {
public:
  explicit SizeAnalysis(mlir::func::FuncOp function);

  /// Adds an op that a pass has created; its operands are known.
  void add(mlir::Operation *op);

  llvm::ArrayRef<DimExpr> of(mlir::Value value) const;
  /// In every call that the door lets in, whatever the ops find.
  bool sameShape(mlir::Value a, mlir::Value b) const { return of(a) == of(b); }
  /// Whether a call that the door lets in can make the op fail: by its type rule, by an index, or
  /// by a count.
  bool canFail(mlir::Operation *op) const;
  /// The same for an op of whose operands nothing is known but the types.
  static bool canFailForSomeSizes(mlir::Operation *op);

  /// The dims, with one expression for those that are alike unless an op fails or a size is 1 that
  /// was not when recorded. A kernel over them may have to be replaced by its ops.
  llvm::SmallVector<DimExpr> domainOf(mlir::Value value) const;
  /// Predicted to lie in row-major order without gaps.
  bool isContiguous(mlir::Value value) const;
  /// Class of the stride of `value` along `axis` of a domain of `rank` axes that it broadcasts
  /// onto.
  tracert::InnerStride strideClass(mlir::Value value, unsigned rank, unsigned axis) const;

  /// The symbol of an argument's axis, one number for all that are equal; static sizes have none.
  std::optional<unsigned> symbolOf(mlir::BlockArgument argument, unsigned axis) const;
  /// A symbol that met a static size can have only that size.
  std::optional<int64_t> fixedSize(unsigned symbol) const;

private:
  /// Whether symbols have become one, so that expressions of them must be made anew.
  bool run(mlir::func::FuncOp function);
  void addArgument(mlir::func::FuncOp function, mlir::BlockArgument argument);
  void addConstant(ConstantOp constant);
  SymbolicOperand operandOf(mlir::Value value);
  /// Bytes.
  const DimShape &stridesOf(mlir::Value value) const;
  DimShape orderedStrides(mlir::Value value) const;
  DimShape viewStrides(mlir::Operation *view) const;
  DimExpr countOf(mlir::Value mask);
  void note(mlir::Operation *op, const RuleFindings &findings);
  void meetAtDoor(DimExpr a, DimExpr b);
  void uniteDomains(DimExpr a, DimExpr b);
  DimExpr domainOf(DimExpr dim) const;

  /// Sizes of inputs, by number. The others of a class point to its first.
  struct InputSymbol {
    unsigned parent;
    std::optional<int64_t> fixed;
  };
  unsigned rootOf(unsigned input) const;

  bool hasGivenSymbols;
  std::vector<InputSymbol> inputs;
  llvm::DenseMap<std::pair<mlir::Value, unsigned>, unsigned> inputOfAxis;
  bool hasMerged = false;

  std::unique_ptr<DimTable> table;
  /// Of each input symbol's root; and back.
  llvm::DenseMap<unsigned, DimExpr> exprOfInput;
  llvm::DenseMap<unsigned, unsigned> inputOfSymbol;
  llvm::DenseMap<mlir::Value, DimShape> values;
  /// Made when somebody asks.
  mutable llvm::DenseMap<mlir::Value, DimShape> strides;
  llvm::DenseMap<mlir::Value, DimExpr> sizeValues, counts;
  llvm::DenseSet<mlir::Operation *> failing;
  llvm::DenseMap<const DimNode *, DimExpr> domainParents;
};

} // namespace tracec::trace
