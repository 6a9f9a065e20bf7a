#include "tracert/IndexNormalizer.h"

#include "tracert/Tensor.h"

namespace tracert {
namespace {

using Kind = RawIndex::Kind;

size_t axesUsedBy(const RawIndex &raw) {
  switch (raw.kind) {
  case Kind::Int:
  case Kind::Slice:
  case Kind::IntArray:
    return 1;
  case Kind::Mask:
    return raw.maskRank;
  case Kind::NewAxis:
  case Kind::Ellipsis:
    return 0;
  }
  return 0;
}

bool isArray(Kind kind) { return kind == Kind::IntArray || kind == Kind::Mask; }

IndexItem itemOf(const RawIndex &raw) {
  IndexItem item;
  item.beginIsOperand = raw.beginIsOperand;
  item.begin = raw.beginIsOperand ? 0 : raw.begin.value_or(0);
  switch (raw.kind) {
  case Kind::Int:
    item.kind = IndexItemKind::Int;
    break;
  case Kind::NewAxis:
    item.kind = IndexItemKind::NewAxis;
    break;
  case Kind::IntArray:
    item.kind = IndexItemKind::IntArray;
    break;
  case Kind::Mask:
    item.kind = IndexItemKind::Mask;
    item.maskRank = static_cast<uint8_t>(raw.maskRank);
    break;
  case Kind::Slice:
  case Kind::Ellipsis:
    item.hasBegin = raw.begin.has_value() || raw.beginIsOperand;
    item.hasEnd = raw.end.has_value() || raw.endIsOperand;
    item.endIsOperand = raw.endIsOperand;
    item.end = raw.endIsOperand ? 0 : raw.end.value_or(0);
    item.step = raw.step;
    break;
  }
  return item;
}

/// Separated by a slice, None or Ellipsis; an int beside arrays counts as an array.
bool areAdvancedSeparated(std::span<const RawIndex> raw) {
  bool hasArray = false;
  for (const RawIndex &index : raw) {
    hasArray = hasArray || isArray(index.kind);
  }
  if (!hasArray) {
    return false;
  }
  bool isAfterFirst = false;
  bool isAfterGap = false;
  for (const RawIndex &index : raw) {
    bool isAdvanced = isArray(index.kind) || index.kind == Kind::Int;
    if (isAdvanced && isAfterGap) {
      return true;
    }
    isAfterFirst = isAfterFirst || isAdvanced;
    isAfterGap = isAfterFirst && (isAfterGap || !isAdvanced);
  }
  return false;
}

} // namespace

Result<IndexItems> normalizeIndex(std::span<const RawIndex> raw, size_t rank) {
  size_t axesUsed = 0;
  size_t ellipses = 0;
  bool hasZeroStep = false;
  for (const RawIndex &index : raw) {
    axesUsed += axesUsedBy(index);
    ellipses += index.kind == Kind::Ellipsis;
    hasZeroStep = hasZeroStep || (index.kind == Kind::Slice && index.step == 0);
  }
  if (ellipses > 1) {
    return Status::indexOutOfRange("an index may have one Ellipsis ('...'), got " +
                                   std::to_string(ellipses));
  }
  if (axesUsed > rank) {
    return Status::indexOutOfRange("too many indices: tensor has " + std::to_string(rank) +
                                   " axes, but " + std::to_string(axesUsed) + " were indexed");
  }
  if (hasZeroStep) {
    return Status::invalidArgument("slice step must not be 0");
  }
  IndexItems result;
  size_t missing = rank - axesUsed;
  for (const RawIndex &index : raw) {
    if (index.kind == Kind::Ellipsis) {
      result.items.insert(result.items.end(), missing, IndexItem{});
      continue;
    }
    result.items.push_back(itemOf(index));
  }
  if (ellipses == 0) {
    result.items.insert(result.items.end(), missing, IndexItem{});
  }
  result.advancedFirst = areAdvancedSeparated(raw);
  return result;
}

} // namespace tracert
