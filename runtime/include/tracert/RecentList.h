/// RecentList: a few items in order of use, at most `limit`; the least recently used goes.
///
///   RecentList<Plan> plans(kMaxPlansPerExecutor);
///   if (Plan *plan = plans.find([&](const Plan &p) { return p.fits(inputs); })) { ... }
///   std::optional<Plan> evicted = plans.add(std::move(plan));
///
/// What goes is handed to the caller, who drops it where that may run any code (outside a lock).
/// Iteration is from the least to the most recently used. Looking up is linear. Pointers to items
/// are good until the next call. Not thread safe.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

namespace tracert {

template <class Item> class RecentList {
public:
  explicit RecentList(size_t limit) : limit(limit) {}

  /// The most recently used item that fits, which is now the most recent; or null.
  template <class Predicate> Item *find(Predicate fits) {
    for (size_t i = items.size(); i-- > 0;) {
      if (fits(std::as_const(items[i]))) {
        auto found = items.begin() + static_cast<std::ptrdiff_t>(i);
        std::rotate(found, found + 1, items.end());
        return &items.back();
      }
    }
    return nullptr;
  }

  /// As find, but the item leaves the list.
  template <class Predicate> std::optional<Item> take(Predicate fits) {
    std::optional<Item> taken;
    if (Item *found = find(fits)) {
      taken.emplace(std::move(*found));
      items.pop_back();
    }
    return taken;
  }

  /// `item` is now the most recent; gives what had to go for it.
  std::optional<Item> add(Item item) {
    std::optional<Item> evicted;
    if (items.size() >= limit) {
      evicted.emplace(std::move(items.front()));
      items.erase(items.begin());
    }
    items.push_back(std::move(item));
    return evicted;
  }

  /// All that fit leave the list.
  template <class Predicate> std::vector<Item> takeAll(Predicate fits) {
    std::vector<Item> taken, kept;
    for (Item &item : items) {
      (fits(std::as_const(item)) ? taken : kept).push_back(std::move(item));
    }
    items = std::move(kept);
    return taken;
  }

  bool empty() const { return items.empty(); }
  size_t size() const { return items.size(); }
  /// The most recently used; there is one.
  Item &latest() { return items.back(); }
  const Item &latest() const { return items.back(); }
  auto begin() const { return items.begin(); }
  auto end() const { return items.end(); }
  const Item &operator[](size_t i) const { return items[i]; }

private:
  size_t limit;
  /// Most recently used last.
  std::vector<Item> items;
};

} // namespace tracert
