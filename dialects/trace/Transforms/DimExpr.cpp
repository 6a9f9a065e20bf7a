#include "trace/Transforms/DimNode.h"

#include "tracert/IndexMath.h"

#include "llvm/ADT/STLExtras.h"

#include <numeric>

using tracert::IndexItem;
using tracert::rules::Truth;

namespace tracec::trace {

namespace {

// Beyond these a sum or a product is an atom of its own.
constexpr size_t kMostTerms = 24;
constexpr size_t kMostFactors = 12;
constexpr int64_t kSmallNumbers = 64;

bool isBefore(const Factors &a, const Factors &b) {
  return std::lexicographical_compare(
      a.begin(), a.end(), b.begin(), b.end(),
      [](const DimNode *x, const DimNode *y) { return x->number < y->number; });
}

/// Adds `term` to terms that are sorted; false when a factor does not fit.
bool addTerm(llvm::SmallVectorImpl<Term> &terms, const Term &term) {
  auto *place = llvm::lower_bound(
      terms, term, [](const Term &a, const Term &b) { return isBefore(a.factors, b.factors); });
  if (place == terms.end() || place->factors != term.factors) {
    terms.insert(place, term);
    return true;
  }
  std::optional<int64_t> sum = sumOf(place->coefficient, term.coefficient);
  if (!sum) {
    return false;
  }
  place->coefficient = *sum;
  if (*sum == 0) {
    terms.erase(place);
  }
  return true;
}

/// `a` without the factors of `b`; nullopt unless they are all there.
std::optional<Factors> without(const Factors &a, const Factors &b) {
  Factors rest = a;
  for (const DimNode *factor : b) {
    auto *found = llvm::find(rest, factor);
    if (found == rest.end()) {
      return std::nullopt;
    }
    rest.erase(found);
  }
  return rest;
}

Factors joined(const Factors &a, const Factors &b) {
  Factors result(a);
  result.append(b);
  llvm::sort(result, [](const DimNode *x, const DimNode *y) { return x->number < y->number; });
  return result;
}

} // namespace

std::optional<int64_t> DimExpr::number() const {
  return node->sum.terms.empty() ? std::optional(node->sum.constant) : std::nullopt;
}
std::optional<unsigned> DimExpr::symbol() const {
  bool isSymbol = node->isAtom && node->kind() == AtomKind::Symbol;
  return isSymbol ? std::optional(static_cast<unsigned>(node->key[1])) : std::nullopt;
}
std::optional<int64_t> DimExpr::hint() const { return node->hint; }
bool DimExpr::hasCount() const { return node->hasCount; }

DimTable::DimTable() {
  for (int64_t value = 0; value < kSmallNumbers; ++value) {
    smallNumbers.push_back(intern({value, {}}));
  }
}
DimTable::~DimTable() = default;

//===----------------------------------------------------------------------===//
// Making expressions
//===----------------------------------------------------------------------===//

DimNode *DimTable::newNode() {
  nodes.push_back(std::make_unique<DimNode>());
  nodes.back()->number = nodes.size();
  return nodes.back().get();
}

DimExpr DimTable::intern(Sum sum) {
  if (sum.constant == 0 && sum.terms.size() == 1 && sum.terms[0].coefficient == 1 &&
      sum.terms[0].factors.size() == 1) {
    return DimExpr(sum.terms[0].factors[0]);
  }
  llvm::FoldingSetNodeID id;
  DimNode::profileSum(id, sum);
  void *place = nullptr;
  if (DimNode *found = sums.FindNodeOrInsertPos(id, place)) {
    return DimExpr(found);
  }
  DimNode *node = newNode();
  node->hint = node->lower = sum.constant;
  for (const Term &term : sum.terms) {
    std::optional<int64_t> hint = term.coefficient, lower = term.coefficient;
    for (const DimNode *factor : term.factors) {
      hint = productOf(hint, factor->hint);
      bool isBounded = term.coefficient > 0 && factor->lower >= 0;
      lower = isBounded ? productOf(lower, factor->lower) : std::nullopt;
      node->hasCount |= factor->hasCount;
    }
    node->hint = sumOf(node->hint, hint);
    bool isBounded = node->lower != kNoBound && lower;
    node->lower = isBounded ? sumOf(node->lower, lower).value_or(kNoBound) : kNoBound;
  }
  node->sum = std::move(sum);
  sums.InsertNode(node, place);
  return DimExpr(node);
}

/// The expression of one atom, a node that also is the sum of just itself.
DimExpr DimTable::atom(llvm::ArrayRef<int64_t> numbers, llvm::ArrayRef<DimExpr> operands,
                       int64_t lower) {
  llvm::FoldingSetNodeID id;
  DimNode::profileAtom(id, numbers, operands);
  void *place = nullptr;
  if (DimNode *found = atoms.FindNodeOrInsertPos(id, place)) {
    return DimExpr(found);
  }
  DimNode *node = newNode();
  node->isAtom = true;
  node->key.assign(numbers.begin(), numbers.end());
  node->operands.assign(operands.begin(), operands.end());
  node->lower = lower;
  node->sum.terms.push_back({1, {node}});
  atoms.InsertNode(node, place);
  DimExpr expr(node);
  if (node->kind() == AtomKind::Symbol) {
    node->hint = symbols.back().hint;
    node->hasCount = symbols.back().isCount;
    return expr;
  }
  node->hasCount = llvm::any_of(operands, [](DimExpr operand) { return operand.hasCount(); });
  llvm::SmallVector<int64_t, 4> hints;
  for (DimExpr operand : operands) {
    if (std::optional<int64_t> hint = operand.hint()) {
      hints.push_back(*hint);
    }
  }
  node->hint = hints.size() == operands.size() ? atomValue(*node, hints) : std::nullopt;
  return expr;
}

DimExpr DimTable::number(int64_t value) {
  return value >= 0 && value < kSmallNumbers ? smallNumbers[static_cast<size_t>(value)]
                                             : intern({value, {}});
}

DimExpr DimTable::symbol(const DimSymbol &symbol) {
  symbols.push_back(symbol);
  return atom({static_cast<int64_t>(AtomKind::Symbol), static_cast<int64_t>(symbols.size() - 1)},
              {}, symbol.isSize ? 0 : kNoBound);
}

DimExpr DimTable::asSize(DimExpr expr) {
  DimNode *node = nodes[expr.get()->number - 1].get();
  node->lower = std::max<int64_t>(node->lower, 0);
  return expr;
}

DimExpr DimTable::add(DimExpr a, DimExpr b) {
  if (a.isNumber(0) || b.isNumber(0)) {
    return a.isNumber(0) ? b : a;
  }
  Sum sum = a.get()->sum;
  std::optional<int64_t> constant = sumOf(sum.constant, b.get()->sum.constant);
  bool fits = constant.has_value();
  sum.constant = constant.value_or(0);
  for (const Term &term : b.get()->sum.terms) {
    fits = fits && addTerm(sum.terms, term);
  }
  if (fits && sum.terms.size() <= kMostTerms) {
    return intern(std::move(sum));
  }
  bool areSizes = a.get()->lower >= 0 && b.get()->lower >= 0;
  return atom({static_cast<int64_t>(AtomKind::Added)}, {a, b}, areSizes ? 0 : kNoBound);
}

DimExpr DimTable::multiply(DimExpr a, DimExpr b) {
  if (a.isNumber(1) || b.isNumber(1)) {
    return a.isNumber(1) ? b : a;
  }
  // w * (t / w), where the quotient has no rest.
  for (auto [x, y] : {std::pair(a, b), std::pair(b, a)}) {
    if (x.get()->isAtom && x.get()->kind() == AtomKind::Quotient && x.get()->operands[1] == y) {
      return x.get()->operands[0];
    }
  }
  auto termsOf = [](DimExpr expr) {
    llvm::SmallVector<Term, 2> terms = expr.get()->sum.terms;
    if (expr.get()->sum.constant != 0) {
      terms.insert(terms.begin(), {expr.get()->sum.constant, {}});
    }
    return terms;
  };
  Sum sum;
  bool fits = true;
  for (const Term &x : termsOf(a)) {
    for (const Term &y : termsOf(b)) {
      std::optional<int64_t> coefficient = productOf(x.coefficient, y.coefficient);
      fits = fits && coefficient && x.factors.size() + y.factors.size() <= kMostFactors &&
             sum.terms.size() <= kMostTerms;
      if (!fits) {
        break;
      }
      if (x.factors.empty() && y.factors.empty()) {
        sum.constant = *coefficient;
      } else {
        fits = addTerm(sum.terms, {*coefficient, joined(x.factors, y.factors)});
      }
    }
  }
  if (fits && sum.terms.size() <= kMostTerms) {
    return intern(std::move(sum));
  }
  if (a.get()->number > b.get()->number) {
    std::swap(a, b);
  }
  bool areSizes = a.get()->lower >= 0 && b.get()->lower >= 0;
  return atom({static_cast<int64_t>(AtomKind::Multiplied)}, {a, b}, areSizes ? 0 : kNoBound);
}

DimExpr DimTable::clamp(DimExpr a) {
  if (isAtLeast(a, 0) == Truth::Yes) {
    return a;
  }
  if (std::optional<int64_t> value = a.number()) {
    return number(std::max<int64_t>(*value, 0));
  }
  if (isAtLeast(negate(a), 0) == Truth::Yes) {
    return number(0);
  }
  // max(max(e, 0) - c, 0) is max(e - c, 0).
  const Sum &sum = a.get()->sum;
  if (sum.constant <= 0 && sum.terms.size() == 1 && sum.terms[0].coefficient == 1 &&
      sum.terms[0].factors.size() == 1 && sum.terms[0].factors[0]->kind() == AtomKind::Clamp) {
    return clamp(add(sum.terms[0].factors[0]->operands[0], number(sum.constant)));
  }
  return atom({static_cast<int64_t>(AtomKind::Clamp)}, {a}, std::max<int64_t>(a.get()->lower, 0));
}

DimExpr DimTable::broadcast(DimExpr a, DimExpr b) {
  llvm::SmallVector<DimExpr, 4> parts;
  for (DimExpr side : {a, b}) {
    bool isBroadcast = side.get()->isAtom && side.get()->kind() == AtomKind::Broadcast;
    llvm::ArrayRef<DimExpr> own = isBroadcast ? llvm::ArrayRef(side.get()->operands) : side;
    parts.append(own.begin(), own.end());
  }
  llvm::sort(parts, [](DimExpr x, DimExpr y) { return x.get()->number < y.get()->number; });
  parts.erase(llvm::unique(parts), parts.end());
  if (parts.size() == 1 || parts.size() > kMostTerms) {
    return parts.size() == 1 ? parts[0] : symbol({});
  }
  int64_t lower = INT64_MAX;
  for (DimExpr part : parts) {
    lower = std::min(lower, part.get()->lower);
  }
  return atom({static_cast<int64_t>(AtomKind::Broadcast)}, parts, std::max<int64_t>(lower, 0));
}

std::optional<DimExpr> DimTable::divided(DimExpr a, DimExpr b) {
  const Sum &by = b.get()->sum;
  if (a == b) {
    return number(1);
  }
  bool isNumber = by.terms.empty() && by.constant != 0;
  bool isProduct = by.terms.size() == 1 && by.constant == 0;
  if ((!isNumber && !isProduct) || (isProduct && a.get()->sum.constant != 0)) {
    return std::nullopt;
  }
  int64_t coefficient = isNumber ? by.constant : by.terms[0].coefficient;
  Factors factors = isNumber ? Factors() : by.terms[0].factors;
  if (coefficient == -1 || a.get()->sum.constant % coefficient != 0) {
    return std::nullopt;
  }
  Sum result;
  result.constant = a.get()->sum.constant / coefficient;
  for (const Term &term : a.get()->sum.terms) {
    std::optional<Factors> rest = without(term.factors, factors);
    if (!rest || term.coefficient % coefficient != 0) {
      return std::nullopt;
    }
    if (rest->empty()) {
      result.constant += term.coefficient / coefficient;
    } else {
      result.terms.push_back({term.coefficient / coefficient, *rest});
    }
  }
  llvm::sort(result.terms,
             [](const Term &x, const Term &y) { return isBefore(x.factors, y.factors); });
  return intern(std::move(result));
}

DimExpr DimTable::quotient(DimExpr a, DimExpr b) {
  if (std::optional<DimExpr> exact = divided(a, b)) {
    return *exact;
  }
  return atom({static_cast<int64_t>(AtomKind::Quotient)}, {a, b}, 0);
}

//===----------------------------------------------------------------------===//
// Slices
//===----------------------------------------------------------------------===//

DimExpr DimTable::ceilDivided(DimExpr length, int64_t step) {
  if (std::optional<DimExpr> exact = divided(length, number(step))) {
    return *exact;
  }
  if (std::optional<int64_t> value = length.number()) {
    return number((*value - 1) / step + 1);
  }
  return atom({static_cast<int64_t>(AtomKind::CeilDivided), step}, {length}, 0);
}

/// As resolveSlice does it: bounds below 0 count from the end, and both are kept inside the axis.
std::optional<DimExpr> DimTable::simplifiedSlice(const IndexItem &item, DimExpr begin, DimExpr end,
                                                 DimExpr size) {
  bool hasBegin = item.hasBegin || item.beginIsOperand;
  bool hasEnd = item.hasEnd || item.endIsOperand;
  if (item.step < 0) {
    return hasBegin || hasEnd || item.step == INT64_MIN
               ? std::nullopt
               : std::optional(ceilDivided(size, -item.step));
  }
  auto isFromEnd = [&](DimExpr bound) { return isAtLeast(negate(bound), 1); };
  Truth isBeginFromEnd = hasBegin ? isFromEnd(begin) : Truth::No;
  Truth isEndFromEnd = hasEnd ? isFromEnd(end) : Truth::No;
  bool isBeginKnown =
      isBeginFromEnd == Truth::Yes || !hasBegin || isAtLeast(begin, 0) == Truth::Yes;
  bool isEndKnown = isEndFromEnd == Truth::Yes || !hasEnd || isAtLeast(end, 0) == Truth::Yes;
  if (!isBeginKnown || !isEndKnown) {
    return std::nullopt;
  }
  bool beginsFromEnd = isBeginFromEnd == Truth::Yes, endsFromEnd = isEndFromEnd == Truth::Yes;
  DimExpr length;
  if (!beginsFromEnd && (endsFromEnd || !hasEnd)) {
    // From the front to the end, or short of it.
    DimExpr trimmed = endsFromEnd ? add(size, end) : size;
    length = clamp(hasBegin ? subtract(trimmed, begin) : trimmed);
  } else {
    DimExpr first = !hasBegin       ? number(0)
                    : beginsFromEnd ? clamp(add(size, begin))
                                    : smaller(begin, size);
    DimExpr last = !hasEnd ? size : endsFromEnd ? clamp(add(size, end)) : smaller(end, size);
    bool bothFromOneSide = beginsFromEnd == endsFromEnd && hasEnd && hasBegin;
    bool isOrdered = !hasBegin || !hasEnd ||
                     (bothFromOneSide && isAtLeast(subtract(end, begin), 0) == Truth::Yes);
    length = subtract(last, first);
    length = isOrdered ? asSize(length) : clamp(length);
  }
  return item.step == 1 ? length : ceilDivided(length, item.step);
}

DimExpr DimTable::sliced(const IndexItem &item, DimExpr begin, DimExpr end, DimExpr size) {
  std::optional<int64_t> beginNumber = begin.number(), endNumber = end.number();
  if (std::optional<int64_t> known = size.number(); known && beginNumber && endNumber) {
    return number(tracert::resolveSlice(item, *beginNumber, *endNumber, *known).count);
  }
  if (std::optional<DimExpr> simple = simplifiedSlice(item, begin, end, size)) {
    return *simple;
  }
  return atom({static_cast<int64_t>(AtomKind::Slice), item.hasBegin || item.beginIsOperand,
               item.hasEnd || item.endIsOperand, item.step},
              {begin, end, size}, 0);
}

//===----------------------------------------------------------------------===//
// Asking
//===----------------------------------------------------------------------===//

Truth DimTable::isAtLeast(DimExpr a, int64_t bound) const {
  if (std::optional<int64_t> value = a.number()) {
    return tracert::rules::truthOf(*value >= bound);
  }
  return a.get()->lower != kNoBound && a.get()->lower >= bound ? Truth::Yes : Truth::Undecided;
}

Truth DimTable::equal(DimExpr a, DimExpr b) {
  if (a == b) {
    return Truth::Yes;
  }
  if (std::optional<int64_t> value = b.number()) {
    bool isAbove = *value < INT64_MAX && isAtLeast(a, *value + 1) == Truth::Yes;
    if (isAbove || a.number()) {
      return Truth::No;
    }
  }
  if (a.number()) {
    return equal(b, a);
  }
  DimExpr difference = subtract(a, b);
  const Sum &sum = difference.get()->sum;
  bool isOneSided =
      isAtLeast(difference, 1) == Truth::Yes || isAtLeast(negate(difference), 1) == Truth::Yes;
  int64_t divisor = 0;
  for (const Term &term : sum.terms) {
    divisor = term.coefficient == INT64_MIN ? 1 : std::gcd(divisor, term.coefficient);
  }
  bool neverMeets = divisor == 0 ? sum.constant != 0 : sum.constant % divisor != 0;
  return isOneSided || neverMeets ? Truth::No : Truth::Undecided;
}

} // namespace tracec::trace
