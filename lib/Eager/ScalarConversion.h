/// Python scalars as constants of a dtype, and the cast rules of in-place operators.
#pragma once

#include "tracec/Functional.h"

namespace tracec {

/// Whether an int (or bool) scalar is representable in an integer dtype; true for other pairs.
bool fitsDType(const PythonScalar &scalar, DType dtype);

/// The low bits of an integer, as elements wrap: a step may lie outside the dtype of the elements.
tracert::Scalar wrapped(int64_t value, DType dtype);

/// The shortest digits that read back as the same value: 1e-09, 0.1, inf.
std::string floatText(double value);
/// The digits of an int; beyond 64 bits those of its nearest double.
std::string integerText(const PythonScalar &scalar);

/// The constant; Overflow for an int outside an integer dtype or an infinite float, InvalidArgument
/// for NaN to an integer; floats truncate to integers, ints round to floats.
Result<tracert::Scalar> convertScalar(const PythonScalar &scalar, DType dtype);

/// NumPy's same_kind casting.
bool isSameKindCast(DType from, DType to);

} // namespace tracec
