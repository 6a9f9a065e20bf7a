/// What functions of the module and methods of tensors share, with their arguments as Python gave
/// them. New references, or null with an exception set.
#pragma once

#include "Arguments.h"

namespace tracec::python {

/// `argument` as a tensor: itself, or data read into `storage`. Null with an exception set.
const Tensor *tensorArgument(PyObject *argument, Tensor &storage);

PyObject *reduceTensor(tracert::OpKind kind, PyObject *x, PyObject *axis, PyObject *keepdims,
                       PyObject *dtype);
PyObject *castTensor(PyObject *x, PyObject *dtype);
PyObject *reshapeOf(PyObject *x, std::vector<SizeArg> &sizes);
PyObject *broadcastOf(PyObject *x, std::vector<SizeArg> &sizes);
PyObject *transposeOf(PyObject *x, PyObject *axes);
PyObject *swapAxesOf(PyObject *x, PyObject *first, PyObject *second);
PyObject *moveAxesOf(PyObject *x, PyObject *from, PyObject *to);
PyObject *squeezeOf(PyObject *x, PyObject *axis);
PyObject *expandOf(PyObject *x, PyObject *axis);
PyObject *flipOf(PyObject *x, PyObject *axis);
/// A tensor of its own with the same value and name.
PyObject *copyTensor(PyObject *x, bool keepsConst);
/// (bytes, dtype, shape, name, const) -> tensor; what pickles hold.
PyObject *rebuildTensor(PyObject *module, PyObject *state);
extern PyObject *rebuildFunction;

/// A set with an update (OpInfo::update) as a new tensor, and in place, which gives None.
PyObject *updateTensor(tracert::OpKind set, const char *function, PyObject *x, PyObject *index,
                       PyObject *value);
PyObject *updateTensorInPlace(tracert::OpKind set, const char *function, PyObject *x,
                              PyObject *index, PyObject *value);

extern PyMethodDef moduleFunctions[]; // Functions.cpp
extern PyMethodDef createFunctions[]; // Create.cpp

} // namespace tracec::python
