/// The part of verifyProgram that checks native sections against the ops they cover.
///
///   TRACERT_TRY(verifySections(program));  // values, ops and signature have been checked
#pragma once

#include "tracert/Program.h"

namespace tracert {

Status verifySections(const Program &program);

} // namespace tracert
