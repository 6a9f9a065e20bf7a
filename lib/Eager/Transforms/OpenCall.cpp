#include "Eager/Transforms/OpenCall.h"

#include <atomic>
#include <optional>
#include <utility>

namespace tracec {

/// A part of a traced call that its trace does not see.
struct ExcludedRegion {
  ExcludedRegion(ScopedTransform &trace, tracert::SourceLoc loc)
      : loc(std::move(loc)), suspension(std::in_place, trace) {}
  /// Where it was entered first.
  tracert::SourceLoc loc;
  size_t scopes = 0;
  /// Scopes of other threads and later calls may still hold a region that has ended.
  std::atomic<bool> isOver = false;
  /// Of the trace, in the thread of the call.
  std::optional<ScopedSuspension> suspension;
};

namespace {
thread_local OpenCall *openCall = nullptr;
/// Of that call.
thread_local std::shared_ptr<ExcludedRegion> openRegion;
} // namespace

void closeExcludedRegion() {
  if (std::shared_ptr<ExcludedRegion> region = std::exchange(openRegion, nullptr)) {
    region->isOver = true;
    region->suspension.reset();
  }
}

OpenCall::OpenCall(TraceSession &session)
    : session(session), scope(TransformSlot::Trace, session),
      serialBefore(std::exchange(creationSerial(), session.serial())) {
  openCall = this;
}

OpenCall::~OpenCall() {
  closeExcludedRegion();
  creationSerial() = serialBefore;
  openCall = nullptr;
}

//===----------------------------------------------------------------------===//
// Excluded regions
//===----------------------------------------------------------------------===//

Status ExcludeScope::enter() {
  thread = std::this_thread::get_id();
  if (!openRegion) {
    if (!openCall) {
      return Status();
    }
    TRACERT_TRY(openCall->session.beginExcluded());
    openRegion = std::make_shared<ExcludedRegion>(openCall->scope, currentLocation());
  }
  region = openRegion;
  ++region->scopes;
  return Status();
}

Status ExcludeScope::leave() {
  auto misuse = [](const tracert::SourceLoc &then, const char *detail, const char *advice) {
    return traceMismatch({"TC0213", "excluded region", 0, then, currentLocation()}, detail, advice);
  };
  if (thread == std::thread::id()) {
    return misuse({}, "exclude_from_trace() is left, but it is not entered",
                  "use it in a with statement");
  }
  thread = std::thread::id();
  std::shared_ptr<ExcludedRegion> left = std::move(region);
  if (!left || left->isOver) {
    return Status();
  }
  if (left != openRegion) {
    return misuse(left->loc,
                  "exclude_from_trace() was entered in another thread, and the traced call there "
                  "is still in progress",
                  "leave it in the thread that entered it");
  }
  if (--left->scopes == 0) {
    closeExcludedRegion();
  }
  return Status();
}

bool ExcludeScope::isOfThisThread() const { return thread == std::this_thread::get_id(); }

ExcludeScope::~ExcludeScope() {
  if (region && region == openRegion) {
    (void)leave();
  }
}

} // namespace tracec
