#include "tracert/RunControl.h"

#include <utility>

namespace tracert {
namespace {

thread_local const RunControl *current = nullptr;

} // namespace

const RunControl *currentRunControl() { return current; }

const RunControl *setCurrentRunControl(const RunControl *control) {
  return std::exchange(current, control);
}

} // namespace tracert
