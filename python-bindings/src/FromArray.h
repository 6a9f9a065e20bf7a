/// Arrays through the buffer protocol.
#pragma once

#include "Errors.h"

#include "tracec/Value.h"

#include <optional>

namespace tracec::python {

/// Exports a buffer or converts to an array that does (has __array__), and is not bytes or text.
bool isArrayLike(PyObject *object);
/// The dtype of a NumPy scalar or array by its `dtype` attribute; nullopt for others.
std::optional<DType> arrayDType(PyObject *object);

/// A copy in native byte order; small and unsigned integers that are no dtype of ours become int64
/// when `widenIntegers`, else they are a TypeError.
bool copyArray(PyObject *object, bool widenIntegers, Value &value);
/// Shares the memory; ValueError when it would have to be converted.
bool shareArray(PyObject *object, Value &value);

} // namespace tracec::python
