/// Numeric flags: the whole text must be a number in the range, or the message names both.
///
///   addNumber(verb, "--threads", options.threads, {0, 4096}, "threads; 0: as many as there are");
#pragma once

#include <CLI/CLI.hpp>

#include <string>

namespace cli {

/// Both ends count.
template <class T> struct NumberRange {
  T min;
  T max;
};

/// int64_t, uint64_t or double; doubles are finite. Throws UserError "FLAG takes ...".
template <class T>
T parseNumber(const std::string &flag, const std::string &text, NumberRange<T> range);

/// The flag may be given once.
CLI::Option *addNumber(CLI::App &verb, const std::string &flag, int64_t &target,
                       NumberRange<int64_t> range, const std::string &what);
CLI::Option *addNumber(CLI::App &verb, const std::string &flag, uint64_t &target,
                       NumberRange<uint64_t> range, const std::string &what);
CLI::Option *addNumber(CLI::App &verb, const std::string &flag, double &target,
                       NumberRange<double> range, const std::string &what);

} // namespace cli
