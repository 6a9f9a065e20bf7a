#include "tracec/Dispatch.h"

#include "tracert/ThreadPool.h"

namespace tracec {

namespace {
LocationProvider locationProvider = nullptr;
} // namespace

uint64_t &creationSerial() {
  thread_local uint64_t serial = 0;
  return serial;
}

void setLocationProvider(LocationProvider provider) { locationProvider = provider; }

tracert::SourceLoc currentLocation() {
  return locationProvider ? locationProvider() : tracert::SourceLoc{};
}

EvalOptions &evalOptions() {
  // The pool of the process is never destroyed, so nobody owns it.
  thread_local EvalOptions options{
      tracert::bestTarget(),
      std::shared_ptr<tracert::ThreadPool>(std::shared_ptr<void>(), &tracert::processThreadPool())};
  return options;
}

} // namespace tracec
