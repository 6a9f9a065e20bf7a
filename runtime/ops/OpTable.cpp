#include "tracert/OpTable.h"

#include <charconv>

namespace tracert {

namespace {

uint32_t hashOf(std::string_view name) {
  uint32_t hash = 2166136261u;
  for (char c : name) {
    hash = (hash ^ static_cast<uint8_t>(c)) * 16777619u;
  }
  return hash;
}

template <class T> std::optional<T> parsed(std::string_view text) {
  T value{};
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(value)
                                                                  : std::nullopt;
}

template <class Attr, class T> std::optional<AttrValue> made(Attr make, std::optional<T> value) {
  return value ? std::optional(make(*value)) : std::nullopt;
}

} // namespace

AttrValue::AttrValue(const AttrValue &) = default;
AttrValue::AttrValue(AttrValue &&) noexcept = default;
AttrValue &AttrValue::operator=(const AttrValue &) = default;
AttrValue &AttrValue::operator=(AttrValue &&) noexcept = default;
AttrValue::~AttrValue() = default;

const OpInfo &opInfo(OpKind kind) { return opTable.ops[static_cast<size_t>(kind)]; }

int opCount() { return static_cast<int>(opTable.ops.size()); }

std::optional<OpKind> opKindFromName(std::string_view name) {
  size_t mask = opTable.names.size() - 1;
  for (size_t slot = hashOf(name) & mask; opTable.names[slot] >= 0; slot = (slot + 1) & mask) {
    auto number = static_cast<size_t>(opTable.names[slot]);
    if (opTable.ops[number].name == name) {
      return static_cast<OpKind>(number);
    }
  }
  return std::nullopt;
}

std::optional<AttrValue> defaultAttr(const AttrSpec &spec) {
  std::string_view text = spec.defaultText;
  if (text.empty()) {
    return std::nullopt;
  }
  switch (spec.kind) {
  case AttrKind::Int:
    return made(AttrValue::integer, parsed<int64_t>(text));
  case AttrKind::Float:
    return made(AttrValue::number, parsed<double>(text));
  case AttrKind::Bool:
    return AttrValue::boolean(text == "True");
  case AttrKind::String:
    return AttrValue::text(std::string(text));
  case AttrKind::DType:
    return made(AttrValue::dtype, dtypeFromName(text));
  case AttrKind::Ints:
  case AttrKind::Scalar:
  case AttrKind::Index:
    break;
  }
  return std::nullopt;
}

bool AttrSpec::allows(std::string_view value) const {
  std::string_view rest = values;
  while (!rest.empty()) {
    size_t bar = rest.find('|');
    if (rest.substr(0, bar) == value) {
      return true;
    }
    rest = bar == std::string_view::npos ? std::string_view() : rest.substr(bar + 1);
  }
  return values.empty();
}

} // namespace tracert
