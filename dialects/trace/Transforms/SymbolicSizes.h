/// Sizes that are equal for every call: each dynamic size of an input is a symbol, and a slice of
/// it a symbol plus a number.
///
///   SymbolicSizes sizes(function);
///   if (sizes.sameShape(a, b)) { ... }        // never a guess, unlike SizeAnalysis
///
/// Symbols that meet in a broadcast become one: the program refuses calls in which they differ, at
/// its door (unless its symbols are given). Linear in ops.
#pragma once

#include "trace/IR/OpBridge.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tracec::trace {

/// Argument attribute: per axis the number of its symbol, or -1 for a static size.
inline constexpr llvm::StringLiteral kSymbolsAttr = "trace.symbols";
/// Function attribute: the door compares only sizes that came with one symbol, whatever meets.
inline constexpr llvm::StringLiteral kGivenSymbolsAttr = "trace.symbols_given";
/// Function attribute: per symbol its only size, or -1.
inline constexpr llvm::StringLiteral kFixedSizesAttr = "trace.fixed_sizes";

/// max(0, size of symbol + offset), or just `offset` when there is no symbol.
struct SymbolicDim {
  int32_t symbol = -1;
  int64_t offset = 0;

  bool isStatic() const { return symbol < 0; }
  friend bool operator==(const SymbolicDim &, const SymbolicDim &) = default;
};

class SymbolicSizes {
public:
  explicit SymbolicSizes(mlir::func::FuncOp function);

  void add(mlir::Operation *op);
  llvm::SmallVector<SymbolicDim> of(mlir::Value value) const;
  /// The size that a rank-0 operand is the number of, if it is one.
  std::optional<SymbolicDim> sizeValueOf(mlir::Value value) const;
  bool sameShape(mlir::Value a, mlir::Value b) const { return of(a) == of(b); }

  /// The symbol of an argument's axis after merging, or -1.
  int32_t argumentSymbol(mlir::BlockArgument argument, unsigned axis) const;
  /// A symbol that met a static size can have only that size.
  std::optional<int64_t> fixedSize(int32_t symbol) const;

private:
  SymbolicDim find(SymbolicDim dim) const;
  void unify(SymbolicDim a, SymbolicDim b);
  SymbolicDim fresh(bool isArgument);
  SymbolicDim sliced(SymbolicDim dim, const tracert::IndexItem &item);
  SymbolicDim resultDim(mlir::Operation *op, unsigned result, unsigned axis);
  SymbolicDim pointwiseDim(mlir::Operation *op, unsigned fromEnd);
  SymbolicDim indexedDim(mlir::Operation *op, unsigned result, unsigned axis);
  SymbolicDim dimByRule(mlir::Operation *op, unsigned result, unsigned axis);
  bool isDerived(SymbolicDim dim) const { return !dim.isStatic() && symbols[dim.symbol].isDerived; }

  struct Symbol {
    int32_t parent;
    bool isArgument;
    std::optional<int64_t> fixed;
    /// Equal to its parent by an op's type rule; the door checks nothing for its sake.
    bool isDerived = false;
  };
  bool hasGivenSymbols;
  std::vector<Symbol> symbols;
  llvm::DenseMap<mlir::Value, llvm::SmallVector<SymbolicDim>> values;
  /// By the result of an op that gives a size.
  llvm::DenseMap<mlir::Value, SymbolicDim> sizeValues;
  /// Counts by mask.
  llvm::DenseMap<mlir::Value, int32_t> countSymbols;
};

} // namespace tracec::trace
