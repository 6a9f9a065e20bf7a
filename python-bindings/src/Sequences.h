/// Sequences of Python: what counts as one, and its items while user code runs.
///
///   Items items; if (!items.read(object)) { return nullptr; }
///   for (PyObject *item : items) { ... }
///
/// Items are held in a tuple of our own, because __index__, __float__ or __array__ of one of them
/// may change or empty the sequence that they come from.
#pragma once

#include "Errors.h"

namespace tracec::python {

/// list, tuple, range, or a type with __len__ and __getitem__ that is no mapping, text or array.
bool isSequence(PyObject *object);

class Items {
public:
  Items() = default;
  Items(const Items &) = delete;
  Items &operator=(const Items &) = delete;
  ~Items() { Py_XDECREF(tuple); }

  /// False with an exception set.
  bool read(PyObject *sequence);
  Py_ssize_t size() const { return PyTuple_GET_SIZE(tuple); }
  PyObject *operator[](Py_ssize_t i) const { return PyTuple_GET_ITEM(tuple, i); }
  PyObject *const *begin() const { return reinterpret_cast<PyTupleObject *>(tuple)->ob_item; }
  PyObject *const *end() const { return begin() + size(); }

private:
  PyObject *tuple = nullptr;
};

} // namespace tracec::python
