/// The one form of an index: what the index normaliser makes of `x[...]`, and the only thing that
/// eager, trace, set, views, dump and every back end read.
///
///   x[1:, None, idx, m]  ->  {Slice 1: , NewAxis, IntArray, Mask rank 1} + full slices
///
/// The list is complete: an Ellipsis and missing trailing axes have become full slices, so the
/// items that use axes use each axis of the operand exactly once, in order. Begin, end and index
/// values are kept as the user wrote them (negative, out of bounds) and are resolved against a size
/// by resolveSlice / resolveIndex (tracert/IndexMath.h), so the same list serves every size.
#pragma once

#include <cstdint>
#include <vector>

namespace tracert {

/// Stored in files; never renumber.
enum class IndexItemKind : uint8_t {
  /// A Python int; uses one axis and removes it.
  Int = 0,
  /// Uses one axis and keeps it.
  Slice = 1,
  /// None: uses no axis, adds one of size 1.
  NewAxis = 2,
  /// An integer tensor of any rank (an operand); uses one axis. Advanced.
  IntArray = 3,
  /// A bool tensor of rank maskRank (an operand); uses maskRank axes (0 for a bool scalar).
  /// Advanced.
  Mask = 4,
};

struct IndexItem {
  IndexItemKind kind = IndexItemKind::Slice;
  /// Slice: whether begin / end were given.
  bool hasBegin = false;
  bool hasEnd = false;
  /// The bound (Slice) or position (Int) is a rank-0 integer operand instead of a literal.
  bool beginIsOperand = false;
  bool endIsOperand = false;
  uint8_t maskRank = 0;
  /// Slice begin, or the position of Int.
  int64_t begin = 0;
  int64_t end = 0;
  /// Never 0.
  int64_t step = 1;

  friend bool operator==(const IndexItem &, const IndexItem &) = default;
};

struct IndexItems {
  std::vector<IndexItem> items;
  /// NumPy's placement rule: true when advanced items are separated by a slice, None or Ellipsis
  /// (even one that expanded to nothing), so their result axes come first.
  bool advancedFirst = false;

  friend bool operator==(const IndexItems &, const IndexItems &) = default;

  bool isBasic() const {
    for (const IndexItem &item : items) {
      if (item.kind == IndexItemKind::IntArray || item.kind == IndexItemKind::Mask) {
        return false;
      }
    }
    return true;
  }
  /// How many operands the items use, in item order: begin, end, then the array or mask.
  int operandCount() const {
    int count = 0;
    for (const IndexItem &item : items) {
      count += item.beginIsOperand + item.endIsOperand +
               (item.kind == IndexItemKind::IntArray || item.kind == IndexItemKind::Mask);
    }
    return count;
  }
};

} // namespace tracert
