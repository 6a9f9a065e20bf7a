#include "Numbers.h"

#include "Tensors.h"
#include "Text.h"

#include <charconv>
#include <cmath>
#include <type_traits>

namespace cli {
namespace {

template <class T> std::string numberText(T value) {
  if constexpr (std::is_floating_point_v<T>) {
    return shortest(value);
  } else {
    return std::to_string(value);
  }
}

template <class T> std::string rangeText(NumberRange<T> range) {
  return std::string(std::is_floating_point_v<T> ? "a number" : "a whole number") + " from " +
         numberText(range.min) + " to " + numberText(range.max);
}

template <class T>
CLI::Option *add(CLI::App &verb, const std::string &flag, T &target, NumberRange<T> range,
                 const std::string &what) {
  CLI::Option *option = verb.add_option_function<std::string>(
      flag,
      [&target, flag, range](const std::string &text) { target = parseNumber(flag, text, range); },
      // A default outside the range means that the flag is not given.
      target >= range.min ? what + " [" + numberText(target) + "]" : what);
  // Two values of one flag would be a list.
  return option->type_name("N")->multi_option_policy(CLI::MultiOptionPolicy::Throw);
}

} // namespace

template <class T>
T parseNumber(const std::string &flag, const std::string &text, NumberRange<T> range) {
  T value{};
  const char *end = text.data() + text.size();
  // from_chars takes no leading '+' or blank, and "nan" and "inf" only for floats.
  auto [stop, error] = std::from_chars(text.data(), end, value);
  bool isGood = error == std::errc() && stop == end && !text.empty() && value >= range.min &&
                value <= range.max;
  if (!isGood) {
    throw UserError(flag + " takes " + rangeText(range) + ", got '" + text + "'");
  }
  return value;
}

template int64_t parseNumber(const std::string &, const std::string &, NumberRange<int64_t>);
template uint64_t parseNumber(const std::string &, const std::string &, NumberRange<uint64_t>);
template double parseNumber(const std::string &, const std::string &, NumberRange<double>);

CLI::Option *addNumber(CLI::App &verb, const std::string &flag, int64_t &target,
                       NumberRange<int64_t> range, const std::string &what) {
  return add(verb, flag, target, range, what);
}
CLI::Option *addNumber(CLI::App &verb, const std::string &flag, uint64_t &target,
                       NumberRange<uint64_t> range, const std::string &what) {
  return add(verb, flag, target, range, what);
}
CLI::Option *addNumber(CLI::App &verb, const std::string &flag, double &target,
                       NumberRange<double> range, const std::string &what) {
  return add(verb, flag, target, range, what);
}

} // namespace cli
