/// Memory that one load may take, counted before it is allocated.
///
///   LoadBudget memory(options.memoryLimit);
///   TRACERT_TRY(memory.take(bytes, "a copy of the file"));
#pragma once

#include "tracert/Limits.h"
#include "tracert/RunControl.h"

#include <cstdint>

namespace tracert {

class LoadBudget {
public:
  /// 0: no limit.
  explicit LoadBudget(uint64_t limit) : limit(limit), left(limit == 0 ? UINT64_MAX : limit) {}

  /// `what` completes "... needs more".
  Status take(uint64_t bytes, const char *what) {
    if (bytes <= left) {
      left -= bytes;
      return {};
    }
    return Status(kResourceExhausted, std::string(what) + " needs more than the load's limit of " +
                                          std::to_string(limit) + " bytes of memory");
  }

private:
  uint64_t limit;
  uint64_t left;
};

} // namespace tracert
