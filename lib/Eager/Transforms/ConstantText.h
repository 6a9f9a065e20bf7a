/// Constants of a record in messages.
///
///   constantDifference(then, now)   "was 1e-09 (float) and is 2e-09 (float)"
#pragma once

#include "Eager/Transforms/TraceRecord.h"

namespace tracec {

/// A constant as it comes up in a replay.
struct ConstantNow {
  ConstantTag tag;
  const PythonScalar &scalar;
  const Value &value;
};

/// Bit for bit, with the Python type: 1, True and 1.0 differ, NaN equals itself.
bool isSameConstant(const ConstantStep &then, const ConstantNow &now);
/// Both sides; for arrays of one type, the first element that differs.
std::string constantDifference(const ConstantStep &then, const ConstantNow &now);

} // namespace tracec
