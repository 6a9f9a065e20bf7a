/// Type rules of index ops: reads, and sets, which check their value.
#pragma once

#include "ops/IndexItemText.h"
#include "ops/IndexWalk.h"
#include "ops/TypeRules.h"

namespace tracert::rules {

/// IndexOutOfRange: two index arrays, or counts of masks, do not broadcast.
template <class M>
Status indexShapesError(const M &math, const typename M::Shape &a, const typename M::Shape &b) {
  std::string text =
      "index arrays of shape " + math.text(a) + " and " + math.text(b) + " do not broadcast";
  for (size_t i = 1; i <= std::min(a.size(), b.size()); ++i) {
    typename M::Dim left = a[a.size() - i], right = b[b.size() - i];
    if (!math.broadcast(left, right)) {
      text += ": axis -" + std::to_string(i) + " has sizes " + math.text(left) + " and " +
              math.text(right);
      break;
    }
  }
  return Status::indexOutOfRange(std::move(text));
}

/// Walks the items of one index over the shape of the indexed tensor.
template <class M> class ShapeWalk {
public:
  using Dim = typename M::Dim;
  using Shape = typename M::Shape;

  ShapeWalk(const M &math, const OpCall &call, const Shape &shape, OperandsOf<M> extras)
      : math(math), call(call), items(attrs::items(call)), shape(shape), extras(extras),
        isBasic(items.isBasic()) {}

  Result<Shape> run() {
    size_t used = 0;
    for (const ItemPlace &place : IndexWalk(items)) {
      used = place.axis + axesUsed(place.item);
      if (used > shape.size()) {
        return axisCountError();
      }
      TRACERT_TRY(visit(place));
    }
    if (used != shape.size()) {
      return axisCountError();
    }
    TRACERT_TRY(math.checkCounts(call, maskCount));
    size_t position = items.advancedFirst ? 0 : advancedPosition;
    for (size_t i = 0; i < advanced.size(); ++i) {
      result.insert(position + i, advanced[i]);
    }
    if (result.size() > kMaxRank) {
      return Status::indexOutOfRange("the index gives " + std::to_string(result.size()) +
                                     " axes, the limit is " + std::to_string(kMaxRank));
    }
    return std::move(result);
  }

private:
  Status axisCountError() const {
    return Status::invalidArgument(opPrefix(call) + "index does not use each axis of shape " +
                                   math.text(shape) + " once");
  }

  Status visit(const ItemPlace &place) {
    switch (place.item.kind) {
    case IndexItemKind::NewAxis:
      result.push_back(math.number(1));
      return {};
    case IndexItemKind::Slice:
      return visitSlice(place);
    case IndexItemKind::Int:
      return visitInt(place);
    case IndexItemKind::IntArray:
      return visitIntArray(extras[place.operand].type);
    case IndexItemKind::Mask:
      return visitMask(place);
    }
    return Status::internal(opPrefix(call) + "index item of unknown kind");
  }

  /// The value of a bound that is an operand, when it is known.
  Status readBound(size_t operandNumber, std::optional<Dim> &value) const {
    const typename M::Operand &operand = extras[operandNumber];
    if (operand.type.rank() != 0 || !isInteger(operand.type.dtype)) {
      return Status::invalidType(opPrefix(call) + "index bound must be an integer of rank 0, got " +
                                 operand.type.str());
    }
    value = operand.sizeValue;
    return {};
  }

  Status visitSlice(const ItemPlace &place) {
    const IndexItem &item = place.item;
    std::optional<Dim> begin = math.number(item.begin), end = math.number(item.end);
    if (item.beginIsOperand) {
      TRACERT_TRY(readBound(place.operand, begin));
    }
    if (item.endIsOperand) {
      TRACERT_TRY(readBound(place.operand + item.beginIsOperand, end));
    }
    result.push_back(math.sliced(item, begin, end, shape[place.axis]));
    return {};
  }

  Status visitInt(const ItemPlace &place) {
    std::optional<Dim> position = math.number(place.item.begin);
    if (place.item.beginIsOperand) {
      TRACERT_TRY(readBound(place.operand, position));
    }
    // An int operand is data, so its check belongs to the kernel; a value known here is a size.
    if (math.refuses(math.isPosition(position, shape[place.axis]))) {
      return outOfRange(math.text(*position), static_cast<int>(place.axis),
                        math.text(shape[place.axis]));
    }
    return isBasic ? Status() : joinAdvanced({});
  }

  Status visitIntArray(const typename M::Type &type) {
    if (!isInteger(type.dtype)) {
      return Status::invalidType(opPrefix(call) + "index array must be of an integer dtype, got " +
                                 std::string(dtypeName(type.dtype)));
    }
    return joinAdvanced(type.shape);
  }

  Status visitMask(const ItemPlace &place) {
    const typename M::Type &type = extras[place.operand].type;
    if (type.dtype != DType::Bool || type.rank() != place.item.maskRank) {
      return Status::invalidType(opPrefix(call) + "mask must be a bool tensor of rank " +
                                 std::to_string(place.item.maskRank) + ", got " + type.str());
    }
    size_t axis = place.axis;
    for (Dim maskDim : type.shape) {
      if (math.refusesEqual(maskDim, shape[axis])) {
        return Status::indexOutOfRange("mask of shape " + math.text(type.shape) +
                                       " does not match axis " + std::to_string(axis) +
                                       ": size of axis is " + math.text(shape[axis]) +
                                       ", of mask " + math.text(maskDim));
      }
      ++axis;
    }
    return joinAdvanced({math.count(extras[place.operand], maskCount++)});
  }

  Status joinAdvanced(const Shape &indexShape) {
    if (!hasAdvanced) {
      hasAdvanced = true;
      advancedPosition = result.size();
    }
    std::optional<Shape> joined = broadcastOf(math, advanced, indexShape);
    if (!joined) {
      return indexShapesError(math, advanced, indexShape);
    }
    advanced = std::move(*joined);
    return {};
  }

  const M &math;
  const OpCall &call;
  const IndexItems &items;
  const Shape &shape;
  OperandsOf<M> extras;
  bool isBasic;
  size_t maskCount = 0;
  bool hasAdvanced = false;
  size_t advancedPosition = 0;
  Shape result;
  Shape advanced;
};

/// Whether a set's value does not fit the indexed shape: it broadcasts, and may have extra leading
/// axes of size 1.
template <class M>
bool refusesValue(const M &math, const typename M::Shape &value, const typename M::Shape &indexed) {
  size_t extra = value.size() > indexed.size() ? value.size() - indexed.size() : 0;
  for (size_t axis = 0; axis < extra; ++axis) {
    if (math.refusesEqual(value[axis], math.number(1))) {
      return true;
    }
  }
  return refusesRepeat(math, typename M::Shape(value.begin() + extra, value.end()), indexed);
}

template <class M>
TypesOr<M> indexingTypes(const M &math, const OpCall &call, OperandsOf<M> operands) {
  const typename M::Type &type = operands[0].type;
  if (call.info().has(kTraitBasicIndex) && !attrs::items(call).isBasic()) {
    return Status::invalidArgument(opPrefix(call) + "takes a basic index only");
  }
  size_t fixedCount = static_cast<size_t>(call.info().operandCount);
  ShapeWalk<M> walk(math, call, type.shape, operands.subspan(fixedCount));
  TRACERT_ASSIGN(typename M::Shape indexed, walk.run());
  if (!call.info().has(kTraitSet)) {
    return typename M::Types{{type.dtype, std::move(indexed)}};
  }
  TRACERT_TRY(checkSameDType(call, operands.first(fixedCount)));
  TRACERT_TRY(math.checkLimits(call, {type.dtype, indexed}));
  const typename M::Shape &value = operands[1].type.shape;
  if (refusesValue(math, value, indexed)) {
    return valueShapeError(math.denseText(value), math.denseText(indexed));
  }
  return typename M::Types{type};
}

} // namespace tracert::rules
