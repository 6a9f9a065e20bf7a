/// tc.Size: a size of a tensor inside a trace. Sums, differences and products of sizes stay
/// symbolic; int(), range(), comparisons, hashing and formatting read ("bake") the number.
///
///   PyObject *shape = wrapShape(tensor);   // ints outside a trace, Sizes inside (1 stays an int)
#pragma once

#include "Errors.h"

#include "tracec/Tensor.h"

namespace tracec::python {

bool isSize(PyObject *object);
/// The size as a recorded rank-0 int64.
Result<Value> sizeValue(PyObject *size);
/// Made by arithmetic, so it may be negative.
bool isComputedSize(PyObject *size);
/// The number; a host read of the size.
Result<int64_t> bakeSize(PyObject *size);

PyObject *wrapShape(const Tensor &tensor);
/// The size of one axis as a number, for len() and iteration.
Result<int64_t> hostSize(const Tensor &tensor, int64_t axis);

bool addSizeType(PyObject *module);

} // namespace tracec::python
