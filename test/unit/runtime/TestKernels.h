/// Kernels as the code generator makes them: position-independent functions without calls or
/// constants, whose bytes are taken from the test program's own section.
///
///   NativeSection section = testSection();
///   section.kernels.push_back({.name = "add", .codeOffset = kernelOffset(addF32), ...});
#pragma once

#include "tracert/KernelAbi.h"
#include "tracert/Program.h"

namespace tracert::test {

/// The bytes of all kernels below, for the baseline of the machine that runs the tests.
std::vector<uint8_t> kernelCode();
uint64_t kernelOffset(KernelEntry kernel);

/// Flat: out = a + b, float.
int32_t addF32(KernelFrame *frame);
/// Rank 2, any strides: out = a + b, float.
int32_t addStrided(KernelFrame *frame);
/// Flat, split by blocks of 4096: one int64 partial sum per block.
int32_t sumBlocks(KernelFrame *frame);
/// Rank 1: out[i] = base[index[i]], float, int64 index; accesses gather, index, store.
int32_t gatherF32(KernelFrame *frame);
/// Flat: packs a where the mask byte is set; accesses mask, a, packed; counts.
int32_t compactF32(KernelFrame *frame);
/// Flat: int64 sum of a where the mask is set; accesses mask, a, sum; counts.
int32_t maskedSum(KernelFrame *frame);
/// Rank 1, any stride: set[i] = a[i] + a[i], float; accesses a, set.
int32_t doubleIntoSet(KernelFrame *frame);

} // namespace tracert::test
