#include "Sequences.h"

#include "FromArray.h"

namespace tracec::python {

namespace {

bool isNativeSequence(PyObject *object) {
  return PyList_Check(object) || PyTuple_Check(object) || PyRange_Check(object);
}

/// Of any iterable with a length; neither can be trusted.
PyObject *tupleOf(PyObject *sequence) {
  Py_ssize_t size = PyObject_Size(sequence);
  PyObject *iterator = size < 0 ? nullptr : PyObject_GetIter(sequence);
  PyObject *list = iterator ? PyList_New(0) : nullptr;
  bool ok = list != nullptr;
  while (ok && PyList_GET_SIZE(list) <= size) {
    PyObject *item = PyIter_Next(iterator);
    if (!item) {
      break;
    }
    ok = PyList_Append(list, item) == 0;
    Py_DECREF(item);
  }
  Py_XDECREF(iterator);
  PyObject *tuple = nullptr;
  if (ok && !PyErr_Occurred()) {
    if (PyList_GET_SIZE(list) == size) {
      tuple = PyList_AsTuple(list);
    } else {
      raiseFormat(PyExc_ValueError, "%s has a length of %zd but yields %s items",
                  Py_TYPE(sequence)->tp_name, size,
                  PyList_GET_SIZE(list) > size ? "more" : "fewer");
    }
  }
  Py_XDECREF(list);
  return tuple;
}

} // namespace

bool isSequence(PyObject *object) {
  if (isNativeSequence(object)) {
    return true;
  }
  PyTypeObject *type = Py_TYPE(object);
  bool hasItems =
      type->tp_as_sequence && type->tp_as_sequence->sq_item &&
      (type->tp_as_sequence->sq_length || (type->tp_as_mapping && type->tp_as_mapping->mp_length));
  bool isText = PyUnicode_Check(object) || PyBytes_Check(object) || PyByteArray_Check(object);
  return hasItems && !isText && !PyDict_Check(object) && !PyType_Check(object) &&
         !isArrayLike(object) &&
         // A mapping has __len__ and __getitem__, too.
         !PyObject_HasAttrString(reinterpret_cast<PyObject *>(type), "keys");
}

bool Items::read(PyObject *sequence) {
  tuple = PyTuple_CheckExact(sequence)  ? Py_NewRef(sequence)
          : PyList_CheckExact(sequence) ? PyList_AsTuple(sequence)
                                        : tupleOf(sequence);
  return tuple != nullptr;
}

} // namespace tracec::python
