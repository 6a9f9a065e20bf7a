#include "trace/Transforms/SymbolicSizes.h"

#include "trace/Transforms/ComposeItems.h"
#include "trace/Transforms/RuleTrial.h"
#include "tracert/generated/OpAttrs.h"

using namespace mlir;
using tracert::IndexItem;
using tracert::IndexItemKind;

namespace tracec::trace {

SymbolicSizes::SymbolicSizes(func::FuncOp function)
    : hasGivenSymbols(function->hasAttr(kGivenSymbolsAttr)) {
  // Arguments that were given the same symbol before stay together.
  DenseMap<int64_t, SymbolicDim> named;
  for (BlockArgument argument : function.getArguments()) {
    auto type = cast<RankedTensorType>(argument.getType());
    auto names =
        function.getArgAttrOfType<DenseI64ArrayAttr>(argument.getArgNumber(), kSymbolsAttr);
    SmallVector<SymbolicDim> dims;
    for (auto [axis, size] : llvm::enumerate(type.getShape())) {
      if (!ShapedType::isDynamic(size)) {
        dims.push_back({-1, size});
        continue;
      }
      bool isNamed = names && names.size() == type.getRank() && names[axis] >= 0;
      if (isNamed && named.contains(names[axis])) {
        dims.push_back(named[names[axis]]);
        continue;
      }
      dims.push_back(fresh(/*isArgument=*/true));
      if (isNamed) {
        named[names[axis]] = dims.back();
      }
    }
    values[argument] = std::move(dims);
  }
  for (Operation &op : function.getBody().front()) {
    add(&op);
  }
}

SymbolicDim SymbolicSizes::fresh(bool isArgument) {
  int32_t symbol = symbols.size();
  symbols.push_back({symbol, isArgument, std::nullopt});
  return {symbol, 0};
}

SymbolicDim SymbolicSizes::find(SymbolicDim dim) const {
  while (dim.symbol >= 0 && symbols[dim.symbol].parent != dim.symbol) {
    dim.symbol = symbols[dim.symbol].parent;
  }
  return dim;
}

SmallVector<SymbolicDim> SymbolicSizes::of(Value value) const {
  SmallVector<SymbolicDim> dims = values.lookup(value);
  for (SymbolicDim &dim : dims) {
    dim = find(dim);
  }
  return dims;
}

void SymbolicSizes::unify(SymbolicDim a, SymbolicDim b) {
  if (hasGivenSymbols || isDerived(a) || isDerived(b)) {
    return;
  }
  a = find(a);
  b = find(b);
  if (a == b || a.isStatic()) {
    std::swap(a, b);
  }
  // Only what can be checked at the door: whole argument sizes.
  if (a == b || a.isStatic() || a.offset != 0 || !symbols[a.symbol].isArgument) {
    return;
  }
  if (b.isStatic()) {
    if (b.offset > 1 && !symbols[a.symbol].fixed) {
      symbols[a.symbol].fixed = b.offset;
    }
    return;
  }
  if (b.offset != 0 || !symbols[b.symbol].isArgument) {
    return;
  }
  symbols[b.symbol].parent = a.symbol;
  if (!symbols[a.symbol].fixed) {
    symbols[a.symbol].fixed = symbols[b.symbol].fixed;
  }
}

SymbolicDim SymbolicSizes::sliced(SymbolicDim dim, const IndexItem &item) {
  if (isFullSlice(item)) {
    return dim;
  }
  bool isTrim = item.step == 1 && !item.beginIsOperand && !item.endIsOperand &&
                (!item.hasBegin || item.begin >= 0) && (!item.hasEnd || item.end < 0);
  if (!isTrim || dim.isStatic()) {
    return fresh(false);
  }
  dim.offset += (item.hasEnd ? item.end : 0) - (item.hasBegin ? item.begin : 0);
  return dim;
}

SymbolicDim SymbolicSizes::pointwiseDim(Operation *op, unsigned fromEnd) {
  std::optional<SymbolicDim> joined;
  for (Value operand : op->getOperands()) {
    SmallVector<SymbolicDim> dims = values.lookup(operand);
    if (fromEnd > dims.size()) {
      continue;
    }
    SymbolicDim dim = dims[dims.size() - fromEnd];
    if (dim == SymbolicDim{-1, 1}) {
      continue;
    }
    if (joined) {
      unify(*joined, dim);
      if (find(*joined) != find(dim)) {
        return fresh(false);
      }
    }
    joined = joined && isDerived(*joined) ? joined : dim;
  }
  return joined ? *joined : fresh(false);
}

/// What the op's type rule says, whatever the op.
SymbolicDim SymbolicSizes::dimByRule(Operation *op, unsigned result, unsigned axis) {
  std::optional<SymbolicDim> dim = RuleTrial(op, *this).resultDim(result, axis);
  if (!dim) {
    return fresh(false);
  }
  SymbolicDim derived = fresh(false);
  symbols[derived.symbol].parent = dim->symbol;
  symbols[derived.symbol].isDerived = true;
  return {derived.symbol, dim->offset};
}

SymbolicDim SymbolicSizes::resultDim(Operation *op, unsigned result, unsigned axis) {
  const tracert::OpInfo &info = *opInfoOf(op);
  unsigned rank = cast<RankedTensorType>(op->getResult(result).getType()).getRank();
  if (info.isPointwise()) {
    return pointwiseDim(op, rank - axis);
  }
  if (auto permute = dyn_cast<PermuteOp>(op)) {
    return values.lookup(op->getOperand(0))[permute.getAxes()[axis]];
  }
  if (info.family == tracert::OpFamily::Compress) {
    auto [entry, isNew] = countSymbols.try_emplace(op->getOperand(0), -1);
    if (isNew) {
      entry->second = fresh(false).symbol;
    }
    return {entry->second, 0};
  }
  return indexItemsOf(op) ? indexedDim(op, result, axis) : dimByRule(op, result, axis);
}

/// Axes of a read in which every advanced item is one mask or absent.
SymbolicDim SymbolicSizes::indexedDim(Operation *op, unsigned result, unsigned axis) {
  if (hasTrait(op, tracert::kTraitSet)) {
    return values.lookup(op->getOperand(0))[axis];
  }
  unsigned source = 0, produced = 0, operand = fixedOperandCount(op);
  tracert::IndexItems items = indexItemsOf(op).toItems();
  if (items.advancedFirst) {
    return dimByRule(op, result, axis);
  }
  for (const IndexItem &item : items.items) {
    operand += item.beginIsOperand + item.endIsOperand;
    switch (item.kind) {
    case IndexItemKind::Int:
      ++source;
      break;
    case IndexItemKind::NewAxis:
      ++produced;
      break;
    case IndexItemKind::Slice:
      if (produced++ == axis) {
        return sliced(values.lookup(op->getOperand(0))[source], item);
      }
      ++source;
      break;
    case IndexItemKind::IntArray:
      return dimByRule(op, result, axis);
    case IndexItemKind::Mask: {
      if (items.items.size() > 1 && llvm::count_if(items.items, [](const IndexItem &other) {
                                      return other.kind != IndexItemKind::Slice;
                                    }) > 1) {
        return fresh(false);
      }
      if (produced++ == axis) {
        auto [entry, isNew] = countSymbols.try_emplace(op->getOperand(operand), -1);
        if (isNew) {
          entry->second = fresh(false).symbol;
        }
        return {entry->second, 0};
      }
      source += item.maskRank;
      ++operand;
      break;
    }
    }
  }
  return fresh(false);
}

void SymbolicSizes::add(Operation *op) {
  auto size = dyn_cast<AxisSizeOp>(op);
  if (size && size.getAxes().size() == 1) {
    sizeValues[size.getResult()] = values.lookup(op->getOperand(0))[size.getAxes()[0]];
  }
  for (auto [index, result] : llvm::enumerate(op->getResults())) {
    SmallVector<SymbolicDim> dims;
    for (auto [axis, size] : llvm::enumerate(cast<RankedTensorType>(result.getType()).getShape())) {
      if (opInfoOf(op) && opInfoOf(op)->isPointwise()) {
        // Static results too: a symbol may meet a static size here.
        SymbolicDim dim = resultDim(op, index, axis);
        dims.push_back(ShapedType::isDynamic(size) ? dim : SymbolicDim{-1, size});
      } else if (!ShapedType::isDynamic(size)) {
        dims.push_back({-1, size});
      } else {
        dims.push_back(opInfoOf(op) ? resultDim(op, index, axis) : fresh(false));
      }
    }
    values[result] = std::move(dims);
  }
}

std::optional<SymbolicDim> SymbolicSizes::sizeValueOf(Value value) const {
  auto found = sizeValues.find(value);
  return found == sizeValues.end() ? std::nullopt : std::optional(find(found->second));
}

int32_t SymbolicSizes::argumentSymbol(BlockArgument argument, unsigned axis) const {
  return of(argument)[axis].symbol;
}

std::optional<int64_t> SymbolicSizes::fixedSize(int32_t symbol) const {
  return symbols[symbol].fixed;
}

} // namespace tracec::trace
