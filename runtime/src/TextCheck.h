/// Names in a signature are C strings to C programs and text to people.
///
///   if (!isName(input.name)) { ... }
#pragma once

#include <cstdint>
#include <string_view>

namespace tracert {

/// UTF-8 (no overlong forms, no surrogates) without NUL.
inline bool isName(std::string_view text) {
  for (size_t i = 0; i < text.size();) {
    auto first = static_cast<uint8_t>(text[i]);
    if (first == 0) {
      return false;
    }
    size_t length = first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
    if ((first >= 0x80 && first < 0xC2) || first > 0xF4 || text.size() - i < length) {
      return false;
    }
    uint32_t value = length == 1 ? first : first & (0xFFu >> (length + 1));
    for (size_t j = 1; j < length; ++j) {
      auto next = static_cast<uint8_t>(text[i + j]);
      if ((next & 0xC0) != 0x80) {
        return false;
      }
      value = value << 6 | (next & 0x3Fu);
    }
    bool isOverlong = (length == 3 && value < 0x800) || (length == 4 && value < 0x10000);
    if (isOverlong || (value >= 0xD800 && value <= 0xDFFF) || value > 0x10FFFF) {
      return false;
    }
    i += length;
  }
  return true;
}

} // namespace tracert
