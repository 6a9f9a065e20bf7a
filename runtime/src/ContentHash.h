/// XXH3 (64 bits) of a segment's content, fed in pieces.
///
///   ContentHash hash; hash.add(data, size); hash.addZeros(padding); uint64_t value =
///   hash.finish();
///
/// The library's header is included here only, compiled into this file's users.
#pragma once

#include <algorithm>
#include <cstdint>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace tracert {

class ContentHash {
public:
  ContentHash() { XXH3_64bits_reset(&state); }
  void add(const void *data, size_t size) {
    if (size > 0) {
      XXH3_64bits_update(&state, data, size);
    }
  }
  void addZeros(size_t count) {
    static constexpr char zeros[64] = {};
    for (; count > 0; count -= std::min(count, sizeof zeros)) {
      add(zeros, std::min(count, sizeof zeros));
    }
  }
  uint64_t finish() const { return XXH3_64bits_digest(&state); }

private:
  XXH3_state_t state;
};

inline uint64_t contentHash(const void *data, size_t size) { return XXH3_64bits(data, size); }

} // namespace tracert
