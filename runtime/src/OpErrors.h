/// How a failed op is named to the user.
///
///   return atOp(program, op, status);  // "... (op #3 'sum' at model.py:12)"
#pragma once

#include "tracert/Program.h"

namespace tracert {

/// The same code; the message with the op and its source line at the end.
Status atOp(const Program &program, OpIndex op, const Status &status);

/// "op #3 'sum' at model.py:12", without the place when locations were stripped.
std::string opPlace(const Program &program, OpIndex op);

} // namespace tracert
