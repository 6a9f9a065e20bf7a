// Values and texts of expressions of sizes.
#include "trace/Transforms/DimNode.h"

#include "tracert/IndexMath.h"

#include "llvm/ADT/STLExtras.h"

using tracert::IndexItem;

namespace tracec::trace {

std::optional<int64_t> atomValue(const DimNode &atom, llvm::ArrayRef<int64_t> values) {
  switch (atom.kind()) {
  case AtomKind::Symbol:
    return std::nullopt;
  case AtomKind::Clamp:
    return std::max<int64_t>(values[0], 0);
  case AtomKind::Broadcast: {
    // All that are not 1 are equal, or the call is an error.
    const int64_t *found = llvm::find_if(values, [](int64_t value) { return value != 1; });
    return found == values.end() ? 1 : *found;
  }
  case AtomKind::Quotient:
    return values[1] != 0 && values[0] % values[1] == 0 ? std::optional(values[0] / values[1])
                                                        : std::nullopt;
  case AtomKind::CeilDivided:
    return values[0] <= 0 ? 0 : (values[0] - 1) / atom.key[1] + 1;
  case AtomKind::Slice: {
    IndexItem item;
    item.hasBegin = atom.key[1];
    item.hasEnd = atom.key[2];
    item.step = atom.key[3];
    return tracert::resolveSlice(item, values[0], values[1], values[2]).count;
  }
  case AtomKind::Added:
    return sumOf(values[0], values[1]);
  case AtomKind::Multiplied:
    return productOf(values[0], values[1]);
  }
  return std::nullopt;
}

namespace {

std::optional<int64_t> valueOf(const DimNode &node, DimTable::SymbolValues of) {
  if (node.isAtom) {
    if (node.kind() == AtomKind::Symbol) {
      return of(static_cast<unsigned>(node.key[1]));
    }
    llvm::SmallVector<int64_t, 4> values;
    for (DimExpr operand : node.operands) {
      std::optional<int64_t> value = valueOf(*operand.get(), of);
      if (!value) {
        return std::nullopt;
      }
      values.push_back(*value);
    }
    return atomValue(node, values);
  }
  std::optional<int64_t> total = node.sum.constant;
  for (const Term &term : node.sum.terms) {
    std::optional<int64_t> product = term.coefficient;
    for (const DimNode *factor : term.factors) {
      product = productOf(product, valueOf(*factor, of));
    }
    total = sumOf(total, product);
  }
  return total;
}

std::string atomText(const DimNode &atom) {
  auto operand = [&](size_t i) { return DimTable::text(atom.operands[i]); };
  switch (atom.kind()) {
  case AtomKind::Symbol:
    return "n" + std::to_string(atom.key[1]);
  case AtomKind::Clamp:
    return "max(" + operand(0) + ", 0)";
  case AtomKind::CeilDivided:
    return "ceil(" + operand(0) + " / " + std::to_string(atom.key[1]) + ")";
  case AtomKind::Broadcast:
  case AtomKind::Quotient:
  case AtomKind::Slice:
  case AtomKind::Added:
  case AtomKind::Multiplied:
    break;
  }
  static constexpr const char *names[] = {"", "",      "broadcast", "quotient",
                                          "", "slice", "sum",       "product"};
  std::string text = names[atom.key[0]];
  for (size_t i = 0; i < atom.operands.size(); ++i) {
    text += (i == 0 ? "(" : ", ") + operand(i);
  }
  return text + ")";
}

} // namespace

std::optional<int64_t> DimTable::evaluate(DimExpr expr, SymbolValues of) {
  return valueOf(*expr.get(), of);
}

std::string DimTable::text(DimExpr expr) {
  const DimNode &node = *expr.get();
  std::string result;
  for (const Term &term : node.sum.terms) {
    result += result.empty() ? "" : " + ";
    result += term.coefficient == 1 ? "" : std::to_string(term.coefficient) + " ";
    for (size_t i = 0; i < term.factors.size(); ++i) {
      result += (i > 0 ? " " : "") + atomText(*term.factors[i]);
    }
  }
  if (result.empty() || node.sum.constant != 0) {
    result += (result.empty() ? "" : " + ") + std::to_string(node.sum.constant);
  }
  return result;
}

} // namespace tracec::trace
