#include "Arguments.h"

#include "Sizes.h"
#include "TensorObject.h"

#include <cstring>

namespace tracec::python {

bool bindArguments(const char *function, const char *const *names, size_t count, size_t required,
                   size_t positional, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames,
                   PyObject **bound) {
  for (size_t i = 0; i < count; ++i) {
    bound[i] = nullptr;
  }
  if (static_cast<size_t>(nargs) > positional) {
    raiseFormat(PyExc_TypeError, "%s() takes at most %zu positional arguments, got %zd", function,
                positional, nargs);
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
      raiseFormat(PyExc_TypeError, "%s() got an unexpected keyword argument '%U'", function, key);
      return false;
    }
    if (bound[found]) {
      raiseFormat(PyExc_TypeError, "%s() got two values for argument '%s'", function, names[found]);
      return false;
    }
    bound[found] = args[nargs + k];
  }
  for (size_t i = 0; i < required; ++i) {
    if (!bound[i]) {
      raiseFormat(PyExc_TypeError, "%s() needs argument '%s'", function, names[i]);
      return false;
    }
  }
  return true;
}

bool readInt(PyObject *argument, const char *what, int64_t &value) {
  PyObject *number = PyNumber_Index(argument);
  if (!number) {
    PyErr_Clear();
    raiseFormat(PyExc_TypeError, "%s must be an int, got %s", what, Py_TYPE(argument)->tp_name);
    return false;
  }
  value = PyLong_AsLongLong(number);
  Py_DECREF(number);
  if (value == -1 && PyErr_Occurred()) {
    PyErr_Clear();
    raiseFormat(PyExc_ValueError, "%s does not fit 64 bits", what);
    return false;
  }
  return true;
}

bool readAxes(PyObject *argument, std::optional<Dims> &axes) {
  axes.reset();
  if (!isGiven(argument)) {
    return true;
  }
  Dims list;
  if (!PyTuple_Check(argument) && !PyList_Check(argument)) {
    int64_t axis;
    if (!readInt(argument, "an axis", axis)) {
      return false;
    }
    axes = Dims{axis};
    return true;
  }
  Py_ssize_t count = PySequence_Fast_GET_SIZE(argument);
  for (Py_ssize_t i = 0; i < count; ++i) {
    int64_t axis;
    if (!readInt(PySequence_Fast_GET_ITEM(argument, i), "an axis", axis)) {
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
      raiseFormat(PyExc_TypeError, "a size must be an int or an integer tensor of rank 0, got %s",
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

} // namespace

bool readShapeArguments(PyObject *const *args, Py_ssize_t nargs, std::vector<SizeArg> &sizes) {
  if (nargs == 1) {
    return readShape(args[0], sizes);
  }
  for (Py_ssize_t i = 0; i < nargs; ++i) {
    SizeArg size;
    if (!readSize(args[i], size)) {
      return false;
    }
    sizes.push_back(std::move(size));
  }
  return true;
}

bool readShape(PyObject *argument, std::vector<SizeArg> &sizes) {
  if (PyTuple_Check(argument) || PyList_Check(argument)) {
    Py_ssize_t count = PySequence_Fast_GET_SIZE(argument);
    for (Py_ssize_t i = 0; i < count; ++i) {
      SizeArg size;
      if (!readSize(PySequence_Fast_GET_ITEM(argument, i), size)) {
        return false;
      }
      sizes.push_back(std::move(size));
    }
    return true;
  }
  SizeArg size;
  if (!readSize(argument, size)) {
    return false;
  }
  sizes.push_back(std::move(size));
  return true;
}

} // namespace tracec::python
