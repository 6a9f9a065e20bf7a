#include "generated/OpAttrs.h"
#include "ops/rules/Indexing.h"
#include "tracert/Element.h"

#include <algorithm>
#include <cstring>

namespace tracert {
namespace rules {

Status outOfRange(const std::string &index, int axis, const std::string &size) {
  return Status::indexOutOfRange("index " + index + " is out of range for axis " +
                                 std::to_string(axis) + " of size " + size);
}

Status outOfRange(int64_t index, int axis, int64_t size) {
  return outOfRange(std::to_string(index), axis, std::to_string(size));
}

Status valueShapeError(const std::string &value, const std::string &indexed) {
  return Status::invalidArgument("could not broadcast value of shape " + value +
                                 " to indexed shape " + indexed);
}

Status valueShapeError(const Dims &value, const Dims &indexed) {
  return valueShapeError(denseShapeString(value), denseShapeString(indexed));
}

bool valueFits(const Dims &value, const Dims &indexed) {
  return !refusesValue(NumberMath(), value, indexed);
}

namespace {

char *bytesOf(const TensorView &view) { return static_cast<char *>(view.data); }

/// Walks the items of one index over the view of the indexed tensor.
class AccessWalk {
public:
  AccessWalk(const IndexItems &items, const TensorView &operand, std::span<const TensorView> extras,
             std::span<const int64_t> rank0Counts)
      : items(items), operand(operand), extras(extras), rank0Counts(rank0Counts),
        isBasic(items.isBasic()) {
    access.base.data = operand.data;
    access.base.dtype = operand.dtype;
  }

  Result<IndexAccess> run() {
    for (ItemPlace place : IndexWalk(items)) {
      TRACERT_TRY(visit(place));
    }
    size_t position = items.advancedFirst ? 0 : advancedPosition;
    TensorView &base = access.base;
    for (size_t i = 0; i < advanced.size(); ++i) {
      base.shape.insert(position + i, advanced[i]);
      base.strides.insert(position + i, 0);
    }
    access.advancedBegin = position;
    access.advancedEnd = position + advanced.size();
    for (IndexAccess::IndexedAxis &indexed : access.axes) {
      spread(indexed.indices, position);
    }
    return std::move(access);
  }

private:
  Status visit(ItemPlace place) {
    const IndexItem &item = place.item;
    switch (item.kind) {
    case IndexItemKind::NewAxis:
      access.base.shape.push_back(1);
      access.base.strides.push_back(0);
      return {};
    case IndexItemKind::Slice:
      visitSlice(item, place.axis);
      return {};
    case IndexItemKind::Int:
      return visitInt(item, place.axis);
    case IndexItemKind::IntArray:
      return addIndices(extras[nextExtra++], place.axis);
    case IndexItemKind::Mask:
      for (uint8_t i = 0; i < item.maskRank; ++i) {
        TRACERT_TRY(addIndices(extras[nextExtra++], place.axis + i));
      }
      return item.maskRank > 0 ? Status() : joinAdvanced({rank0Counts[nextRank0++]});
    }
    return Status::internal("index item of unknown kind");
  }

  int64_t bound(bool isOperand, int64_t literal) {
    if (!isOperand) {
      return literal;
    }
    const TensorView &view = extras[nextExtra++];
    return integerAt(view.data, view.dtype);
  }

  void visitSlice(const IndexItem &item, size_t axis) {
    int64_t begin = bound(item.beginIsOperand, item.begin);
    int64_t end = bound(item.endIsOperand, item.end);
    ResolvedSlice slice = resolveSlice(item, begin, end, operand.shape[axis]);
    int64_t stride = operand.strides[axis];
    // The address of an empty slice is never used and its begin may lie outside.
    if (slice.count > 0) {
      access.base.data = bytesOf(access.base) + slice.begin * stride;
    }
    access.base.shape.push_back(slice.count);
    access.base.strides.push_back(NumberMath().stepped(stride, slice.step));
  }

  Status visitInt(const IndexItem &item, size_t axis) {
    if (!isBasic) {
      if (item.beginIsOperand) {
        return addIndices(extras[nextExtra++], axis);
      }
      // The items outlive the access, so the literal can serve as an index array of rank 0.
      return addIndices({const_cast<int64_t *>(&item.begin), DType::Int64, {}, {}}, axis);
    }
    int64_t given = bound(item.beginIsOperand, item.begin);
    int64_t position = given;
    if (!resolveIndex(position, operand.shape[axis])) {
      return outOfRange(given, static_cast<int>(axis), operand.shape[axis]);
    }
    access.base.data = bytesOf(access.base) + position * operand.strides[axis];
    return {};
  }

  Status addIndices(const TensorView &indices, size_t axis) {
    access.axes.push_back(
        {indices, static_cast<int>(axis), operand.shape[axis], operand.strides[axis]});
    return joinAdvanced(indices.shape);
  }

  Status joinAdvanced(const Dims &indexShape) {
    if (!hasAdvanced) {
      hasAdvanced = true;
      advancedPosition = access.base.rank();
    }
    std::optional<Dims> joined = broadcastOf(NumberMath(), advanced, indexShape);
    if (!joined) {
      return indexShapesError(NumberMath(), advanced, indexShape);
    }
    advanced = std::move(*joined);
    return {};
  }

  /// Broadcasts index arrays onto the result, whose axes from `position` on are theirs.
  void spread(TensorView &indices, size_t position) const {
    TensorView joined = broadcastView(indices, advanced);
    indices.shape = access.base.shape;
    indices.strides.assign(indices.shape.size(), 0);
    for (size_t i = 0; i < advanced.size(); ++i) {
      indices.strides[position + i] = joined.strides[i];
    }
  }

  const IndexItems &items;
  const TensorView &operand;
  std::span<const TensorView> extras;
  std::span<const int64_t> rank0Counts;
  bool isBasic;
  size_t nextExtra = 0;
  size_t nextRank0 = 0;
  bool hasAdvanced = false;
  size_t advancedPosition = 0;
  Dims advanced;
  IndexAccess access;
};

/// The axes that the items use, and their operands, a mask counted as one array per axis.
std::pair<size_t, size_t> axesAndArrays(const IndexItems &items) {
  size_t axes = 0, arrays = 0;
  for (const IndexItem &item : items.items) {
    axes += axesUsed(item);
    arrays += operandsUsed(item);
    arrays += item.kind == IndexItemKind::Mask ? item.maskRank - size_t(1) : 0;
  }
  return {axes, arrays};
}

size_t rank0MaskCount(const IndexItems &items) {
  return static_cast<size_t>(
      std::count_if(items.items.begin(), items.items.end(), [](const IndexItem &item) {
        return item.kind == IndexItemKind::Mask && item.maskRank == 0;
      }));
}

} // namespace

Result<std::optional<TensorView>> subtensorView(const OpCall &call, const TensorView &operand,
                                                std::span<const int64_t> extras) {
  const IndexItems &items = attrs::items(call);
  std::vector<TensorView> extraViews;
  for (const int64_t &value : extras) {
    extraViews.push_back({const_cast<int64_t *>(&value), DType::Int64, {}, {}});
  }
  TRACERT_ASSIGN(IndexAccess access, indexAccess(items, operand, extraViews, {}));
  TRACERT_TRY(checkLimits(call, access.base.type()));
  return std::optional(std::move(access.base));
}

} // namespace rules

Result<IndexAccess> indexAccess(const IndexItems &items, const TensorView &operand,
                                std::span<const TensorView> extras,
                                std::span<const int64_t> rank0Counts) {
  if (rules::axesAndArrays(items) != std::pair(operand.rank(), extras.size()) ||
      rules::rank0MaskCount(items) != rank0Counts.size()) {
    return Status::internal("index does not fit its operands for shape " +
                            shapeString(operand.shape));
  }
  return rules::AccessWalk(items, operand, extras, rank0Counts).run();
}

ResolvedSlice resolveSlice(const IndexItem &item, int64_t begin, int64_t end, int64_t size) {
  // As Python clamps it, so that the negation below cannot overflow.
  int64_t step = std::max(item.step, -INT64_MAX);
  int64_t low = step > 0 ? 0 : -1;
  int64_t high = step > 0 ? size : size - 1;
  auto clamp = [&](int64_t bound) {
    if (bound < 0) {
      bound += size;
    }
    return std::clamp(bound, low, high);
  };
  int64_t first = item.hasBegin || item.beginIsOperand ? clamp(begin) : (step > 0 ? low : high);
  int64_t last = item.hasEnd || item.endIsOperand ? clamp(end) : (step > 0 ? high : low);
  int64_t count = 0;
  if (step > 0 && first < last) {
    count = (last - first - 1) / step + 1;
  } else if (step < 0 && last < first) {
    count = (first - last - 1) / -step + 1;
  }
  return {first, step, count};
}

} // namespace tracert
