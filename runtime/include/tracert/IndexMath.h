/// The arithmetic of slices and positions, resolved against the size of an axis.
///
///   ResolvedSlice slice = resolveSlice(item, item.begin, item.end, /*size=*/5);
///   int64_t position = -1; bool inRange = resolveIndex(position, 5);  // position is 4
///
/// Pure functions; every int64 is accepted and nothing overflows.
#pragma once

#include "tracert/Export.h"
#include "tracert/IndexItems.h"

namespace tracert {

/// A slice of an axis, resolved: the first position, the step and how many elements. `begin` is
/// within the axis whenever count > 0.
struct ResolvedSlice {
  int64_t begin;
  int64_t step;
  int64_t count;
};
/// NumPy's slice rule; begin/end of the item are taken from `begin`/`end` when they are operands.
TRACERT_API ResolvedSlice resolveSlice(const IndexItem &item, int64_t begin, int64_t end,
                                       int64_t size);

/// Wraps a negative position; false when it lies outside [-size, size), and then it is unchanged.
inline bool resolveIndex(int64_t &position, int64_t size) {
  if (position < -size || position >= size) {
    return false;
  }
  if (position < 0) {
    position += size;
  }
  return true;
}

} // namespace tracert
