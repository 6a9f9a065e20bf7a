#include "Text.h"

#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <cstring>

namespace cli {
namespace {

struct CodePoint {
  char32_t value = 0;
  /// Bytes read; 0: the first byte starts no valid UTF-8.
  size_t length = 0;
};

/// Strict: no overlong forms, no surrogates, nothing above U+10FFFF.
CodePoint decode(std::string_view text) {
  auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  unsigned char first = byte(0);
  if (first < 0x80) {
    return {first, 1};
  }
  size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < length) {
    return {};
  }
  char32_t value = first & (0xFFu >> (length + 1));
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) {
      return {};
    }
    value = value << 6 | (byte(i) & 0x3F);
  }
  constexpr char32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
  bool isValid =
      value >= smallest[length] && value <= 0x10FFFF && (value < 0xD800 || value > 0xDFFF);
  return isValid ? CodePoint{value, length} : CodePoint{};
}

/// Would move the cursor, change colours or the direction, or break a line.
bool isControl(char32_t value) {
  return value < 0x20 || (value >= 0x7F && value < 0xA0) || value == 0x200E || value == 0x200F ||
         (value >= 0x2028 && value <= 0x202E) || (value >= 0x2066 && value <= 0x2069) ||
         value == 0xFEFF;
}

void appendEscape(std::string &out, const char *format, unsigned value) {
  char text[16];
  std::snprintf(text, sizeof text, format, value);
  out += text;
}

/// Calls `plain` with text to keep, `control` with a code point and `bad` with a byte.
template <class Plain, class Control, class Bad>
void visit(std::string_view text, Plain plain, Control control, Bad bad) {
  while (!text.empty()) {
    CodePoint point = decode(text);
    if (point.length == 0) {
      bad(static_cast<unsigned char>(text[0]));
      text.remove_prefix(1);
      continue;
    }
    if (isControl(point.value) || point.value == '"' || point.value == '\\') {
      control(point.value);
    } else {
      plain(text.substr(0, point.length));
    }
    text.remove_prefix(point.length);
  }
}

[[noreturn]] void failOutput(int error) {
  throw OutputError(std::string("cannot write standard output: ") + std::strerror(error));
}

template <class T> std::string shortestText(T value) {
  if (std::isnan(value)) {
    return "nan";
  }
  char text[64];
  auto [end, error] = std::to_chars(text, text + sizeof text, value);
  return error == std::errc() ? std::string(text, end) : "?";
}

} // namespace

std::string printable(std::string_view text) {
  std::string out;
  visit(
      text, [&](std::string_view part) { out += part; },
      [&](char32_t value) {
        if (value == '"') {
          out += '"';
        } else if (value == '\\') {
          out += "\\\\";
        } else if (value == '\n' || value == '\t' || value == '\r') {
          out += value == '\n' ? "\\n" : value == '\t' ? "\\t" : "\\r";
        } else {
          appendEscape(out, value < 0x80 ? "\\x%02x" : "\\u%04x", value);
        }
      },
      [&](unsigned char byte) { appendEscape(out, "\\x%02x", byte); });
  return out;
}

std::string jsonQuoted(std::string_view text) {
  std::string out = "\"";
  visit(
      text, [&](std::string_view part) { out += part; },
      [&](char32_t value) {
        if (value == '"' || value == '\\') {
          out += '\\';
          out += static_cast<char>(value);
        } else {
          appendEscape(out, "\\u%04x", value);
        }
      },
      // Python's os.fsencode makes the byte again.
      [&](unsigned char byte) { appendEscape(out, "\\udc%02x", byte); });
  return out + '"';
}

bool isPlainText(std::string_view text) {
  while (!text.empty()) {
    CodePoint point = decode(text);
    if (point.length == 0 || point.value < 0x20) {
      return false;
    }
    text.remove_prefix(point.length);
  }
  return true;
}

void printRaw(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) {
    failOutput(errno);
  }
}

void printLine(std::string_view text) { printRaw(printable(text) + '\n'); }

void printFormat(const char *format, ...) {
  va_list arguments, again;
  va_start(arguments, format);
  va_copy(again, arguments);
  int length = std::vsnprintf(nullptr, 0, format, arguments);
  va_end(arguments);
  std::string text(static_cast<size_t>(length < 0 ? 0 : length), '\0');
  std::vsnprintf(text.data(), text.size() + 1, format, again);
  va_end(again);
  printLine(text);
}

void closeOutput() {
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0 || std::fclose(stdout) != 0) {
    failOutput(errno);
  }
}

std::string shortest(double value) { return shortestText(value); }
std::string shortest(float value) { return shortestText(value); }

std::string grouped(unsigned long long number) {
  std::string text = std::to_string(number);
  for (size_t at = text.size(); at > 3; at -= 3) {
    text.insert(at - 3, ",");
  }
  return text;
}

} // namespace cli
