/// Counts what one executor holds and refuses what would pass its limit; the memory itself is
/// another allocator's.
///
///   auto budget = std::make_shared<BudgetAllocator>(processAllocator(), options.memoryLimit);
///
/// What leaves the executor is given away: it counts no longer, and keeps this allocator alive
/// until it is released. Thread safe.
#pragma once

#include "tracert/Allocator.h"

#include <mutex>
#include <unordered_map>

namespace tracert {

class BudgetAllocator final : public Allocator,
                              public std::enable_shared_from_this<BudgetAllocator> {
public:
  BudgetAllocator(Allocator &base, uint64_t limit)
      : Allocator(&base.space()), base(base), limit(limit) {}

  void *allocate(size_t size) override {
    if (!take(size)) {
      return nullptr;
    }
    void *data = base.allocate(size);
    if (!data) {
      give(size);
    }
    return data;
  }
  void release(void *data, size_t size) override {
    if (!data) {
      return;
    }
    // Destroyed last: it may hold the last reference to this allocator.
    std::shared_ptr<BudgetAllocator> self;
    {
      std::lock_guard lock(mutex);
      auto entry = givenAway.find(data);
      if (entry != givenAway.end()) {
        self = std::move(entry->second);
        givenAway.erase(entry);
      }
    }
    base.release(data, size);
    if (!self) {
      give(size);
    }
  }

  /// For memory that is allocated elsewhere; false when it would pass the limit.
  bool take(uint64_t bytes) {
    uint64_t used = inUse.load(std::memory_order_relaxed);
    do {
      if (bytes > limit || used > limit - bytes) {
        refused.store(true, std::memory_order_relaxed);
        return false;
      }
    } while (!inUse.compare_exchange_weak(used, used + bytes, std::memory_order_relaxed));
    return true;
  }
  void give(uint64_t bytes) { inUse.fetch_sub(bytes, std::memory_order_relaxed); }

  void giveAway(const Buffer &buffer) {
    {
      std::lock_guard lock(mutex);
      givenAway.emplace(buffer.data(), shared_from_this());
    }
    give(buffer.size());
  }

  /// Whether the limit, not the system, refused something since the last startRun().
  bool hasRefused() const { return refused.load(std::memory_order_relaxed); }
  void startRun() { refused.store(false, std::memory_order_relaxed); }

private:
  Allocator &base;
  const uint64_t limit;
  std::atomic<uint64_t> inUse{0};
  std::atomic<bool> refused{false};
  std::mutex mutex;
  std::unordered_map<void *, std::shared_ptr<BudgetAllocator>> givenAway;
};

} // namespace tracert
