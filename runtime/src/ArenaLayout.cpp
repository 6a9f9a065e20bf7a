#include "ArenaLayout.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <queue>
#include <set>
#include <vector>

namespace tracert {
namespace {

/// Free blocks, never touching one another.
class FreeBlocks {
public:
  /// The smallest block that fits (the first of them), else one at the end, which grows the arena.
  size_t take(size_t size) {
    auto best = bySize.lower_bound({size, 0});
    if (best == bySize.end()) {
      return takeAtEnd(size);
    }
    auto [blockSize, offset] = *best;
    remove(byOffset.find(offset));
    if (blockSize > size) {
      add(offset + size, blockSize - size);
    }
    return offset;
  }

  void give(size_t offset, size_t size) {
    auto next = byOffset.lower_bound(offset);
    if (next != byOffset.end() && offset + size == next->first) {
      size += next->second;
      next = remove(next);
    }
    if (next != byOffset.begin()) {
      auto previous = std::prev(next);
      if (previous->first + previous->second == offset) {
        offset = previous->first;
        size += previous->second;
        remove(previous);
      }
    }
    add(offset, size);
  }

  size_t arenaSize() const { return end; }

private:
  using ByOffset = std::map<size_t, size_t>;

  void add(size_t offset, size_t size) {
    byOffset.emplace(offset, size);
    bySize.emplace(size, offset);
  }
  ByOffset::iterator remove(ByOffset::iterator block) {
    bySize.erase({block->second, block->first});
    return byOffset.erase(block);
  }

  size_t takeAtEnd(size_t size) {
    size_t offset = end;
    if (!byOffset.empty()) {
      auto last = std::prev(byOffset.end());
      if (last->first + last->second == end) {
        offset = last->first;
        remove(last);
      }
    }
    end = size > SIZE_MAX - offset ? SIZE_MAX : offset + size;
    return offset;
  }

  ByOffset byOffset;
  /// (size, offset), so that a program of many values is laid out in less than quadratic time.
  std::set<std::pair<size_t, size_t>> bySize;
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
