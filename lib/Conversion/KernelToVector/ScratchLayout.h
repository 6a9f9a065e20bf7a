/// ScratchLayout: what a kernel keeps in KernelFrame::scratch. Read by the lowering, which places
/// the parts, and by KernelSupport.cpp, whose functions work on them; plain data, no MLIR.
///
///   [0, 64)  IndexErrorRecord, if the kernel checks indices
///   then one reduction state of kReductionStateBytes per reduction that needs one
#pragma once

#include "tracert/KernelAbi.h"

#include <cstddef>
#include <cstdint>

namespace tracec {

/// The first failed index: by gather in program order, then by position.
struct IndexErrorRecord {
  /// Access number of the gather; INT64_MAX while no index has failed.
  int64_t gather;
  /// C-order position in the domain.
  int64_t position;
  /// The access to name: the Index access, or the gather when the index was computed.
  int64_t access;
};

inline constexpr size_t kScratchErrorBytes = 64;

/// A sum's block buffer with slack and its block tree (KernelSupport.cpp asserts the size).
inline constexpr size_t kReductionStateBytes = 36 * 1024;

inline constexpr size_t kMaxReductionStates =
    (tracert::kKernelScratchBytes - kScratchErrorBytes) / kReductionStateBytes;

} // namespace tracec
