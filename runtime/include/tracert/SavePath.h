/// Where a program may be written.
///
///   TRACERT_TRY(checkSavePath("model.trc"));   // before time is spent on making the program
#pragma once

#include "tracert/Export.h"
#include "tracert/Status.h"

namespace tracert {

/// What writeProgram would say of the path: Io when it is no regular file, or its folder takes
/// none.
TRACERT_API Status checkSavePath(const std::string &path);

} // namespace tracert
