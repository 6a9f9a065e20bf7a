/// From Python to values: tensors, NumPy arrays and scalars, nested lists, Python numbers.
///
///   Operand operands[2]; if (!readOperands(args, 2, "add", operands)) { return nullptr; }
///
/// Lists and arrays become constants: a trace compares them on every call. NumPy is never imported
/// here: arrays come through the buffer protocol.
#pragma once

#include "Errors.h"

#include "tracec/Functional.h"

#include <optional>

namespace tracec::python {

enum class Reading { Ok, NotANumber, Error };

/// The operands of one op. NotANumber (None, str, ...): no exception is set, so that Python may try
/// the other operand's method. A tc.Size promotes as an int and stays symbolic.
Reading tryOperands(PyObject *const *objects, size_t count, Operand *operands);
/// The same for functions: NotANumber is a TypeError naming `function`.
bool readOperands(PyObject *const *objects, size_t count, const char *function, Operand *operands);

/// Any data as a tensor value; Python numbers get their default dtype.
bool readValue(PyObject *object, std::optional<DType> dtype, Value &value);
/// A value that can be the content of a cell: in logical order, so that reshape gives views of it.
/// Copies the value of `source` if that is a view.
Result<Value> ownValue(Value value, PyObject *source);
/// The value in memory of its own.
Result<Value> copyValue(Value value);
/// A Python bool, int or float (not a NumPy scalar).
bool isPythonScalar(PyObject *object);
PythonScalar readScalar(PyObject *object);

/// Data of an index: integers as int64 unless their dtype is one of ours, lists of bools as masks.
/// IndexError for anything else.
bool readIndexArray(PyObject *object, Value &value);

/// An array's own memory as a foreign value, for copy=False; ValueError when that is impossible.
bool borrowArray(PyObject *object, Value &value);

/// Lets the active transforms see a value made from host data.

} // namespace tracec::python
