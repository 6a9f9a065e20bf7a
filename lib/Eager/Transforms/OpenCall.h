/// The traced call in progress on a thread, while it lives: its session on the stack, and the stamp
/// of the cells that are made.
#pragma once

#include "Eager/Transforms/TraceSession.h"

namespace tracec {

struct OpenCall {
  explicit OpenCall(TraceSession &session);
  /// Ends an excluded region, too.
  ~OpenCall();
  OpenCall(const OpenCall &) = delete;
  OpenCall &operator=(const OpenCall &) = delete;

  TraceSession &session;
  ScopedTransform scope;
  uint64_t serialBefore;
};

/// Puts the trace of this thread's call back on the stack, if an excluded region took it off.
void closeExcludedRegion();

} // namespace tracec
