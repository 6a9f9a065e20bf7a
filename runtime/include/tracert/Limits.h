/// What a file may ask of the loader and of a session: every quantity that a file can multiply is
/// counted against one of these before it is spent (docs/limits.md says where).
///
/// Sizes are bytes unless the name says otherwise. Limits of the format itself (segments, rank,
/// 2 GB of graph) are in FileFormat.h and Tensor.h.
#pragma once

#include <cstdint>

namespace tracert {

/// The tables, strings and lists that the loader visits may together have as many bytes as the
/// segment they lie in, and this for rounding: what is written is never shared, so a file that
/// points at one table many times is refused.
inline constexpr uint64_t kGraphSlack = 1024;

/// Of the name of a source file, as the system's own limit; a location has a copy of it.
inline constexpr uint64_t kMaxFileNameBytes = 4096;

/// Steps of the check of native sections, per op, value, operand, access and instruction of the
/// program: what a launch covers is looked at once per launch.
inline constexpr uint64_t kScheduleWorkPerItem = 1024;

/// Work between two looks at a run's control (RunControl.h), by a kernel's own estimate. Less than
/// this runs without a look.
inline constexpr double kNanosecondsBetweenChecks = 1e6;

/// A compiled kernel that cannot be ended half way is not begun when this part of its estimated
/// time is more than what is left: estimates are rough.
inline constexpr double kCertainPartOfEstimate = 0.25;

/// Defaults for files that are not trusted (tc.load(path, untrusted=True)).
inline constexpr uint64_t kUntrustedLoadMemory = uint64_t(256) << 20;
inline constexpr uint64_t kUntrustedRunMemory = uint64_t(4) << 30;
inline constexpr uint64_t kUntrustedTimeMs = 60'000;

} // namespace tracert
