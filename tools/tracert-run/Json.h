/// A small writer of JSON text.
///
///   JsonWriter json; json.beginObject(); json.field("name", "x"); json.endObject(); json.text();
///
/// Numbers that JSON has not (inf, nan) are written as strings.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstdio>
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
    char text[32];
    std::snprintf(text, sizeof text, "%.17g", number);
    out += text;
  }
  void value(int64_t number) { raw(std::to_string(number)); }
  void value(uint64_t number) { raw(std::to_string(number)); }
  void value(int32_t number) { raw(std::to_string(number)); }
  void value(bool flag) { raw(flag ? "true" : "false"); }
  template <class T> void field(const std::string &name, const T &content) {
    key(name);
    value(content);
  }
  const std::string &text() const { return out; }

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
  }
  void quote(const std::string &text) {
    out += '"';
    for (char c : text) {
      if (c == '"' || c == '\\') {
        out += '\\';
        out += c;
      } else if (static_cast<unsigned char>(c) < 0x20) {
        char escaped[8];
        std::snprintf(escaped, sizeof escaped, "\\u%04x", c);
        out += escaped;
      } else {
        out += c;
      }
    }
    out += '"';
  }
  std::string out;
  bool isFirst = true;
  bool isAfterKey = false;
};

} // namespace cli
