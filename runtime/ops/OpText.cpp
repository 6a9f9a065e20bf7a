#include "tracert/Element.h"
#include "tracert/Op.h"

#include <cstdio>

namespace tracert {
namespace {

std::string floatString(double value, int digits) {
  char text[40];
  std::snprintf(text, sizeof(text), "%.*g", digits, value);
  return text;
}

std::string scalarString(const Scalar &scalar) {
  if (isBool(scalar.dtype)) {
    return scalar.bits ? "true" : "false";
  }
  if (isInteger(scalar.dtype)) {
    return integerText(&scalar.bits, scalar.dtype);
  }
  // As many digits as tell the dtype's numbers apart.
  int digits = 2 + (dtypeRecord(scalar.dtype).fractionBits + 1) * 30103 / 100000;
  return floatString(floatAt(&scalar.bits, scalar.dtype), digits);
}

std::string boundString(bool isGiven, bool isOperand, int64_t value) {
  return isOperand ? "operand" : isGiven ? std::to_string(value) : "";
}

std::string itemString(const IndexItem &item) {
  switch (item.kind) {
  case IndexItemKind::Int:
    return boundString(true, item.beginIsOperand, item.begin);
  case IndexItemKind::NewAxis:
    return "None";
  case IndexItemKind::IntArray:
    return "array";
  case IndexItemKind::Mask:
    return "mask" + std::to_string(item.maskRank);
  case IndexItemKind::Slice:
    break;
  }
  return boundString(item.hasBegin, item.beginIsOperand, item.begin) + ":" +
         boundString(item.hasEnd, item.endIsOperand, item.end) +
         (item.step == 1 ? "" : ":" + std::to_string(item.step));
}

std::string attrString(const AttrValue &attr) {
  std::string text;
  switch (attr.kind()) {
  case AttrKind::Int:
    return std::to_string(attr.asInt());
  case AttrKind::Bool:
    return attr.asBool() ? "true" : "false";
  case AttrKind::DType:
    return std::string(dtypeName(attr.asDType()));
  case AttrKind::Float:
    return floatString(attr.asNumber(), 17);
  case AttrKind::String:
    return '"' + attr.asText() + '"';
  case AttrKind::Scalar:
    return std::string(dtypeName(attr.asScalar().dtype)) + " " + scalarString(attr.asScalar());
  case AttrKind::Ints:
    for (int64_t entry : attr.asInts()) {
      text += text.empty() ? "" : ", ";
      text += entry == kFromOperand ? "operand" : std::to_string(entry);
    }
    return "[" + text + "]";
  case AttrKind::Index:
    if (!attr.sharedIndex()) {
      return "[]";
    }
    for (const IndexItem &item : attr.asIndex().items) {
      text += (text.empty() ? "" : ", ") + itemString(item);
    }
    return "[" + text + "]" + (attr.asIndex().advancedFirst ? " first" : "");
  }
  return text;
}

} // namespace

std::string opCallString(const OpCall &call) {
  const OpInfo &info = call.info();
  std::string text(info.name);
  text += "(";
  for (size_t i = 0; i < call.attrs.size(); ++i) {
    std::string_view name = i < info.attrCount ? info.attrs[i].name : "?";
    text += (i > 0 ? ", " : "") + std::string(name) + "=" + attrString(call.attrs[i]);
  }
  return text + ")";
}

} // namespace tracert
