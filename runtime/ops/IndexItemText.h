/// Messages about indices, and reading index values of any integer dtype.
///
///   return outOfRange(7, /*axis=*/0, /*size=*/5);
#pragma once

#include "tracert/OpRules.h"

namespace tracert::rules {

/// IndexOutOfRange "index 7 is out of range for axis 0 of size 5".
TRACERT_API Status outOfRange(const std::string &index, int axis, const std::string &size);
Status outOfRange(int64_t index, int axis, int64_t size);
/// InvalidArgument "could not broadcast value of shape (3,4) to indexed shape (3,5)".
TRACERT_API Status valueShapeError(const std::string &value, const std::string &indexed);
Status valueShapeError(const Dims &value, const Dims &indexed);
/// Whether a set's value fits the indexed shape: it broadcasts, and may have extra leading 1s.
bool valueFits(const Dims &value, const Dims &indexed);

} // namespace tracert::rules
