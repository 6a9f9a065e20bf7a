/// Walks the items of an index and says where each one stands.
///
///   for (ItemPlace place : IndexWalk(items)) {
///     if (place.item.kind == IndexItemKind::Slice) { use(shape[place.axis]); }
///   }
///
/// Every loop over items that needs an axis or an operand is this one.
#pragma once

#include "tracert/IndexItems.h"

#include <cstddef>

namespace tracert {

/// Axes of the indexed tensor that the item uses.
inline size_t axesUsed(const IndexItem &item) {
  return item.kind == IndexItemKind::Mask ? item.maskRank : item.kind != IndexItemKind::NewAxis;
}

inline bool isArrayItem(const IndexItem &item) {
  return item.kind == IndexItemKind::IntArray || item.kind == IndexItemKind::Mask;
}

/// An item that keeps or adds one axis of the result, wherever the advanced ones go.
inline bool isAxisItem(const IndexItem &item) {
  return item.kind == IndexItemKind::Slice || item.kind == IndexItemKind::NewAxis;
}

/// Operands of the item, in order: begin, end, then the array or mask.
inline size_t operandsUsed(const IndexItem &item) {
  return static_cast<size_t>(item.beginIsOperand) + item.endIsOperand + isArrayItem(item);
}

struct ItemPlace {
  const IndexItem &item;
  /// First axis of the indexed tensor that the item uses, or would use.
  size_t axis;
  /// Number of the item's first operand among the items' operands, if it has any.
  size_t operand;
  /// How many slices and new axes stand before: the result axis of a slice or a new axis while no
  /// advanced item stands before it.
  size_t resultAxis;
};

class IndexWalk {
public:
  explicit IndexWalk(const IndexItems &items) : items(items) {}

  class Iterator {
  public:
    explicit Iterator(const IndexItem *item) : item(item) {}
    ItemPlace operator*() const { return {*item, axis, operand, resultAxis}; }
    Iterator &operator++() {
      axis += axesUsed(*item);
      operand += operandsUsed(*item);
      resultAxis += isAxisItem(*item);
      ++item;
      return *this;
    }
    friend bool operator!=(const Iterator &a, const Iterator &b) { return a.item != b.item; }

  private:
    const IndexItem *item;
    size_t axis = 0;
    size_t operand = 0;
    size_t resultAxis = 0;
  };
  Iterator begin() const { return Iterator(items.items.data()); }
  Iterator end() const { return Iterator(items.items.data() + items.items.size()); }

private:
  const IndexItems &items;
};

} // namespace tracert
