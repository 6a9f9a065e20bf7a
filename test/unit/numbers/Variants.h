/// Variants.h: every build of the numbers that the contract says agree, loaded side by side.
///
///   for (const CoreVariant &variant : coreVariants()) variant.cores->sum[...].rows(...);
///   for (const BitcodeVariant &variant : bitcodeVariants()) variant.loop("tcs_add_f32");
///
/// {gcc, clang} x {portable, v3, avx512} as kernel cores, and the bitcode modules of v3 and avx512
/// in vector and in scalar lanes. The first core variant is gcc's portable one, the one to compare
/// with.
#pragma once

#include "tracert/kernels/cores/KernelCores.h"

#include <string>
#include <vector>

namespace numbers {

struct CoreVariant {
  std::string name;
  const tracert::KernelCores *cores;
};

using BitcodeLoop = void (*)(const void *, const void *, const void *, void *, int64_t vectors);

struct BitcodeVariant {
  std::string name;
  void *library;
  int lanes;
  /// Null if the module has no such function; `function` lacks the lanes: "tcs_add_f32".
  BitcodeLoop loop(const std::string &function) const;
};

/// Those that this machine can run; a missing library fails the process.
const std::vector<CoreVariant> &coreVariants();
const std::vector<BitcodeVariant> &bitcodeVariants();

} // namespace numbers
