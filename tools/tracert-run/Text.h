/// Text for people and for JSON, from any bytes: names in files and paths may hold anything.
///
///   printLine("input " + name);   // one line, whatever the name holds
///   jsonQuoted(name)              // "\udcff" for the byte 0xff, as Python's surrogateescape
///
/// What is printed goes to standard output, or OutputError says why not.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace cli {

/// Standard output cannot be written; printing throws it.
struct OutputError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Control characters, what is no UTF-8, marks that change the direction of text, and backslashes
/// as escapes: \n, \x1b, \u202e.
std::string printable(std::string_view text);
/// With its quotes; valid JSON in ASCII controls and UTF-8.
std::string jsonQuoted(std::string_view text);

/// UTF-8 without characters below U+0020.
bool isPlainText(std::string_view text);

/// `text` as one line.
void printLine(std::string_view text);
/// printf; each text argument is made printable as part of the line.
[[gnu::format(printf, 1, 2)]] void printFormat(const char *format, ...);
/// As it is: JSON, source text.
void printRaw(std::string_view text);
/// Flushes and closes standard output.
void closeOutput();

/// "1.5", "nan", "1e-09": the fewest digits that read back exactly.
std::string shortest(double value);
std::string shortest(float value);
/// 12345678 as "12,345,678".
std::string grouped(unsigned long long number);

} // namespace cli
