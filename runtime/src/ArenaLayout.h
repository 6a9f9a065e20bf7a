/// Offsets for buffers that live for a part of a schedule, so that buffers alive together never
/// overlap.
///
///   ArenaRequest requests[] = {{.bytes = 400, .firstStep = 0, .lastStep = 2}};
///   size_t arenaBytes = layOutArena(requests);       // fills requests[i].offset
///
/// Best fit over the free blocks in order of first step. Offsets are multiples of 64 and every
/// buffer is followed by kBufferSlack bytes of its own. Steps are inclusive at both ends.
#pragma once

#include "tracert/Allocator.h"

#include <span>

namespace tracert {

struct ArenaRequest {
  int64_t bytes = 0;
  int32_t firstStep = 0;
  int32_t lastStep = 0;
  size_t offset = 0;
};

/// What a buffer of `bytes` takes in the arena.
inline size_t arenaBlockSize(int64_t bytes) {
  size_t size = static_cast<size_t>(bytes) + kBufferSlack;
  return (size + kBufferAlignment - 1) / kBufferAlignment * kBufferAlignment;
}

/// Bytes of the whole arena. SIZE_MAX when the sum does not fit.
size_t layOutArena(std::span<ArenaRequest> requests);

} // namespace tracert
