#include "trace/Transforms/ComposeItems.h"

#include "ops/IndexWalk.h"
#include "tracert/IndexMath.h"

using namespace mlir;
using tracert::IndexItem;
using tracert::IndexItemKind;

namespace tracec::trace {

bool isFullSlice(const IndexItem &item) {
  return item.kind == IndexItemKind::Slice && !item.hasBegin && !item.hasEnd &&
         !item.beginIsOperand && !item.endIsOperand && item.step == 1;
}

IndexWithOperands indexOf(Operation *op) {
  OperandRange operands = indexOperandsOf(op);
  return {indexItemsOf(op).toItems(), SmallVector<Value>(operands.begin(), operands.end())};
}

static bool hasOperandBounds(const IndexItem &item) {
  return item.beginIsOperand || item.endIsOperand;
}

/// A slice of exactly these elements of an axis of known size.
static IndexItem sliceOf(int64_t begin, int64_t step, int64_t count) {
  IndexItem item;
  item.hasBegin = true;
  if (count == 0) {
    item.begin = 0;
    item.hasEnd = true;
    item.end = 0;
    return item;
  }
  item.begin = begin;
  item.step = step;
  item.end = begin + count * step;
  item.hasEnd = item.end >= 0;
  if (!item.hasEnd) {
    item.end = 0;
  }
  return item;
}

std::optional<IndexItem> composeSlices(const IndexItem &a, const IndexItem &b, int64_t size) {
  if (isFullSlice(a)) {
    return b;
  }
  if (isFullSlice(b)) {
    return a;
  }
  if (hasOperandBounds(a) || hasOperandBounds(b)) {
    return std::nullopt;
  }
  if (!ShapedType::isDynamic(size)) {
    tracert::ResolvedSlice first = tracert::resolveSlice(a, a.begin, a.end, size);
    tracert::ResolvedSlice second = tracert::resolveSlice(b, b.begin, b.end, first.count);
    return sliceOf(first.begin + second.begin * first.step, first.step * second.step, second.count);
  }
  // For every size: begins count from the front, so they add; an end counts from one side only.
  if (a.step != 1 || b.step < 1 || (a.hasBegin && a.begin < 0) || (b.hasBegin && b.begin < 0)) {
    return std::nullopt;
  }
  IndexItem result;
  int64_t aBegin = a.hasBegin ? a.begin : 0;
  if (__builtin_add_overflow(aBegin, b.hasBegin ? b.begin : 0, &result.begin)) {
    return std::nullopt;
  }
  result.hasBegin = result.begin != 0;
  result.step = b.step;
  if (!b.hasEnd) {
    result.hasEnd = a.hasEnd;
    result.end = a.end;
    return result;
  }
  if (a.hasEnd && (a.end < 0) != (b.end < 0)) {
    return std::nullopt;
  }
  result.hasEnd = true;
  if (b.end < 0) {
    bool overflows = __builtin_add_overflow(b.end, a.hasEnd ? a.end : 0, &result.end);
    return overflows ? std::nullopt : std::optional(result);
  }
  if (__builtin_add_overflow(aBegin, b.end, &result.end)) {
    return std::nullopt;
  }
  if (a.hasEnd) {
    result.end = std::min(a.end, result.end);
  }
  return result;
}

std::optional<IndexItem> composeInt(const IndexItem &a, const IndexItem &position, int64_t size) {
  if (isFullSlice(a)) {
    return position;
  }
  if (hasOperandBounds(a) || position.beginIsOperand || ShapedType::isDynamic(size)) {
    return std::nullopt;
  }
  tracert::ResolvedSlice slice = tracert::resolveSlice(a, a.begin, a.end, size);
  IndexItem result = position;
  if (!tracert::resolveIndex(result.begin, slice.count)) {
    return std::nullopt;
  }
  result.begin = slice.begin + result.begin * slice.step;
  return result;
}

namespace {

/// Walks the items of an index together with their operands.
struct ItemCursor {
  const IndexWithOperands &index;
  size_t item = 0;
  size_t operand = 0;

  bool atEnd() const { return item == index.items.items.size(); }
  const IndexItem &get() const { return index.items.items[item]; }
  /// Appends the current item's operands to `result` and moves on.
  void take(SmallVectorImpl<Value> &result) {
    for (int i = 0, e = get().beginIsOperand + get().endIsOperand; i < e; ++i) {
      result.push_back(index.operands[operand + i]);
    }
    skip();
  }
  void skip() {
    operand += get().beginIsOperand + get().endIsOperand;
    ++item;
  }
};

} // namespace

std::optional<IndexWithOperands> composeBasic(const IndexWithOperands &innerIndex,
                                              const IndexWithOperands &outerIndex,
                                              ArrayRef<int64_t> shape) {
  ItemCursor inner{innerIndex}, outer{outerIndex};
  IndexWithOperands result;
  unsigned axis = 0; // of x, at inner
  auto takeInner = [&] {
    axis += inner.get().kind != IndexItemKind::NewAxis;
    result.items.items.push_back(inner.get());
    inner.take(result.operands);
  };
  auto takeInnerInts = [&] {
    while (!inner.atEnd() && inner.get().kind == IndexItemKind::Int) {
      takeInner();
    }
  };
  for (; !outer.atEnd();) {
    if (outer.get().kind == IndexItemKind::NewAxis) {
      result.items.items.push_back(outer.get());
      outer.skip();
      continue;
    }
    takeInnerInts();
    if (inner.atEnd() || axis > shape.size()) {
      return std::nullopt;
    }
    if (isFullSlice(outer.get())) {
      outer.skip();
      takeInner();
      continue;
    }
    if (inner.get().kind == IndexItemKind::NewAxis) {
      bool isOnly = outer.get().kind == IndexItemKind::Int && !outer.get().beginIsOperand &&
                    (outer.get().begin == 0 || outer.get().begin == -1);
      if (!isOnly) {
        return std::nullopt;
      }
      inner.skip();
      outer.skip();
      continue;
    }
    if (isFullSlice(inner.get())) {
      inner.skip();
      ++axis;
      result.items.items.push_back(outer.get());
      outer.take(result.operands);
      continue;
    }
    std::optional<IndexItem> item = outer.get().kind == IndexItemKind::Int
                                        ? composeInt(inner.get(), outer.get(), shape[axis])
                                        : composeSlices(inner.get(), outer.get(), shape[axis]);
    if (!item) {
      return std::nullopt;
    }
    result.items.items.push_back(*item);
    inner.skip();
    outer.skip();
    ++axis;
  }
  takeInnerInts();
  return inner.atEnd() ? std::optional(std::move(result)) : std::nullopt;
}

namespace {

class GatherSlicer {
public:
  GatherSlicer(const IndexWithOperands &gather, const tracert::IndexItems &outer,
               ArrayRef<int64_t> shape)
      : gather(gather), outer(outer.items), shape(shape) {}

  std::optional<SlicedGather> run() {
    for (tracert::ItemPlace place : tracert::IndexWalk(gather.items)) {
      bool fits = tracert::isArrayItem(place.item)
                      ? keepIndexed(place)
                      : place.item.kind == IndexItemKind::Slice && slice(place);
      if (!fits) {
        return std::nullopt;
      }
    }
    return isSmaller && position == outer.size() ? std::optional(std::move(sliced)) : std::nullopt;
  }

private:
  /// The result axes of an array or a mask, all of which `outer` must take whole.
  bool keepIndexed(const tracert::ItemPlace &place) {
    unsigned resultAxes = 1;
    if (place.item.kind == IndexItemKind::IntArray) {
      resultAxes = cast<RankedTensorType>(gather.operands[place.operand].getType()).getRank();
    }
    // An axis less before it would shift the axis that an error names.
    if (dropsAxis || position + resultAxes > outer.size()) {
      return false;
    }
    for (unsigned i = 0; i < resultAxes; ++i) {
      if (!isFullSlice(outer[position++])) {
        return false;
      }
    }
    sliced.view.items.resize(sliced.view.items.size() + tracert::axesUsed(place.item));
    sliced.gather.items.push_back(place.item);
    return true;
  }

  bool slice(const tracert::ItemPlace &place) {
    if (position >= outer.size() || outer[position].kind == IndexItemKind::NewAxis) {
      return false;
    }
    const IndexItem &item = outer[position++];
    bool isInt = item.kind == IndexItemKind::Int;
    auto composed = isInt ? composeInt(place.item, item, shape[place.axis])
                          : composeSlices(place.item, item, shape[place.axis]);
    if (!composed) {
      return false;
    }
    isSmaller |= !isFullSlice(item);
    dropsAxis |= isInt;
    sliced.view.items.push_back(*composed);
    if (!isInt) {
      sliced.gather.items.push_back(IndexItem());
    }
    return true;
  }

  const IndexWithOperands &gather;
  const std::vector<IndexItem> &outer;
  ArrayRef<int64_t> shape;
  size_t position = 0; // in outer
  bool isSmaller = false, dropsAxis = false;
  SlicedGather sliced;
};

} // namespace

std::optional<SlicedGather> sliceThenGather(const IndexWithOperands &gather,
                                            const tracert::IndexItems &outer,
                                            ArrayRef<int64_t> shape) {
  return GatherSlicer(gather, outer, shape).run();
}

} // namespace tracec::trace
