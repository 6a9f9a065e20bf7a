/// The contract between compiled kernels and the executor. Plain C data, since generated code reads
/// it by offset; the code generator takes the offsets from this header.
///
///   int32_t kernel(KernelFrame *frame);
///
/// A kernel is position-independent code that touches only the frame, the memory behind it and its
/// own read-only data. It is a loop nest over a domain of rank `domainRank`; every access is a base
/// pointer and one byte stride per domain axis. Gathers add `sizes` and an axis stride per indexed
/// axis. Which accesses a kernel has, and how each is bound, is in its KernelDef (Program.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace tracert {

/// Number of this contract, in every native section. A section of another number is skipped.
inline constexpr uint32_t kKernelAbi = 1;

/// The axis along which a kernel takes vectors and to which its stride classes refer: the innermost
/// one of the domain that is not statically 1 (sizes that are not known are not 1), the first one
/// if all are, 0 for rank 0.
inline size_t vectorAxisOf(std::span<const int64_t> domain) {
  size_t axis = domain.empty() ? 0 : domain.size() - 1;
  while (axis > 0 && domain[axis] == 1) {
    --axis;
  }
  return axis;
}

struct KernelFrame {
  /// One per access: the view's first element; for outputs the result buffer.
  void *const *pointers;
  /// Domain sizes, outermost first.
  const int64_t *domain;
  /// Byte strides, access-major: strides[access * domainRank + axis]. 0 where the access repeats.
  const int64_t *strides;
  /// Gathers, in access order, two entries per indexed axis: axis size, axis byte stride.
  const int64_t *gathers;
  /// The part of the split axis to do: [begin, end). The split axis is domain axis 0 for kernels
  /// that map, and the block number (blocks of 4096 sequence elements) for a split full reduction.
  int64_t begin;
  int64_t end;
  /// kKernelScratchBytes of scratch, 64-byte aligned, private to the calling thread.
  void *scratch;
  /// Written by the kernel: selected-element count of compact kernels; for a failed index the
  /// domain's flat position in C order (the first bad one), and the access that failed.
  int64_t count;
  int64_t errorPosition;
  int64_t errorAccess;
};

/// Return values.
inline constexpr int32_t kKernelOk = 0;
inline constexpr int32_t kKernelIndexOutOfRange = 1;

/// Enough for eight block buffers of 4096 + 64 eight-byte elements and the block trees.
inline constexpr size_t kKernelScratchBytes = 320 * 1024;

using KernelEntry = int32_t (*)(KernelFrame *);

} // namespace tracert
