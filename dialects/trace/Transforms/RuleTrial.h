/// Asks an op's type rule what is true for every size: the rule runs on numbers in place of the
/// symbolic sizes.
///
///   RuleTrial trial(op, sizes);
///   if (trial.canFail()) { ... }              // some sizes or some data are an error
///   if (auto dim = trial.resultDim(0, 1)) ... // a size that the result has for every call
///
/// Sizes that differ get distinct primes, in several rounds, so that what holds in all of them
/// holds as an identity of the sizes; what an empty axis breaks shows with each size 0 in turn.
#pragma once

#include "trace/Transforms/SymbolicSizes.h"

namespace tracec::trace {

class RuleTrial {
public:
  RuleTrial(mlir::Operation *op, const SymbolicSizes &sizes);
  /// For an op of a function of whose sizes nothing is known.
  explicit RuleTrial(mlir::Operation *op);

  /// Whether the op can be an error in a call that the program's door lets in, whatever has been
  /// proven of its sizes: by its type rule, by an index, or by a count.
  bool canFail() const;
  /// The one symbolic size of the operands that the axis of the result always has.
  std::optional<SymbolicDim> resultDim(unsigned result, unsigned axis) const;

private:
  static constexpr unsigned kRounds = 3;
  /// Numbers of the symbols, and of the size operands that are data.
  using Numbers = llvm::SmallVector<int64_t>;

  Numbers primes(unsigned round) const;
  tracert::Result<tracert::ResultTypes> infer(const Numbers &numbers) const;
  int64_t numberOf(SymbolicDim dim, const Numbers &numbers) const;
  void addSymbol(SymbolicDim dim);
  void addSizeOperands(const SymbolicSizes *sizes);

  mlir::Operation *op;
  std::optional<tracert::OpCall> call;
  llvm::SmallVector<llvm::SmallVector<SymbolicDim>> operandDims;
  llvm::SmallVector<SymbolicDim> symbols;
  /// Of the operands after the fixed ones: a size, or nothing for data.
  llvm::SmallVector<std::optional<SymbolicDim>> sizeOperands;
  unsigned numberCount = 0;
};

/// Whether a call that the door lets in can make the op fail, for what `sizes` proves.
inline bool canFail(mlir::Operation *op, const SymbolicSizes &sizes) {
  return RuleTrial(op, sizes).canFail();
}

} // namespace tracec::trace
