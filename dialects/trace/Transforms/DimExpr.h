/// Sizes as expressions of symbols, in one normal form.
///
///   DimTable table;
///   DimExpr n = table.symbol({});
///   table.clamp(table.add(n, table.number(-2)))    // max(n - 2, 0): what x[2:] has
///   table.equal(a, b)                              // Yes, No, or for some sizes only: Undecided
///
/// Equal expressions are one object, so `==` compares pointers and a shape is a small vector of
/// them. An expression is a sum of products of atoms with integer factors; an atom is a symbol or
/// what sums and products do not say: max(e, 0), a broadcast, a quotient, a slice with an odd step.
/// Sums that grow without end become atoms too, so the work per op has a bound. Arithmetic is that
/// of integers: a program whose sizes do not fit int64 has no such tensor.
///
/// Every expression has a hint, its value for the recorded sizes, as far as those are known. Hints
/// choose code; nothing here decides anything by one.
#pragma once

#include "ops/rules/DimMath.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/FoldingSet.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tracec::trace {

struct DimNode;

class DimExpr {
public:
  DimExpr() = default;
  explicit DimExpr(const DimNode *node) : node(node) {}

  /// The number that it is for every call, if it is one.
  std::optional<int64_t> number() const;
  bool isNumber(int64_t value) const { return number() == value; }
  /// The symbol that it is, if it is just one.
  std::optional<unsigned> symbol() const;
  /// The value for the recorded sizes.
  std::optional<int64_t> hint() const;
  /// Whether it hangs on the count of a mask.
  bool hasCount() const;
  const DimNode *get() const { return node; }

  friend bool operator==(DimExpr, DimExpr) = default;

private:
  const DimNode *node = nullptr;
};

using DimShape = tracert::InlineVector<DimExpr, 6>;

struct DimSymbol {
  /// A size; else a number of either sign.
  bool isSize = true;
  /// A whole size of an input, which the program's door can check.
  bool isInput = false;
  bool isCount = false;
  std::optional<int64_t> hint = std::nullopt;
};

class DimTable {
public:
  using Truth = tracert::rules::Truth;

  DimTable();
  ~DimTable();
  DimTable(const DimTable &) = delete;
  DimTable &operator=(const DimTable &) = delete;

  DimExpr number(int64_t value);
  /// A new symbol; they are numbered from 0.
  DimExpr symbol(const DimSymbol &symbol);
  const DimSymbol &symbolOf(unsigned number) const { return symbols[number]; }
  size_t symbolCount() const { return symbols.size(); }

  DimExpr add(DimExpr a, DimExpr b);
  DimExpr negate(DimExpr a) { return multiply(a, number(-1)); }
  DimExpr subtract(DimExpr a, DimExpr b) { return add(a, negate(b)); }
  DimExpr multiply(DimExpr a, DimExpr b);
  /// max(a, 0)
  DimExpr clamp(DimExpr a);
  /// The larger of two numbers, and the smaller.
  DimExpr larger(DimExpr a, DimExpr b) { return add(b, clamp(subtract(a, b))); }
  DimExpr smaller(DimExpr a, DimExpr b) { return subtract(b, clamp(subtract(b, a))); }
  /// What two sizes that may be 1 give together.
  DimExpr broadcast(DimExpr a, DimExpr b);
  /// a / b when that is known to have no rest for every size.
  std::optional<DimExpr> divided(DimExpr a, DimExpr b);
  /// a / b, where a call with a rest is an error.
  DimExpr quotient(DimExpr a, DimExpr b);
  /// How many elements a slice takes from an axis.
  DimExpr sliced(const tracert::IndexItem &item, DimExpr begin, DimExpr end, DimExpr size);

  Truth equal(DimExpr a, DimExpr b);
  Truth isAtLeast(DimExpr a, int64_t bound) const;

  /// The value when each symbol has the value that `of` gives; nullopt when that is nullopt, or
  /// when a quotient has a rest.
  using SymbolValues = llvm::function_ref<std::optional<int64_t>(unsigned)>;
  static std::optional<int64_t> evaluate(DimExpr expr, SymbolValues of);
  /// "max(n0 - 2, 0)" for messages and dumps.
  static std::string text(DimExpr expr);

  size_t size() const { return nodes.size(); }

private:
  friend struct DimNode;
  struct Sum;

  DimExpr intern(Sum sum);
  /// `numbers`: the kind, and what else makes the atom what it is.
  DimExpr atom(llvm::ArrayRef<int64_t> numbers, llvm::ArrayRef<DimExpr> operands, int64_t lower);
  DimNode *newNode();
  std::optional<DimExpr> simplifiedSlice(const tracert::IndexItem &item, DimExpr begin, DimExpr end,
                                         DimExpr size);
  DimExpr ceilDivided(DimExpr length, int64_t step);
  /// Notes that the expression is never negative.
  DimExpr asSize(DimExpr expr);

  std::vector<DimSymbol> symbols;
  std::vector<std::unique_ptr<DimNode>> nodes;
  llvm::FoldingSet<DimNode> sums, atoms;
  /// The first numbers, which most sizes and strides are.
  std::vector<DimExpr> smallNumbers;
};

} // namespace tracec::trace
