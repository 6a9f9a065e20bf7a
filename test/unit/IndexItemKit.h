/// Items of an index, for tests that build ops by hand.
///
///   AttrValue::index(itemsOf({slice(1, {}), arrayItem()}))       // x[1:, array]
#pragma once

#include "tracert/Op.h"

#include <memory>
#include <optional>
#include <vector>

namespace tracert::test {

inline IndexItem slice(std::optional<int64_t> begin, std::optional<int64_t> end, int64_t step = 1) {
  IndexItem item;
  item.hasBegin = begin.has_value();
  item.hasEnd = end.has_value();
  item.begin = begin.value_or(0);
  item.end = end.value_or(0);
  item.step = step;
  return item;
}

inline IndexItem position(int64_t at) {
  IndexItem item;
  item.kind = IndexItemKind::Int;
  item.begin = at;
  return item;
}

inline IndexItem arrayItem() {
  IndexItem item;
  item.kind = IndexItemKind::IntArray;
  return item;
}

inline IndexItem maskItem(uint8_t rank = 1) {
  IndexItem item;
  item.kind = IndexItemKind::Mask;
  item.maskRank = rank;
  return item;
}

inline std::shared_ptr<IndexItems> itemsOf(std::vector<IndexItem> items) {
  auto made = std::make_shared<IndexItems>();
  made->items = std::move(items);
  return made;
}

} // namespace tracert::test
