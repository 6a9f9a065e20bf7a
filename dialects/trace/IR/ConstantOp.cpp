#include "trace/IR/OpBridge.h"

using namespace mlir;

namespace tracec::trace {

ParseResult ConstantOp::parse(OpAsmParser &parser, OperationState &result) {
  Properties &properties = result.getOrAddProperties<Properties>();
  Type type;
  if (succeeded(parser.parseOptionalKeyword("external"))) {
    int64_t index = 0;
    if (parser.parseInteger(index) || parser.parseOptionalAttrDict(result.attributes) ||
        parser.parseColonType(type)) {
      return failure();
    }
    properties.index = parser.getBuilder().getI64IntegerAttr(index);
  } else {
    ElementsAttr value;
    SMLoc loc = parser.getCurrentLocation();
    if (parser.parseAttribute(value) || parser.parseOptionalAttrDict(result.attributes)) {
      return parser.emitError(loc, "expected 'external' or an elements attribute");
    }
    properties.value = value;
    type = value.getType();
  }
  result.addTypes(type);
  return success();
}

void ConstantOp::print(OpAsmPrinter &printer) {
  if (std::optional<uint64_t> index = getIndex()) {
    printer << " external " << *index;
    printer.printOptionalAttrDict((*this)->getDiscardableAttrDictionary().getValue());
    printer << " : " << getType();
    return;
  }
  printer << ' ' << getValueAttr();
  printer.printOptionalAttrDict((*this)->getDiscardableAttrDictionary().getValue());
}

LogicalResult ConstantOp::verify() {
  if (getValueAttr() && getIndexAttr()) {
    return emitOpError("has both a value and an external index");
  }
  if (getIndexAttr()) {
    int64_t index = getIndexAttr().getInt();
    if (index < 0) {
      return emitOpError() << "external index " << index << " is negative";
    }
    if (!getType().hasStaticShape()) {
      return emitOpError() << "has a dynamic shape " << getType();
    }
    return success();
  }
  if (!getValueAttr()) {
    return emitOpError("has neither a value nor an external index");
  }
  if (getValueAttr().getType() != getType()) {
    return emitOpError() << "value is " << getValueAttr().getType() << ", result is " << getType();
  }
  return success();
}

} // namespace tracec::trace
