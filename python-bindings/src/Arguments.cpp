#include "Arguments.h"

#include "FromArray.h"
#include "Sequences.h"
#include "Sizes.h"
#include "TensorObject.h"

namespace tracec::python {

bool bindArguments(const char *function, const char *const *names, size_t count, size_t required,
                   size_t positional, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames,
                   PyObject **bound) {
  for (size_t i = 0; i < count; ++i) {
    bound[i] = nullptr;
  }
  if (static_cast<size_t>(nargs) > positional) {
    raiseAdvice(PyExc_TypeError, "give fewer, or pass the rest by name",
                "%s() takes at most %zu positional arguments, got %zd", function, positional,
                nargs);
    return false;
  }
  for (Py_ssize_t i = 0; i < nargs; ++i) {
    bound[i] = args[i];
  }
  Py_ssize_t keywords = kwnames ? PyTuple_GET_SIZE(kwnames) : 0;
  for (Py_ssize_t k = 0; k < keywords; ++k) {
    PyObject *key = PyTuple_GET_ITEM(kwnames, k);
    size_t found = count;
    for (size_t i = 0; i < count; ++i) {
      if (PyUnicode_CompareWithASCIIString(key, names[i]) == 0) {
        found = i;
        break;
      }
    }
    if (found == count) {
      raiseAdvice(PyExc_TypeError, "check the spelling; help() of the function lists its arguments",
                  "%s() got an unexpected keyword argument '%U'", function, key);
      return false;
    }
    if (bound[found]) {
      raiseAdvice(PyExc_TypeError, "give it once, by position or by name",
                  "%s() got two values for argument '%s'", function, names[found]);
      return false;
    }
    bound[found] = args[nargs + k];
  }
  for (size_t i = 0; i < required; ++i) {
    if (!bound[i]) {
      raiseAdvice(PyExc_TypeError, "add it to the call", "%s() needs argument '%s'", function,
                  names[i]);
      return false;
    }
  }
  return true;
}

bool readInt(PyObject *argument, const char *what, int64_t &value) {
  bool isInt = PyLong_CheckExact(argument);
  // NumPy's bools and arrays have an __index__ that refuses.
  bool isForeign = !isInt && !isTensor(argument) && isArrayLike(argument);
  // bool has __index__, but as an axis or a size it is a mistake.
  PyObject *number = isInt                                                ? Py_NewRef(argument)
                     : PyIndex_Check(argument) && !PyBool_Check(argument) ? PyNumber_Index(argument)
                                                                          : nullptr;
  if (!number && (!PyErr_Occurred() || (isForeign && PyErr_ExceptionMatches(PyExc_TypeError)))) {
    PyErr_Clear();
    raiseAdvice(PyExc_TypeError, "pass an int", "%s must be an int, got %s", what,
                Py_TYPE(argument)->tp_name);
  }
  if (!number) {
    return false;
  }
  int overflow = 0;
  value = PyLong_AsLongLongAndOverflow(number, &overflow);
  Py_DECREF(number);
  if (overflow) {
    raiseFormat(PyExc_ValueError, "%s does not fit 64 bits", what);
    return false;
  }
  return true;
}

bool isIntSequence(PyObject *argument) {
  if (isTensor(argument) || PyLong_Check(argument)) {
    return false;
  }
  if (!isArrayLike(argument)) {
    return isSequence(argument);
  }
  // An array of rank 0 has no length; NumPy's scalars have none, either.
  Py_ssize_t length = PyObject_Size(argument);
  PyErr_Clear();
  return length >= 0;
}

bool readAxes(PyObject *argument, std::optional<Dims> &axes) {
  axes.reset();
  if (!isGiven(argument)) {
    return true;
  }
  Dims list;
  if (!isIntSequence(argument)) {
    int64_t axis;
    if (!readInt(argument, "an axis", axis)) {
      return false;
    }
    axes = Dims{axis};
    return true;
  }
  Items items;
  if (!items.read(argument)) {
    return false;
  }
  for (PyObject *item : items) {
    int64_t axis;
    if (!readInt(item, "an axis", axis)) {
      return false;
    }
    list.push_back(axis);
  }
  axes = std::move(list);
  return true;
}

bool readFlag(PyObject *argument, bool &flag) {
  if (!argument) {
    return true;
  }
  int truth = PyObject_IsTrue(argument);
  if (truth < 0) {
    return false;
  }
  flag = truth != 0;
  return true;
}

bool readText(PyObject *argument, std::string &text) {
  Py_ssize_t size;
  const char *utf8 = PyUnicode_Check(argument) ? PyUnicode_AsUTF8AndSize(argument, &size) : nullptr;
  if (!utf8) {
    PyErr_Clear();
    raiseAdvice(PyExc_TypeError, "pass a str", "expected a str, got %s",
                Py_TYPE(argument)->tp_name);
    return false;
  }
  text.assign(utf8, static_cast<size_t>(size));
  return true;
}

namespace {

bool readSize(PyObject *argument, SizeArg &size) {
  if (isSize(argument)) {
    Result<Value> value = sizeValue(argument);
    if (!value.ok()) {
      raise(value.status());
      return false;
    }
    size.value = std::move(*value);
    return true;
  }
  if (isTensor(argument)) {
    Result<Value> value = tensorOf(argument).read();
    if (!value.ok()) {
      raise(value.status());
      return false;
    }
    if (!(*value)->shape().empty() || !tracert::isInteger((*value)->dtype())) {
      raiseAdvice(PyExc_TypeError, "pass an int, or a rank-0 tensor of integers",
                  "a size must be an int or an integer tensor of rank 0, got %s",
                  (*value)->type().str().c_str());
      return false;
    }
    Result<Value> wide = castTo(std::move(*value), DType::Int64);
    if (!wide.ok()) {
      raise(wide.status());
      return false;
    }
    size.value = std::move(*wide);
    return true;
  }
  return readInt(argument, "a size", size.literal);
}

bool readSizes(PyObject *const *objects, Py_ssize_t count, std::vector<SizeArg> &sizes) {
  for (Py_ssize_t i = 0; i < count; ++i) {
    SizeArg size;
    if (!readSize(objects[i], size)) {
      return false;
    }
    sizes.push_back(std::move(size));
  }
  return true;
}

} // namespace

bool readShapeArguments(PyObject *const *args, Py_ssize_t nargs, std::vector<SizeArg> &sizes) {
  return nargs == 1 ? readShape(args[0], sizes) : readSizes(args, nargs, sizes);
}

bool readShape(PyObject *argument, std::vector<SizeArg> &sizes) {
  if (!isIntSequence(argument)) {
    return readSizes(&argument, 1, sizes);
  }
  Items items;
  return items.read(argument) && readSizes(items.begin(), items.size(), sizes);
}

} // namespace tracec::python
