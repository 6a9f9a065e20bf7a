/// What an expression of sizes is made of; only for the files of DimTable.
#pragma once

#include "trace/Transforms/DimExpr.h"

namespace tracec::trace {

/// Of an expression of which no smallest value is known.
inline constexpr int64_t kNoBound = INT64_MIN;

enum class AtomKind : int64_t {
  Symbol,
  Clamp,
  Broadcast,
  Quotient,
  CeilDivided,
  Slice,
  Added,
  Multiplied
};

using Factors = llvm::SmallVector<const DimNode *, 2>;

struct Term {
  int64_t coefficient;
  /// Atoms, by number.
  Factors factors;
};

struct DimTable::Sum {
  int64_t constant = 0;
  llvm::SmallVector<Term, 2> terms;
};

/// A sum. One that is a single atom also is that atom.
struct DimNode : llvm::FoldingSetNode {
  unsigned number = 0;
  DimTable::Sum sum;
  /// Nothing smaller is possible.
  int64_t lower = kNoBound;
  std::optional<int64_t> hint;
  bool hasCount = false;
  bool isAtom = false;
  /// Of an atom: its kind, and the numbers that make it what it is.
  llvm::SmallVector<int64_t, 4> key;
  llvm::SmallVector<DimExpr, 2> operands;

  AtomKind kind() const { return static_cast<AtomKind>(key[0]); }
  // NOLINTNEXTLINE(readability-identifier-naming): FoldingSet asks for this name.
  void Profile(llvm::FoldingSetNodeID &id) const {
    if (isAtom) {
      profileAtom(id, key, operands);
    } else {
      profileSum(id, sum);
    }
  }
  static void profileSum(llvm::FoldingSetNodeID &id, const DimTable::Sum &sum) {
    id.AddInteger(sum.constant);
    for (const Term &term : sum.terms) {
      id.AddInteger(term.coefficient);
      id.AddInteger(static_cast<unsigned>(term.factors.size()));
      for (const DimNode *factor : term.factors) {
        id.AddInteger(factor->number);
      }
    }
  }
  static void profileAtom(llvm::FoldingSetNodeID &id, llvm::ArrayRef<int64_t> key,
                          llvm::ArrayRef<DimExpr> operands) {
    for (int64_t part : key) {
      id.AddInteger(part);
    }
    for (DimExpr operand : operands) {
      id.AddInteger(operand.get()->number);
    }
  }
};

inline std::optional<int64_t> sumOf(std::optional<int64_t> a, std::optional<int64_t> b) {
  int64_t result;
  return a && b && !__builtin_add_overflow(*a, *b, &result) ? std::optional(result) : std::nullopt;
}
inline std::optional<int64_t> productOf(std::optional<int64_t> a, std::optional<int64_t> b) {
  int64_t result;
  return a && b && !__builtin_mul_overflow(*a, *b, &result) ? std::optional(result) : std::nullopt;
}
/// The value of an atom, that is no symbol, for the values of its operands.
std::optional<int64_t> atomValue(const DimNode &atom, llvm::ArrayRef<int64_t> values);

} // namespace tracec::trace
