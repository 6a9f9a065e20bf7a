/// Target: a kind of machine and a level of it, for which kernels and native sections are made.
///
///   Target target = bestTarget(); supports(kX86V3); targetName(section.target)
///
/// Levels are ordered within a kind only. Bits never depend on the target. Level 0 of a processor
/// is portable: what runs on any machine.
#pragma once

#include "tracert/Export.h"
#include "tracert/Status.h"

#include <compare>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string_view>

namespace tracert {

enum class TargetKind : uint8_t { X86 = 0, Aarch64 = 1, Nvptx = 2 };

struct Target {
  TargetKind kind;
  uint8_t level;

  /// A processor's level that needs no section of its own.
  constexpr bool isPortable() const { return kind != TargetKind::Nvptx && level == 0; }

  friend constexpr bool operator==(const Target &, const Target &) = default;
  /// Unordered between kinds. A machine that supports a level supports all below it.
  friend constexpr std::partial_ordering operator<=>(const Target &a, const Target &b) {
    return a.kind == b.kind ? std::partial_ordering(a.level <=> b.level)
                            : std::partial_ordering::unordered;
  }
};

#if defined(__x86_64__)
inline constexpr TargetKind kHostKind = TargetKind::X86;
#elif defined(__aarch64__)
inline constexpr TargetKind kHostKind = TargetKind::Aarch64;
#else
#error "libtracert knows x86-64 and aarch64; another processor needs a TargetKind"
#endif

inline constexpr Target kPortable{kHostKind, 0};
inline constexpr Target kX86V3{TargetKind::X86, 1};
inline constexpr Target kX86V4{TargetKind::X86, 2};
inline constexpr Target kAarch64Neon{TargetKind::Aarch64, 1};

/// Every target that has a name, levels ascending within a kind. Files name targets; the numbers
/// are this build's own.
struct NamedTarget {
  std::string_view name; // ends with a zero
  Target target;
};
inline constexpr NamedTarget kTargets[] = {
    {"portable", kPortable},
    {"x86-64-v3", kX86V3},
    {"x86-64-v4", kX86V4},
    {"aarch64-neon", kAarch64Neon},
    {"nvptx-sm_80", {TargetKind::Nvptx, 80}},
    {"nvptx-sm_90", {TargetKind::Nvptx, 90}},
    {"nvptx-sm_100", {TargetKind::Nvptx, 100}},
};

constexpr std::string_view targetName(Target target) {
  for (const NamedTarget &known : kTargets) {
    if (known.target == target) {
      return known.name;
    }
  }
  return target.isPortable() ? kTargets[0].name : "unknown";
}

/// Position in kTargets, for tables; a target without a name counts as portable.
constexpr size_t targetIndex(Target target) {
  for (size_t i = 0; i < std::size(kTargets); ++i) {
    if (kTargets[i].target == target) {
      return i;
    }
  }
  return 0;
}

constexpr std::optional<Target> targetFromName(std::string_view name) {
  for (const NamedTarget &known : kTargets) {
    if (known.name == name) {
      return known.target;
    }
  }
  return std::nullopt;
}

/// The best level that this processor and operating system support; defined beside the kernels.
TRACERT_API Target bestTarget();
/// InvalidArgument when TRACERT_MAX_ISA is set and names no level of this kind of processor;
/// bestTarget() then ignores it.
TRACERT_API Status checkTargetLimit();
/// Whether this machine runs code for `target`: its processor, or a registered device (Device.h).
TRACERT_API bool supports(Target target);

} // namespace tracert
