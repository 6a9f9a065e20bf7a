/// Reading the arguments of fast-call functions: binding by name, axes, shapes, flags.
///
///   static constexpr Parameters<3> kSum{"sum", {"axis", "keepdims", "dtype"}};
///   PyObject *bound[3]; if (!kSum.bind(args, nargs, kwnames, bound)) { return nullptr; }
///
/// A parameter that was not given is null. All functions return false with an exception set.
#pragma once

#include "Errors.h"

#include "tracec/Functional.h"

#include <optional>
#include <string>

namespace tracec::python {

bool bindArguments(const char *function, const char *const *names, size_t count, size_t required,
                   size_t positional, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames,
                   PyObject **bound);

template <size_t N> struct Parameters {
  const char *function;
  const char *names[N];
  /// How many of the first must be given.
  size_t required = 0;
  /// How many may be given by position.
  size_t positional = N;

  bool bind(PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames, PyObject **bound) const {
    return bindArguments(function, names, N, required, positional, args, nargs, kwnames, bound);
  }
};

inline bool isGiven(PyObject *argument) { return argument && argument != Py_None; }

/// Whether axes or sizes come as a sequence (also an array of rank 1 or more), not as one number.
bool isIntSequence(PyObject *argument);
/// None or missing: all axes (nullopt); an int or a sequence of ints.
bool readAxes(PyObject *argument, std::optional<Dims> &axes);
/// Anything with __index__ but a bool.
bool readInt(PyObject *argument, const char *what, int64_t &value);
bool readFlag(PyObject *argument, bool &flag);
/// A str, as UTF-8.
bool readText(PyObject *argument, std::string &text);

/// Sizes of a shape: an int, a tc.Size, a rank-0 integer tensor, or a sequence of them.
bool readShape(PyObject *argument, std::vector<SizeArg> &sizes);
/// A method's `*shape`: either one shape or several sizes.
bool readShapeArguments(PyObject *const *args, Py_ssize_t nargs, std::vector<SizeArg> &sizes);

} // namespace tracec::python
