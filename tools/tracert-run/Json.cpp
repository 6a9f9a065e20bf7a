#include "Json.h"

#include <algorithm>

namespace cli {
namespace {

/// Reads along the grammar of RFC 8259; a failed step leaves `rest` anywhere.
class JsonReader {
public:
  explicit JsonReader(std::string_view text) : rest(text) {}

  bool document() {
    skipBlanks();
    bool isGood = value(0);
    skipBlanks();
    return isGood && rest.empty();
  }

private:
  static constexpr int kMaxDepth = 100;

  void skipBlanks() {
    while (!rest.empty() && std::string_view(" \t\n\r").find(rest[0]) != std::string_view::npos) {
      rest.remove_prefix(1);
    }
  }

  bool take(std::string_view token) {
    if (!rest.starts_with(token)) {
      return false;
    }
    rest.remove_prefix(token.size());
    return true;
  }

  bool digits() {
    size_t count = std::min(rest.find_first_not_of("0123456789"), rest.size());
    rest.remove_prefix(count);
    return count > 0;
  }

  bool number() {
    take("-");
    if (!take("0") && !digits()) {
      return false;
    }
    if (take(".") && !digits()) {
      return false;
    }
    if (take("e") || take("E")) {
      take("+") || take("-");
      return digits();
    }
    return true;
  }

  bool string() {
    if (!take("\"")) {
      return false;
    }
    std::string_view start = rest;
    while (!rest.empty() && rest[0] != '"') {
      if (take("\\")) {
        if (take("u")) {
          size_t hex = std::min(rest.find_first_not_of("0123456789abcdefABCDEF"), rest.size());
          if (hex < 4) {
            return false;
          }
          rest.remove_prefix(4);
          continue;
        }
        if (rest.empty() ||
            std::string_view("\"\\/bfnrt").find(rest[0]) == std::string_view::npos) {
          return false;
        }
      }
      rest.remove_prefix(1);
    }
    return isPlainText(start.substr(0, start.size() - rest.size())) && take("\"");
  }

  bool value(int depth) {
    if (depth > kMaxDepth) {
      return false;
    }
    if (take("{")) {
      return members(depth, '}', /*hasKeys=*/true);
    }
    if (take("[")) {
      return members(depth, ']', /*hasKeys=*/false);
    }
    return string() || take("true") || take("false") || take("null") || number();
  }

  bool members(int depth, char close, bool hasKeys) {
    skipBlanks();
    if (take({&close, 1})) {
      return true;
    }
    for (;;) {
      skipBlanks();
      if (hasKeys) {
        if (!string()) {
          return false;
        }
        skipBlanks();
        if (!take(":")) {
          return false;
        }
        skipBlanks();
      }
      if (!value(depth + 1)) {
        return false;
      }
      skipBlanks();
      if (take({&close, 1})) {
        return true;
      }
      if (!take(",")) {
        return false;
      }
    }
  }

  std::string_view rest;
};

} // namespace

bool isJson(std::string_view text) { return JsonReader(text).document(); }

} // namespace cli
