#include "ArenaLayout.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <queue>
#include <vector>

namespace tracert {
namespace {

/// Free blocks by offset, never touching one another.
class FreeBlocks {
public:
  /// The smallest block that fits, else one at the end, which grows the arena.
  size_t take(size_t size) {
    auto best = blocks.end();
    for (auto it = blocks.begin(); it != blocks.end(); ++it) {
      if (it->second >= size && (best == blocks.end() || it->second < best->second)) {
        best = it;
      }
    }
    if (best == blocks.end()) {
      return takeAtEnd(size);
    }
    size_t offset = best->first;
    size_t rest = best->second - size;
    blocks.erase(best);
    if (rest > 0) {
      blocks.emplace(offset + size, rest);
    }
    return offset;
  }

  void give(size_t offset, size_t size) {
    auto next = blocks.lower_bound(offset);
    if (next != blocks.end() && offset + size == next->first) {
      size += next->second;
      next = blocks.erase(next);
    }
    if (next != blocks.begin()) {
      auto previous = std::prev(next);
      if (previous->first + previous->second == offset) {
        previous->second += size;
        return;
      }
    }
    blocks.emplace(offset, size);
  }

  size_t arenaSize() const { return end; }

private:
  size_t takeAtEnd(size_t size) {
    size_t offset = end;
    if (!blocks.empty()) {
      auto last = std::prev(blocks.end());
      if (last->first + last->second == end) {
        offset = last->first;
        blocks.erase(last);
      }
    }
    end = size > SIZE_MAX - offset ? SIZE_MAX : offset + size;
    return offset;
  }

  std::map<size_t, size_t> blocks;
  size_t end = 0;
};

} // namespace

size_t layOutArena(std::span<ArenaRequest> requests) {
  std::vector<size_t> order(requests.size());
  std::iota(order.begin(), order.end(), size_t(0));
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    const ArenaRequest &left = requests[a];
    const ArenaRequest &right = requests[b];
    // Of buffers that start together, the largest chooses first.
    if (left.firstStep != right.firstStep) {
      return left.firstStep < right.firstStep;
    }
    return left.bytes != right.bytes ? left.bytes > right.bytes : a < b;
  });
  using Ending = std::pair<int32_t, size_t>;
  std::priority_queue<Ending, std::vector<Ending>, std::greater<>> alive;
  FreeBlocks free;
  size_t total = 0;
  for (size_t index : order) {
    ArenaRequest &request = requests[index];
    while (!alive.empty() && alive.top().first < request.firstStep) {
      const ArenaRequest &ended = requests[alive.top().second];
      free.give(ended.offset, arenaBlockSize(ended.bytes));
      alive.pop();
    }
    request.offset = free.take(arenaBlockSize(request.bytes));
    if (free.arenaSize() == SIZE_MAX) {
      return SIZE_MAX;
    }
    total = std::max(total, free.arenaSize());
    alive.emplace(request.lastStep, index);
  }
  return total;
}

} // namespace tracert
