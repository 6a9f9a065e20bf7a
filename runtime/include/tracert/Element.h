/// Element.h: one element of any dtype as a number of C++, and back.
///
///   int64_t size = integerAt(view.data, view.dtype);
///   uint64_t bits = floatBits(0.1, DType::Float16);
///
/// For code that meets single elements: text, sizes, Python numbers. `data` points at dtypeSize
/// bytes of any alignment.
#pragma once

#include "tracert/DType.h"
#include "tracert/Export.h"

#include <string>

namespace tracert {

/// A bool or integer; a uint64 that is greater than every int64 is the greatest of them.
TRACERT_API int64_t integerAt(const void *data, DType dtype);
/// The digits of an integer, "0" or "1" of a bool.
TRACERT_API std::string integerText(const void *data, DType dtype);
/// Whether an integer dtype holds the integer; true for other dtypes.
TRACERT_API bool integerFits(int64_t integer, DType dtype);

/// A float, exactly.
TRACERT_API double floatAt(const void *data, DType dtype);
TRACERT_API bool isNaNAt(const void *data, DType dtype);
/// The element nearest to `value`, ties to even: its bytes in the low bytes.
TRACERT_API uint64_t floatBits(double value, DType dtype);
/// The same of an integer that a double may not hold: int64, or the bits of a uint64.
TRACERT_API uint64_t floatBitsOfInteger(int64_t integer, bool isUInt64, DType dtype);

} // namespace tracert
