/// A small writer of JSON text.
///
///   JsonWriter json; json.beginObject(); json.field("name", "x"); json.endObject(); json.finish();
///
/// Numbers that JSON has not (inf, nan) are written as strings. Large documents go to standard
/// output in parts: call finish() at the end.
#pragma once

#include "Text.h"

#include <cmath>
#include <cstdint>
#include <string>

namespace cli {

class JsonWriter {
public:
  void beginObject() { open('{'); }
  void endObject() { close('}'); }
  void beginArray() { open('['); }
  void endArray() { close(']'); }
  void key(const std::string &name) {
    separate();
    quote(name);
    out += ": ";
    isAfterKey = true;
  }
  void value(const std::string &text) {
    separate();
    quote(text);
  }
  void value(const char *text) { value(std::string(text)); }
  void value(double number) {
    separate();
    if (!std::isfinite(number)) {
      quote(std::isnan(number) ? "nan" : number > 0 ? "inf" : "-inf");
      return;
    }
    out += shortest(number);
  }
  /// Text that is JSON itself: a number, a document.
  void literal(const std::string &text) { raw(text); }
  void null() { raw("null"); }
  void value(int64_t number) { raw(std::to_string(number)); }
  void value(uint64_t number) { raw(std::to_string(number)); }
  void value(uint32_t number) { raw(std::to_string(number)); }
  void value(int32_t number) { raw(std::to_string(number)); }
  void value(bool flag) { raw(flag ? "true" : "false"); }
  template <class T> void field(const std::string &name, const T &content) {
    key(name);
    value(content);
  }
  /// Prints the rest and a newline.
  void finish() { printRaw(out += '\n'), out.clear(); }

private:
  void raw(const std::string &text) {
    separate();
    out += text;
  }
  void open(char bracket) {
    separate();
    out += bracket;
    isFirst = true;
  }
  void close(char bracket) {
    out += bracket;
    isFirst = false;
  }
  void separate() {
    if (!isFirst && !isAfterKey) {
      out += ", ";
    }
    isFirst = false;
    isAfterKey = false;
    if (out.size() > kPartBytes) {
      printRaw(out);
      out.clear();
    }
  }
  void quote(const std::string &text) { out += jsonQuoted(text); }
  static constexpr size_t kPartBytes = size_t(1) << 20;
  std::string out;
  bool isFirst = true;
  bool isAfterKey = false;
};

/// Whether `text` is one JSON document, not nested too deeply to be read.
bool isJson(std::string_view text);

} // namespace cli
