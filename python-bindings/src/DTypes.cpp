#include "DTypes.h"

#include <iterator>
#include <string>
#include <string_view>
#include <utility>

namespace tracec::python {

using tracert::DType;
using tracert::DTypeCategory;

namespace {

struct DTypeObject {
  PyObject_HEAD DType dtype;
};

PyTypeObject dtypeType = {PyVarObject_HEAD_INIT(nullptr, 0)};
PyObject *objects[tracert::kDTypeLimit] = {};

DType dtypeOf(PyObject *self) { return reinterpret_cast<DTypeObject *>(self)->dtype; }
const char *nameOf(PyObject *self) { return tracert::dtypeName(dtypeOf(self)).data(); }

PyObject *represent(PyObject *self) { return PyUnicode_FromFormat("tracec.%s", nameOf(self)); }
PyObject *toText(PyObject *self) { return PyUnicode_FromString(nameOf(self)); }

Py_hash_t hash(PyObject *self) {
  // Equal to its name, so it must hash like it.
  PyObject *name = PyUnicode_FromString(nameOf(self));
  Py_hash_t result = name ? PyObject_Hash(name) : -1;
  Py_XDECREF(name);
  return result;
}

PyObject *compare(PyObject *self, PyObject *other, int op) {
  if (op != Py_EQ && op != Py_NE) {
    Py_RETURN_NOTIMPLEMENTED;
  }
  bool equal = self == other;
  if (!equal && !Py_IS_TYPE(other, &dtypeType)) {
    std::optional<DType> parsed;
    if (readDType(other, parsed)) {
      equal = parsed == dtypeOf(self);
    } else {
      PyErr_Clear();
    }
  }
  return PyBool_FromLong(equal == (op == Py_EQ));
}

PyObject *getName(PyObject *self, void *) { return toText(self); }
PyObject *getItemSize(PyObject *self, void *) {
  return PyLong_FromSize_t(tracert::dtypeSize(dtypeOf(self)));
}
PyObject *getNumpy(PyObject *self, void *) { return numpyDType(dtypeOf(self)); }
PyObject *reduce(PyObject *self, PyObject *) { return PyUnicode_FromString(nameOf(self)); }

PyGetSetDef attributes[] = {
    {"name", getName, nullptr, "The name, e.g. 'float32'.", nullptr},
    {"itemsize", getItemSize, nullptr, "Bytes per element.", nullptr},
    {"dtype", getNumpy, nullptr, "The NumPy dtype; lets np.dtype(tc.float32) work.", nullptr},
    {"__numpy_dtype__", getNumpy, nullptr, nullptr, nullptr},
    {},
};
PyMethodDef methods[] = {
    {"__reduce__", reduce, METH_NOARGS, nullptr},
    {},
};

/// NumPy's letters of kinds.
std::optional<DType> fromKind(char kind, Py_ssize_t itemSize) {
  constexpr std::pair<char, DTypeCategory> kinds[] = {{'b', DTypeCategory::Bool},
                                                      {'i', DTypeCategory::Signed},
                                                      {'u', DTypeCategory::Unsigned},
                                                      {'f', DTypeCategory::Float}};
  for (auto [letter, category] : kinds) {
    if (letter == kind) {
      return tracert::dtypeOf(category, static_cast<size_t>(itemSize));
    }
  }
  return std::nullopt;
}

/// 'f4', '<i8', '?', ... as NumPy spells them.
std::optional<DType> fromTypeCode(std::string_view text) {
  if (!text.empty() && (text[0] == '<' || text[0] == '>' || text[0] == '=' || text[0] == '|')) {
    text.remove_prefix(1);
  }
  if (text == "?") {
    return DType::Bool;
  }
  if (text.size() != 2 || text[1] < '1' || text[1] > '8') {
    return std::nullopt;
  }
  return fromKind(text[0], text[1] - '0');
}

/// A dtype that another package added to NumPy, by its name.
std::optional<DType> fromNumpyName(PyObject *object) {
  PyObject *name = PyObject_GetAttrString(object, "name");
  const char *text = name && PyUnicode_Check(name) ? PyUnicode_AsUTF8(name) : nullptr;
  std::optional<DType> result = text ? tracert::dtypeFromName(text) : std::nullopt;
  Py_XDECREF(name);
  return result;
}

/// A NumPy dtype by its kind and size; nullopt for others.
std::optional<DType> fromNumpyDType(PyObject *object) {
  PyObject *kind = PyObject_GetAttrString(object, "kind");
  PyObject *size = PyObject_GetAttrString(object, "itemsize");
  PyObject *names = PyObject_GetAttrString(object, "names");
  std::optional<DType> result;
  if (kind && size && names == Py_None && PyUnicode_Check(kind) && PyUnicode_GetLength(kind) == 1) {
    char letter = static_cast<char>(PyUnicode_READ_CHAR(kind, 0));
    result = letter == 'V' ? fromNumpyName(object) : fromKind(letter, PyLong_AsSsize_t(size));
  }
  PyErr_Clear();
  Py_XDECREF(kind);
  Py_XDECREF(size);
  Py_XDECREF(names);
  return result;
}

bool isFromNumpy(PyTypeObject *type) {
  PyObject *module = PyObject_GetAttrString(reinterpret_cast<PyObject *>(type), "__module__");
  const char *text = module && PyUnicode_Check(module) ? PyUnicode_AsUTF8(module) : nullptr;
  // np.dtype's own classes live in numpy.dtypes.
  bool result =
      text && (std::string_view(text) == "numpy" || std::string_view(text).starts_with("numpy.") ||
               std::string_view(text) == "ml_dtypes");
  PyErr_Clear();
  Py_XDECREF(module);
  return result;
}

std::optional<DType> parse(PyObject *argument) {
  if (argument == reinterpret_cast<PyObject *>(&PyBool_Type)) {
    return DType::Bool;
  }
  if (argument == reinterpret_cast<PyObject *>(&PyLong_Type)) {
    return DType::Int32;
  }
  if (argument == reinterpret_cast<PyObject *>(&PyFloat_Type)) {
    return DType::Float32;
  }
  if (PyUnicode_Check(argument)) {
    const char *text = PyUnicode_AsUTF8(argument);
    if (!text) {
      PyErr_Clear();
      return std::nullopt;
    }
    std::optional<DType> named = tracert::dtypeFromName(text);
    return named ? named : fromTypeCode(text);
  }
  if (PyType_Check(argument)) {
    if (!isFromNumpy(reinterpret_cast<PyTypeObject *>(argument))) {
      return std::nullopt;
    }
    PyObject *numpy = numpyModule();
    PyObject *described = numpy ? PyObject_CallMethod(numpy, "dtype", "O", argument) : nullptr;
    std::optional<DType> result = described ? fromNumpyDType(described) : std::nullopt;
    PyErr_Clear();
    Py_XDECREF(numpy);
    Py_XDECREF(described);
    return result;
  }
  return isFromNumpy(Py_TYPE(argument)) ? fromNumpyDType(argument) : std::nullopt;
}

/// "bool, uint8, ... or float64".
std::string listed() {
  std::string text;
  for (DType dtype : tracert::kAllDTypes) {
    bool isLast = dtype == std::end(tracert::kAllDTypes)[-1];
    text += text.empty() ? "" : isLast ? " or " : ", ";
    text += tracert::dtypeName(dtype);
  }
  return text;
}

} // namespace

PyObject *numpyDType(DType dtype) {
  if (dtype == DType::BFloat16) {
    // Registers the name with NumPy.
    PyObject *extension = PyImport_ImportModule("ml_dtypes");
    if (!extension && PyErr_ExceptionMatches(PyExc_ImportError)) {
      PyErr_Clear();
      return raiseAdvice(PyExc_TypeError,
                         "install the package ml_dtypes, or write x.astype(tc.float32) first",
                         "NumPy has no bfloat16");
    }
    if (!extension) {
      return nullptr;
    }
    Py_DECREF(extension);
  }
  PyObject *numpy = numpyModule();
  PyObject *result =
      numpy ? PyObject_CallMethod(numpy, "dtype", "s", tracert::dtypeName(dtype).data()) : nullptr;
  Py_XDECREF(numpy);
  return result;
}

PyObject *numpyModule() { return PyImport_ImportModule("numpy"); }

PyObject *dtypeObject(DType dtype) { return objects[static_cast<int>(dtype)]; }

bool readDType(PyObject *argument, std::optional<DType> &dtype) {
  dtype.reset();
  if (!argument || argument == Py_None) {
    return true;
  }
  if (Py_IS_TYPE(argument, &dtypeType)) {
    dtype = dtypeOf(argument);
    return true;
  }
  dtype = parse(argument);
  if (!dtype) {
    raiseFormat(PyExc_TypeError, "unsupported dtype %R; use tc.%s", argument, listed().c_str());
    return false;
  }
  return true;
}

bool addDTypes(PyObject *module) {
  dtypeType.tp_name = "tracec.dtype";
  dtypeType.tp_doc = "An element type; the objects tc.bool ... tc.float64.";
  dtypeType.tp_basicsize = sizeof(DTypeObject);
  dtypeType.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION;
  dtypeType.tp_repr = represent;
  dtypeType.tp_str = toText;
  dtypeType.tp_hash = hash;
  dtypeType.tp_richcompare = compare;
  dtypeType.tp_getset = attributes;
  dtypeType.tp_methods = methods;
  if (PyType_Ready(&dtypeType) < 0) {
    return false;
  }
  // Pickle finds the objects by module and name.
  PyObject *package = PyUnicode_FromString("tracec");
  bool named = package && PyDict_SetItemString(dtypeType.tp_dict, "__module__", package) == 0;
  Py_XDECREF(package);
  PyType_Modified(&dtypeType);
  if (!named ||
      PyModule_AddObjectRef(module, "dtype", reinterpret_cast<PyObject *>(&dtypeType)) < 0) {
    return false;
  }
  for (DType dtype : tracert::kAllDTypes) {
    DTypeObject *object = PyObject_New(DTypeObject, &dtypeType);
    if (!object) {
      return false;
    }
    object->dtype = dtype;
    objects[static_cast<int>(dtype)] = reinterpret_cast<PyObject *>(object);
    if (PyModule_AddObjectRef(module, tracert::dtypeName(dtype).data(),
                              objects[static_cast<int>(dtype)]) < 0) {
      return false;
    }
  }
  return true;
}

} // namespace tracec::python
