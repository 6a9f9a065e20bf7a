/// How much each cache of a process may keep. Nothing that this library or the compiler keeps for
/// later calls grows beyond these; what was used least recently goes first.
///
///   RecentList<Plan> plans(kMaxPlansPerExecutor);   // RecentList.h
///
/// What a bound costs when it is passed is said with it. A cache that is not here needs no bound
/// because what it holds goes with its owner (docs/architecture.md).
#pragma once

#include <cstddef>

namespace tracert {

/// Plans of one executor, by input shapes and strides. Beyond: a plan is made again (microseconds
/// per op), and the arena shrinks to what the plans that are left need.
inline constexpr size_t kMaxPlansPerExecutor = 8;

/// Specialisations of a traced function. Beyond: the next call of that kind records again.
inline constexpr size_t kMaxSpecialisations = 8;

/// Programs of one segment of a record, by ISA and by which sizes are 1. Beyond: the code, if it is
/// still in the cache of compiled kernels, is put together again; else compiled (milliseconds).
inline constexpr size_t kMaxProgramsPerSegment = 8;

/// Of those, programs for inputs of the same types with other strides; the last one serves all that
/// have no own.
inline constexpr size_t kMaxStrideClasses = 4;

/// Executors of one segment that wait for the next call, each with its plans and arena. As many
/// threads replay one function without making executors anew.
inline constexpr size_t kMaxIdleExecutorsPerSegment = 16;

/// Bytes of compiled kernels, their keys included, per process; a kernel takes about 7 KB. Beyond:
/// a kernel that comes again is compiled again (milliseconds).
inline constexpr size_t kMaxCompiledKernelBytes = size_t(8) << 20;

/// Compilations, and kernels compiled, after which the compiler's contexts are made anew (some
/// milliseconds): types, attributes, constants and names live as long as their context.
inline constexpr size_t kMaxCompilationsPerContext = 256;

/// Thread pools that tc.options(threads=...) made, by their number of threads. Beyond: the threads
/// of the oldest end when nothing runs on it, and start again when it is asked for again.
inline constexpr size_t kMaxThreadPools = 4;

/// Free bytes that an allocator keeps; beyond it blocks go back to the system.
inline constexpr size_t kMaxCachedBytes = size_t(1) << 30;

} // namespace tracert
