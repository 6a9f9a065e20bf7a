#include "OperatingSystem.h"

#include <algorithm>

namespace tracert {
namespace {

bool isBelow(const Target &a, const Target &b) { return a < b; }

/// TRACERT_MAX_ISA names the highest level to use, to see what a lesser machine would do.
struct Limit {
  Target highest = os::detectTarget();
  /// What the variable says, when it names no level.
  std::string unknown;
};

Limit readLimit() {
  const char *wanted = os::environment("TRACERT_MAX_ISA");
  if (!wanted || !*wanted) {
    return {};
  }
  for (const NamedTarget &known : kTargets) {
    if (known.target.kind == kHostKind && known.name == wanted) {
      return {std::min(known.target, os::detectTarget(), isBelow), ""};
    }
  }
  return {os::detectTarget(), wanted};
}

const Limit &limit() {
  static const Limit read = readLimit();
  return read;
}

} // namespace

Status checkTargetLimit() {
  if (limit().unknown.empty()) {
    return {};
  }
  std::string known;
  for (const NamedTarget &level : kTargets) {
    if (level.target.kind == kHostKind) {
      known += (known.empty() ? "" : ", ") + std::string(level.name);
    }
  }
  return Status::invalidArgument("the environment variable TRACERT_MAX_ISA is '" + limit().unknown +
                                 "'; known: " + known)
      .withAdvice("set it to a known level, or unset it");
}

Target bestTarget() { return limit().highest; }

} // namespace tracert
