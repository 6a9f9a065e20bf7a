#include "trace/IR/TraceDialect.h"

#include "mlir/IR/DialectImplementation.h"

using namespace mlir;
using tracert::IndexItem;
using tracert::IndexItemKind;
using tracert::IndexItems;

namespace tracec::trace {

namespace {

// One item as integers: kind, flags, maskRank, begin, end, step.
constexpr size_t kFieldsPerItem = 6;
enum ItemFlag : int64_t { HasBegin = 1, HasEnd = 2, BeginIsOperand = 4, EndIsOperand = 8 };

/// `?` for an operand, a number for a literal; false if there is neither.
ParseResult parseBound(AsmParser &parser, bool &isGiven, bool &isOperand, int64_t &value) {
  if (succeeded(parser.parseOptionalQuestion())) {
    isGiven = isOperand = true;
    return success();
  }
  OptionalParseResult number = parser.parseOptionalInteger(value);
  isGiven = number.has_value();
  return number.has_value() ? *number : ParseResult(success());
}

ParseResult parseItem(AsmParser &parser, IndexItem &item) {
  StringRef keyword;
  if (succeeded(parser.parseOptionalKeyword(&keyword, {"newaxis", "array", "mask"}))) {
    if (keyword == "newaxis") {
      item.kind = IndexItemKind::NewAxis;
      return success();
    }
    if (keyword == "array") {
      item.kind = IndexItemKind::IntArray;
      return success();
    }
    item.kind = IndexItemKind::Mask;
    int64_t rank = 0;
    SMLoc loc = parser.getCurrentLocation();
    if (parser.parseLParen() || parser.parseInteger(rank) || parser.parseRParen()) {
      return failure();
    }
    if (rank < 0 || rank > static_cast<int64_t>(tracert::kMaxRank)) {
      return parser.emitError(loc)
             << "mask rank " << rank << " is not between 0 and " << tracert::kMaxRank;
    }
    item.maskRank = static_cast<uint8_t>(rank);
    return success();
  }
  if (parseBound(parser, item.hasBegin, item.beginIsOperand, item.begin)) {
    return failure();
  }
  if (failed(parser.parseOptionalColon())) {
    if (!item.hasBegin) {
      return parser.emitError(parser.getCurrentLocation(),
                              "expected an index item: a number, '?', a slice, newaxis, array or "
                              "mask(rank)");
    }
    item.kind = IndexItemKind::Int;
    item.hasBegin = false;
    return success();
  }
  item.kind = IndexItemKind::Slice;
  if (parseBound(parser, item.hasEnd, item.endIsOperand, item.end)) {
    return failure();
  }
  if (succeeded(parser.parseOptionalColon())) {
    SMLoc loc = parser.getCurrentLocation();
    if (parser.parseInteger(item.step)) {
      return failure();
    }
    if (item.step == 0) {
      return parser.emitError(loc, "slice step is 0");
    }
  }
  return success();
}

void printBound(AsmPrinter &printer, bool isOperand, int64_t value) {
  if (isOperand) {
    printer << '?';
  } else {
    printer << value;
  }
}

void printItem(AsmPrinter &printer, const IndexItem &item) {
  switch (item.kind) {
  case IndexItemKind::NewAxis:
    printer << "newaxis";
    return;
  case IndexItemKind::IntArray:
    printer << "array";
    return;
  case IndexItemKind::Mask:
    printer << "mask(" << static_cast<int>(item.maskRank) << ")";
    return;
  case IndexItemKind::Int:
    printBound(printer, item.beginIsOperand, item.begin);
    return;
  case IndexItemKind::Slice:
    if (item.hasBegin || item.beginIsOperand) {
      printBound(printer, item.beginIsOperand, item.begin);
    }
    printer << ':';
    if (item.hasEnd || item.endIsOperand) {
      printBound(printer, item.endIsOperand, item.end);
    }
    if (item.step != 1) {
      printer << ':' << item.step;
    }
    return;
  }
}

} // namespace

IndexItemsAttr IndexItemsAttr::get(MLIRContext *context, const IndexItems &items) {
  SmallVector<int64_t, 32> flat;
  for (const IndexItem &item : items.items) {
    int64_t flags = (item.hasBegin ? HasBegin : 0) | (item.hasEnd ? HasEnd : 0) |
                    (item.beginIsOperand ? BeginIsOperand : 0) |
                    (item.endIsOperand ? EndIsOperand : 0);
    flat.append(
        {static_cast<int64_t>(item.kind), flags, item.maskRank, item.begin, item.end, item.step});
  }
  return get(context, ArrayRef<int64_t>(flat), items.advancedFirst);
}

IndexItems IndexItemsAttr::toItems() const {
  IndexItems result;
  result.advancedFirst = getAdvancedFirst();
  ArrayRef<int64_t> flat = getFlat();
  for (size_t i = 0; i + kFieldsPerItem <= flat.size(); i += kFieldsPerItem) {
    IndexItem item;
    item.kind = static_cast<IndexItemKind>(flat[i]);
    item.hasBegin = flat[i + 1] & HasBegin;
    item.hasEnd = flat[i + 1] & HasEnd;
    item.beginIsOperand = flat[i + 1] & BeginIsOperand;
    item.endIsOperand = flat[i + 1] & EndIsOperand;
    item.maskRank = static_cast<uint8_t>(flat[i + 2]);
    item.begin = flat[i + 3];
    item.end = flat[i + 4];
    item.step = flat[i + 5];
    result.items.push_back(item);
  }
  return result;
}

Attribute IndexItemsAttr::parse(AsmParser &parser, Type) {
  IndexItems items;
  if (parser.parseLess() || parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
        IndexItem item;
        if (parseItem(parser, item)) {
          return failure();
        }
        items.items.push_back(item);
        return success();
      })) {
    return {};
  }
  if (succeeded(parser.parseOptionalComma())) {
    if (parser.parseKeyword("advanced_first")) {
      return {};
    }
    items.advancedFirst = true;
  }
  if (parser.parseGreater()) {
    return {};
  }
  return get(parser.getContext(), items);
}

void IndexItemsAttr::print(AsmPrinter &printer) const {
  printer << "<[";
  llvm::interleaveComma(toItems().items, printer.getStream(),
                        [&](const IndexItem &item) { printItem(printer, item); });
  printer << ']';
  if (getAdvancedFirst()) {
    printer << ", advanced_first";
  }
  printer << '>';
}

} // namespace tracec::trace
