#include "RandomCall.h"

#include "ops/IndexWalk.h"

#include <algorithm>
#include <numeric>

using namespace tracert;

namespace tracec::trace::test {

void RandomCall::make(OpKind kind) {
  const OpInfo &info = opInfo(kind);
  call.kind = kind;
  for (int i = 0; i < 3; ++i) {
    symbols.push_back(table.symbol({}));
  }
  DType dtype = someDType(info);
  size_t fixed = info.operandCount < 0 ? 1 + below(3) : static_cast<size_t>(info.operandCount);
  DimShape shape = someShape(chance(10) ? 0 : 1 + below(3));
  for (size_t i = 0; i < fixed; ++i) {
    addOperand(i == 0 && chance(30) ? DType::Bool : dtype, i == 0 ? shape : relatedShape(shape));
  }
  for (int i = 0; i < info.attrCount; ++i) {
    call.attrs.push_back(someAttr(info.attrs[i], dtype));
  }
  addExtras();
  symbolCount = table.symbolCount();
}

DimExpr RandomCall::someDim() { return chance(60) ? symbols[below(3)] : table.number(below(4)); }

DimShape RandomCall::someShape(size_t rank) {
  DimShape shape;
  for (size_t axis = 0; axis < rank; ++axis) {
    shape.push_back(someDim());
  }
  return shape;
}

/// The same shape, broadcast-compatible, with another axis, or something else.
DimShape RandomCall::relatedShape(const DimShape &shape) {
  DimShape related(shape.begin() + (chance(20) ? below(1 + shape.size()) : 0), shape.end());
  for (DimExpr &dim : related) {
    dim = chance(15) ? table.number(1) : chance(15) ? someDim() : dim;
  }
  if (related.size() > 1 && chance(10)) {
    std::swap(related.front(), related.back());
  }
  return related;
}

DType RandomCall::someDType(const OpInfo &info) {
  std::vector<DType> allowed;
  for (DType dtype : kAllDTypes) {
    if ((info.dtypes >> static_cast<unsigned>(dtype)) & 1u) {
      allowed.push_back(dtype);
    }
  }
  bool takesInt64 = std::find(allowed.begin(), allowed.end(), DType::Int64) != allowed.end();
  return takesInt64 && chance(50) ? DType::Int64 : allowed[below(allowed.size())];
}

AttrValue RandomCall::someAttr(const AttrSpec &spec, DType dtype) {
  switch (spec.kind) {
  case AttrKind::Int:
    return AttrValue::integer(below(2));
  case AttrKind::Bool:
    return AttrValue::boolean(chance(50));
  case AttrKind::DType:
    return AttrValue::dtype(kAllDTypes[below(std::size(kAllDTypes))]);
  case AttrKind::Ints:
    return AttrValue::ints(someInts(spec.isShape));
  case AttrKind::Scalar:
    return AttrValue::scalar(Scalar{dtype, 1});
  case AttrKind::Float:
    return AttrValue::number(0.5);
  case AttrKind::String:
    return AttrValue::text(std::string(spec.values.substr(0, spec.values.find('|'))));
  case AttrKind::Index:
    return someIndex();
  }
  return {};
}

/// Axes, ascending or in any order, or sizes.
Dims RandomCall::someInts(bool isShape) {
  size_t rank = operands.empty() ? 1 : operands[0].type.rank();
  Dims ints;
  switch (below(3)) {
  case 0:
    for (size_t axis = 0; axis < rank; ++axis) {
      if (chance(60)) {
        ints.push_back(static_cast<int64_t>(axis));
      }
    }
    return ints;
  case 1:
    ints.resize(rank);
    std::iota(ints.begin(), ints.end(), 0);
    std::shuffle(ints.begin(), ints.end(), engine);
    return ints;
  default:
    for (int64_t i = below(4); i >= 0; --i) {
      ints.push_back(isShape && chance(60) ? kFromOperand : chance(40) ? -1 : below(5));
    }
    return ints;
  }
}

AttrValue RandomCall::someIndex() {
  auto items = std::make_shared<IndexItems>();
  auto maybeBound = [&](bool &has, bool &isOperand, int64_t &bound) {
    has = chance(50);
    isOperand = has && chance(25);
    bound = has && !isOperand ? below(9) - 4 : 0;
  };
  size_t left = operands[0].type.rank();
  bool isBasic = chance(50);
  while (left > 0 || chance(15)) {
    IndexItem item;
    int64_t choice = below(isBasic ? 7 : 10);
    size_t used = 1;
    if (left == 0 || choice == 0) {
      item.kind = IndexItemKind::NewAxis;
      used = 0;
    } else if (choice < 6) {
      maybeBound(item.hasBegin, item.beginIsOperand, item.begin);
      maybeBound(item.hasEnd, item.endIsOperand, item.end);
      item.step = chance(60) ? 1 : chance(50) ? 1 + below(3) : -1 - below(3);
    } else if (choice == 6) {
      item.kind = IndexItemKind::Int;
      item.beginIsOperand = chance(30);
      item.begin = item.beginIsOperand ? 0 : below(5) - 2;
    } else if (choice == 7) {
      item.kind = IndexItemKind::IntArray;
    } else {
      item.kind = IndexItemKind::Mask;
      used = below(1 + std::min<size_t>(left, 2));
      item.maskRank = static_cast<uint8_t>(used);
    }
    items->items.push_back(item);
    left -= used;
  }
  items->advancedFirst = chance(20);
  return AttrValue::index(std::move(items));
}

/// A number that a program would compute a shape with.
DimExpr RandomCall::someSize() {
  switch (below(5)) {
  case 0:
    return table.number(below(6) - 1);
  case 1: {
    DimExpr product = table.number(1);
    for (DimExpr dim : operands.empty() ? DimShape() : operands[0].type.shape) {
      product = table.multiply(product, dim);
    }
    return product;
  }
  case 2:
    return table.add(symbols[below(3)], table.number(below(3) - 1));
  case 3:
    return table.symbol({.isSize = false});
  default:
    return symbols[below(3)];
  }
}

void RandomCall::addOperand(DType dtype, DimShape shape) {
  SymbolicOperand operand{{dtype, std::move(shape)}};
  if (dtype == DType::Bool) {
    operand.count = table.symbol({.isCount = true});
  } else if (operand.type.rank() == 0 && isInteger(dtype)) {
    operand.sizeValue = table.symbol({.isSize = false});
  }
  operands.push_back(std::move(operand));
}

void RandomCall::addNumber(DimExpr value) { operands.push_back({{DType::Int64, {}}, value}); }

void RandomCall::addExtras() {
  DimShape indexed = operands.empty() ? DimShape() : operands[0].type.shape;
  DimShape arrayShape = someShape(below(3));
  for (const AttrValue &attr : call.attrs) {
    if (attr.kind() == AttrKind::Ints) {
      for (int64_t entry : attr.asInts()) {
        if (entry == kFromOperand) {
          addNumber(someSize());
        }
      }
    }
    if (attr.kind() != AttrKind::Index) {
      continue;
    }
    for (ItemPlace place : IndexWalk(attr.asIndex())) {
      for (int i = place.item.beginIsOperand + place.item.endIsOperand; i > 0; --i) {
        addNumber(someSize());
      }
      if (place.item.kind == IndexItemKind::IntArray) {
        addOperand(DType::Int64, relatedShape(arrayShape));
      } else if (place.item.kind == IndexItemKind::Mask) {
        DimShape mask(indexed.begin() + place.axis,
                      indexed.begin() + place.axis + place.item.maskRank);
        addOperand(DType::Bool, chance(80) ? mask : relatedShape(mask));
      }
    }
  }
}

Values RandomCall::randomValues() {
  static constexpr int64_t sizes[] = {0, 1, 2, 3, 4, 6, 12};
  Values values;
  for (size_t i = 0; i < symbolCount; ++i) {
    int64_t size = sizes[below(std::size(sizes))];
    values.push_back(table.symbolOf(static_cast<unsigned>(i)).isSize || chance(60) ? size : -size);
  }
  return values;
}

std::optional<int64_t> RandomCall::evaluate(DimExpr dim, const Values &values) {
  return DimTable::evaluate(dim, [&](unsigned symbol) {
    return symbol < values.size() ? std::optional(values[symbol]) : std::nullopt;
  });
}

std::vector<OperandInfo> RandomCall::numbersFor(const Values &values) const {
  std::vector<OperandInfo> numbers;
  for (const SymbolicOperand &operand : operands) {
    OperandInfo info{{operand.type.dtype, {}}};
    for (DimExpr dim : operand.type.shape) {
      info.type.shape.push_back(*evaluate(dim, values));
    }
    if (operand.sizeValue) {
      info.sizeValue = evaluate(*operand.sizeValue, values);
    }
    numbers.push_back(std::move(info));
  }
  return numbers;
}

std::vector<int64_t> RandomCall::countsFor(const Values &values) const {
  std::vector<int64_t> counts;
  bool isIndexed = !call.attrs.empty() && call.attrs[0].kind() == AttrKind::Index;
  if (!isIndexed) {
    return {operands[0].count ? *evaluate(*operands[0].count, values) : 0};
  }
  size_t fixed = static_cast<size_t>(call.info().operandCount);
  for (ItemPlace place : IndexWalk(call.attrs[0].asIndex())) {
    if (place.item.kind == IndexItemKind::Mask) {
      counts.push_back(*evaluate(*operands[fixed + place.operand].count, values));
    }
  }
  return counts;
}

} // namespace tracec::trace::test
