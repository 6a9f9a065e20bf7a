#include "KernelCores.h"

#include <cpuid.h>

#include <algorithm>
#include <cstdlib>

namespace tracert {
namespace {

uint64_t enabledState() {
  uint32_t low, high;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (uint64_t(high) << 32) | low;
}

bool allSet(uint64_t bits, uint64_t wanted) { return (bits & wanted) == wanted; }

Isa detectIsa() {
  unsigned eax, ebx, ecx, edx;
  if (!__get_cpuid(1, &eax, &ebx, &ecx, &edx)) {
    return Isa::Portable;
  }
  constexpr unsigned leaf1 = bit_SSE3 | bit_SSSE3 | bit_FMA | bit_CMPXCHG16B | bit_SSE4_1 |
                             bit_SSE4_2 | bit_MOVBE | bit_POPCNT | bit_OSXSAVE | bit_AVX | bit_F16C;
  // The operating system must save the ymm (bits 1, 2) and zmm registers (bits 5 to 7).
  if (!allSet(ecx, leaf1) || !allSet(enabledState(), 0x06)) {
    return Isa::Portable;
  }
  if (!__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) ||
      !allSet(ebx, bit_AVX2 | bit_BMI | bit_BMI2)) {
    return Isa::Portable;
  }
  unsigned level7 = ebx;
  if (!__get_cpuid(0x80000001, &eax, &ebx, &ecx, &edx) || !allSet(ecx, bit_LAHF_LM | bit_LZCNT)) {
    return Isa::Portable;
  }
  constexpr unsigned avx512 =
      bit_AVX512F | bit_AVX512BW | bit_AVX512CD | bit_AVX512DQ | bit_AVX512VL;
  if (!allSet(level7, avx512) || !allSet(enabledState(), 0xE6)) {
    return Isa::V3;
  }
  return Isa::Avx512;
}

constexpr Isa kLevels[] = {Isa::Portable, Isa::V3, Isa::Avx512};

/// TRACERT_MAX_ISA names the highest level to use, to see what a lesser machine would do.
struct Limit {
  Isa highest = Isa::Avx512;
  /// What the variable says, when it names no level.
  std::string unknown;
};

Limit readLimit() {
  const char *wanted = std::getenv("TRACERT_MAX_ISA");
  if (!wanted || !*wanted) {
    return {};
  }
  for (Isa isa : kLevels) {
    if (isaName(isa) == wanted) {
      return {isa, ""};
    }
  }
  return {Isa::Avx512, wanted};
}

const Limit &limit() {
  static const Limit read = readLimit();
  return read;
}

} // namespace

Status checkIsaLimit() {
  if (limit().unknown.empty()) {
    return {};
  }
  std::string known;
  for (Isa isa : kLevels) {
    known += (known.empty() ? "" : ", ") + std::string(isaName(isa));
  }
  return Status::invalidArgument("the environment variable TRACERT_MAX_ISA is '" + limit().unknown +
                                 "'; known: " + known)
      .withAdvice("set it to a known level, or unset it");
}

Isa bestIsa() {
  static const Isa isa = std::min(detectIsa(), limit().highest);
  return isa;
}

} // namespace tracert
