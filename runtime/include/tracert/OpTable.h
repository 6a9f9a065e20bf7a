/// The table of all ops (generated/OpInfo.cpp) and how names are found in it.
#pragma once

#include "tracert/Op.h"

#include <span>

namespace tracert {

struct OpTable {
  /// By OpKind.
  std::span<const OpInfo> ops;
  /// Numbers of ops by the FNV-1a hash of their name modulo the size, a power of two; a name whose
  /// place is taken is in one of the next ones. -1: free.
  std::span<const int16_t> names;
};
extern const OpTable opTable;

} // namespace tracert
