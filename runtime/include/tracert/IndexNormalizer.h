/// The structural half of the index normaliser: what a front end read from `x[...]` becomes the one
/// form of an index (IndexItems.h).
///
///   RawIndex raw[] = {RawIndex::slice(1, std::nullopt), RawIndex::newAxis(),
///   RawIndex::intArray()}; TRACERT_ASSIGN(IndexItems items, normalizeIndex(raw, /*rank=*/3));
///
/// Counts axes, expands Ellipsis, appends full slices and decides NumPy's placement. No size is
/// looked at: masks and positions are checked by the type rules. Errors: IndexOutOfRange for too
/// many indices and for a second Ellipsis, InvalidArgument for step 0.
#pragma once

#include "tracert/Export.h"
#include "tracert/IndexItems.h"
#include "tracert/Status.h"

#include <optional>
#include <span>

namespace tracert {

/// One entry of the user's index tuple, with the front end's types gone.
struct RawIndex {
  enum class Kind : uint8_t { Int, Slice, NewAxis, Ellipsis, IntArray, Mask };
  Kind kind = Kind::Ellipsis;
  /// Int: the position. Slice: see IndexItem; an absent bound is nullopt and not an operand.
  std::optional<int64_t> begin = std::nullopt;
  std::optional<int64_t> end = std::nullopt;
  int64_t step = 1;
  /// The bound or position is a rank-0 integer operand; its literal is ignored.
  bool beginIsOperand = false;
  bool endIsOperand = false;
  /// Mask: how many axes it covers; 0 for a bool scalar.
  size_t maskRank = 0;

  static RawIndex integer(int64_t position) { return {.kind = Kind::Int, .begin = position}; }
  static RawIndex slice(std::optional<int64_t> begin, std::optional<int64_t> end,
                        int64_t step = 1) {
    return {.kind = Kind::Slice, .begin = begin, .end = end, .step = step};
  }
  static RawIndex newAxis() { return {.kind = Kind::NewAxis}; }
  static RawIndex ellipsis() { return {.kind = Kind::Ellipsis}; }
  /// An integer tensor of any rank. One of rank 0 is placed as an int is, which needs no flag: its
  /// result has no axes to place.
  static RawIndex intArray() { return {.kind = Kind::IntArray}; }
  static RawIndex mask(size_t rank) { return {.kind = Kind::Mask, .maskRank = rank}; }
};

/// `rank` is that of the indexed tensor.
TRACERT_API Result<IndexItems> normalizeIndex(std::span<const RawIndex> raw, size_t rank);

} // namespace tracert
