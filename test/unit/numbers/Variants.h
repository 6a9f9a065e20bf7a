/// Variants.h: every build of the kernel cores that the contract says agree, loaded side by side.
///
///   for (const CoreVariant &variant : coreVariants()) variant.cores->sum[...].rows(...);
///
/// {gcc, clang} x {portable, v3, avx512}. The first is gcc's portable one, the one to compare with.
/// Compiled kernels, the other half of the contract, are in CompiledKernels.h.
#pragma once

#include "tracert/kernels/cores/KernelCores.h"

#include <string>
#include <vector>

namespace numbers {

struct CoreVariant {
  std::string name;
  const tracert::KernelCores *cores;
};

/// Those that this machine can run; a missing library fails the process.
const std::vector<CoreVariant> &coreVariants();

} // namespace numbers
