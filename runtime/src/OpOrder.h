/// The order in which eager code runs a program's ops.
#pragma once

#include "tracert/Program.h"

namespace tracert {

/// Ops by the first recorded op that each came from, guards before the op that they guard, as far
/// as operands allow: a schedule may have moved them. The first error in this order is eager's.
std::vector<OpIndex> recordedOrder(const Program &program);

} // namespace tracert
