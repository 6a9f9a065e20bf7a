#include "tracert/Op.h"

#include <cmath>
#include <cstdio>

namespace tracert {
namespace {

double halfToDouble(uint16_t bits) {
  int exponent = (bits >> 10) & 0x1F;
  int fraction = bits & 0x3FF;
  double magnitude = exponent == 0    ? std::ldexp(fraction, -24)
                     : exponent == 31 ? (fraction == 0 ? INFINITY : NAN)
                                      : std::ldexp(fraction + 1024, exponent - 25);
  return (bits & 0x8000) ? -magnitude : magnitude;
}

std::string floatString(double value, int digits) {
  char text[40];
  std::snprintf(text, sizeof(text), "%.*g", digits, value);
  return text;
}

std::string scalarString(const Scalar &scalar) {
  switch (scalar.dtype) {
  case DType::Bool:
    return scalar.as<uint8_t>() ? "true" : "false";
  case DType::UInt8:
    return std::to_string(scalar.as<uint8_t>());
  case DType::Int32:
    return std::to_string(scalar.as<int32_t>());
  case DType::Int64:
    return std::to_string(scalar.as<int64_t>());
  case DType::Float16:
    return floatString(halfToDouble(scalar.as<uint16_t>()), 5);
  case DType::Float32:
    return floatString(static_cast<double>(scalar.as<float>()), 9);
  case DType::Float64:
    return floatString(scalar.as<double>(), 17);
  }
  return "?";
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
