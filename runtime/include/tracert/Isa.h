/// CPU code levels with separate kernels and native sections. Bits never depend on the level.
///
///   Isa isa = bestIsa(); isaSupported(Isa::V3)
#pragma once

#include "tracert/Export.h"
#include "tracert/Status.h"

#include <cstdint>
#include <string_view>

namespace tracert {

/// Ordered: a machine that supports a level supports all below it. Stored in files.
enum class Isa : uint8_t { Portable = 0, V3 = 1, Avx512 = 2 };

/// The best level that this processor and operating system support; defined beside the kernels.
TRACERT_API Isa bestIsa();
/// InvalidArgument when TRACERT_MAX_ISA is set and names no level; bestIsa() then ignores it.
TRACERT_API Status checkIsaLimit();
inline bool isaSupported(Isa isa) { return isa <= bestIsa(); }

constexpr std::string_view isaName(Isa isa) {
  switch (isa) {
  case Isa::Portable:
    return "portable";
  case Isa::V3:
    return "x86-64-v3";
  case Isa::Avx512:
    return "x86-64-v4";
  }
  return "unknown";
}

} // namespace tracert
