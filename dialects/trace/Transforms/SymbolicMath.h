/// The math that gives a type rule symbols in place of numbers (see ops/rules/DimMath.h).
///
///   SymbolicMath math(table, findings);
///   auto types = tracert::rules::familyTypes(math, call, operands);
///   if (findings.canFail) { ... }     // for some sizes the rule is an error
///
/// What symbols cannot decide passes, and is noted: the executor runs the rule again on numbers.
#pragma once

#include "trace/Transforms/DimExpr.h"

#include "llvm/ADT/SmallVector.h"

namespace tracec::trace {

struct SymbolicType {
  tracert::DType dtype = tracert::DType::Float32;
  DimShape shape;

  size_t rank() const { return shape.size(); }
  std::string str() const { return std::string(tracert::dtypeName(dtype)); }
};

struct SymbolicOperand {
  SymbolicType type;
  /// Of an integer of rank 0.
  std::optional<DimExpr> sizeValue = std::nullopt;
  /// How many elements of a mask are true.
  std::optional<DimExpr> count = std::nullopt;
};

/// What a rule took for granted.
struct RuleFindings {
  /// Some sizes make the op an error.
  bool canFail = false;
  /// Sizes that are equal in every call in which the op is no error...
  llvm::SmallVector<std::pair<DimExpr, DimExpr>> equal;
  /// ...and those that met in a broadcast, so that one of them may also be 1.
  llvm::SmallVector<std::pair<DimExpr, DimExpr>> met;
};

class SymbolicMath {
public:
  using Dim = DimExpr;
  using Shape = DimShape;
  using Type = SymbolicType;
  using Operand = SymbolicOperand;
  using Types = std::vector<SymbolicType>;
  using Truth = tracert::rules::Truth;

  SymbolicMath(DimTable &table, RuleFindings &findings) : table(table), findings(findings) {}

  Dim number(int64_t size) const { return table.number(size); }
  Dim unknown() const { return table.symbol({}); }

  Truth equal(Dim a, Dim b) const { return table.equal(a, b); }
  bool refuses(Truth holds) const {
    findings.canFail |= holds == Truth::Undecided;
    return holds == Truth::No;
  }
  bool refusesEqual(Dim a, Dim b) const {
    Truth isEqual = equal(a, b);
    if (isEqual == Truth::Undecided) {
      findings.equal.push_back({a, b});
    }
    return refuses(isEqual);
  }
  bool refusesRepeat(Dim from, Dim to) const {
    if (from.isNumber(1)) {
      return false;
    }
    Truth isEqual = equal(from, to);
    if (isEqual == Truth::Undecided) {
      findings.met.push_back({from, to});
    }
    bool mayBeOne = equal(from, number(1)) != Truth::No;
    return refuses(isEqual == Truth::No && mayBeOne ? Truth::Undecided : isEqual);
  }

  std::optional<Dim> broadcast(Dim a, Dim b) const {
    if (a == b || b.isNumber(1)) {
      return a;
    }
    if (a.isNumber(1)) {
      return b;
    }
    Dim one = number(1);
    bool isOneA = equal(a, one) != Truth::No, isOneB = equal(b, one) != Truth::No;
    if (equal(a, b) == Truth::No && !isOneA && !isOneB) {
      return std::nullopt;
    }
    findings.canFail = true;
    findings.met.push_back({a, b});
    // The other one is 1 or the same.
    if (!isOneA || !isOneB) {
      bool takesB = isOneA || (!isOneB && !a.number() && b.number());
      return takesB ? b : a;
    }
    return table.broadcast(a, b);
  }
  Dim either(Dim a, Dim b) const { return b.number() ? b : a; }
  std::optional<Dim> sum(Dim a, Dim b) const { return table.add(a, b); }
  Dim difference(Dim a, Dim b) const { return table.subtract(a, b); }
  Dim larger(Dim a, Dim b) const { return table.larger(a, b); }
  Dim smaller(Dim a, Dim b) const { return table.smaller(a, b); }
  std::optional<Dim> product(std::span<const Dim> dims) const {
    Dim result = number(1);
    for (Dim dim : dims) {
      result = table.multiply(result, dim);
    }
    return result;
  }
  std::optional<Dim> quotient(Dim a, Dim b) const {
    std::optional<Dim> exact = table.divided(a, b);
    if (exact) {
      return exact;
    }
    if (a.number() && b.number()) {
      return std::nullopt;
    }
    findings.canFail = true;
    return table.quotient(a, b);
  }
  Dim sliced(const tracert::IndexItem &item, std::optional<Dim> begin, std::optional<Dim> end,
             Dim size) const {
    return begin && end ? table.sliced(item, *begin, *end, size) : unknown();
  }
  Truth isPosition(std::optional<Dim> position, Dim size) const {
    if (!position) {
      return Truth::Undecided;
    }
    std::optional<int64_t> number = position->number();
    if (!number) {
      return Truth::Undecided;
    }
    int64_t wanted = *number < 0 ? -*number : *number + 1;
    return size.number() ? tracert::rules::truthOf(*size.number() >= wanted)
                         : table.isAtLeast(size, wanted);
  }
  Dim count(const Operand &mask, size_t) const { return mask.count ? *mask.count : unknown(); }
  tracert::Status checkCounts(const tracert::OpCall &, size_t) const { return {}; }

  Truth valueEquals(Dim value, int64_t number) const {
    return table.equal(value, table.number(number));
  }
  Truth isNegative(Dim value) const { return !table.isAtLeast(value, 0); }

  Dim times(Dim a, Dim b) const { return table.multiply(a, b); }
  Dim stepped(Dim stride, int64_t step) const { return times(stride, number(step)); }
  Truth isSameStride(Dim a, Dim b) const { return equal(a, b); }
  Truth isBelow(Dim a, Dim b) const {
    if (a.number() && b.number()) {
      return tracert::rules::truthOf(*a.number() < *b.number());
    }
    // Of sizes that are no numbers: the one that is made of the other.
    if (table.divided(b, a)) {
      return Truth::Yes;
    }
    return table.divided(a, b) ? Truth::No : Truth::Undecided;
  }

  /// Guards ask for what is true of one call.
  tracert::Status checkGuard(const tracert::OpCall &, std::span<const Operand>) const {
    findings.canFail = true;
    return {};
  }
  tracert::Status checkLimits(const tracert::OpCall &, const Type &) const { return {}; }
  std::string text(Dim dim) const { return DimTable::text(dim); }
  std::string text(const Shape &shape) const {
    std::string result = "(";
    for (Dim dim : shape) {
      result += text(dim) + ",";
    }
    return result + ")";
  }
  std::string denseText(const Shape &shape) const { return text(shape); }
  std::string countText(const Shape &) const { return ""; }

private:
  DimTable &table;
  RuleFindings &findings;
};

} // namespace tracec::trace
