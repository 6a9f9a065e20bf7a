#include "generated/OpAttrs.h"
#include "ops/IndexItemText.h"
#include "ops/TypeRules.h"

namespace tracert::rules {
namespace {

/// Walks the items of one index over the shape of the indexed tensor.
class ShapeWalk {
public:
  ShapeWalk(const OpCall &call, const Dims &shape, Operands extras, Counts counts)
      : call(call), items(attrs::subtensor::items(call)), shape(shape), extras(extras),
        counts(counts), isBasic(items.isBasic()) {}

  Result<Dims> run() {
    for (const IndexItem &item : items.items) {
      TRACERT_TRY(visit(item));
    }
    if (axis != shape.size()) {
      return axisCountError();
    }
    if (counts && nextCount != counts->size()) {
      return Status::internal(opPrefix(call) + "takes " + std::to_string(nextCount) +
                              " counts, got " + std::to_string(counts->size()));
    }
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
                                   shapeString(shape) + " once");
  }

  Status visit(const IndexItem &item) {
    size_t axesUsed = item.kind == IndexItemKind::NewAxis ? 0
                      : item.kind == IndexItemKind::Mask  ? item.maskRank
                                                          : 1;
    if (axis + axesUsed > shape.size()) {
      return axisCountError();
    }
    switch (item.kind) {
    case IndexItemKind::NewAxis:
      result.push_back(1);
      return {};
    case IndexItemKind::Slice:
      return visitSlice(item);
    case IndexItemKind::Int:
      return visitInt(item);
    case IndexItemKind::IntArray:
      return visitIntArray();
    case IndexItemKind::Mask:
      return visitMask(item);
    }
    return Status::internal(opPrefix(call) + "index item of unknown kind");
  }

  /// The value of a bound: the literal, or that of the next operand when it is known.
  Result<std::optional<int64_t>> bound(bool isOperand, int64_t literal) {
    if (!isOperand) {
      return std::optional(literal);
    }
    const OperandInfo &operand = extras[nextExtra++];
    if (operand.type.rank() != 0 || !isInteger(operand.type.dtype)) {
      return Status::invalidType(opPrefix(call) + "index bound must be an integer of rank 0, got " +
                                 operand.type.str());
    }
    return operand.sizeValue;
  }

  Status visitSlice(const IndexItem &item) {
    TRACERT_ASSIGN(std::optional<int64_t> begin, bound(item.beginIsOperand, item.begin));
    TRACERT_ASSIGN(std::optional<int64_t> end, bound(item.endIsOperand, item.end));
    int64_t size = shape[axis++];
    if (isUnknown(size) || !begin || !end) {
      result.push_back(size == 0 ? 0 : kUnknownDim);
      return {};
    }
    result.push_back(resolveSlice(item, *begin, *end, size).count);
    return {};
  }

  Status visitInt(const IndexItem &item) {
    TRACERT_ASSIGN(std::optional<int64_t> position, bound(item.beginIsOperand, item.begin));
    int64_t size = shape[axis];
    // An int operand is data, so its check belongs to the kernel; a value known here is a size.
    if (position && !isUnknown(size)) {
      int64_t resolved = *position;
      if (!resolveIndex(resolved, size)) {
        return outOfRange(*position, static_cast<int>(axis), size);
      }
    }
    ++axis;
    if (!isBasic) {
      return joinAdvanced({});
    }
    return {};
  }

  Status visitIntArray() {
    const TensorType &type = extras[nextExtra++].type;
    if (!isInteger(type.dtype)) {
      return Status::invalidType(opPrefix(call) + "index array must be of an integer dtype, got " +
                                 std::string(dtypeName(type.dtype)));
    }
    ++axis;
    return joinAdvanced(type.shape);
  }

  Status visitMask(const IndexItem &item) {
    const TensorType &type = extras[nextExtra++].type;
    if (type.dtype != DType::Bool || type.rank() != item.maskRank) {
      return Status::invalidType(opPrefix(call) + "mask must be a bool tensor of rank " +
                                 std::to_string(item.maskRank) + ", got " + type.str());
    }
    for (int64_t maskDim : type.shape) {
      int64_t size = shape[axis];
      if (maskDim != size && !isUnknown(maskDim) && !isUnknown(size)) {
        return Status::indexOutOfRange("mask of shape " + shapeString(type.shape) +
                                       " does not match axis " + std::to_string(axis) +
                                       ": size of axis is " + std::to_string(size) + ", of mask " +
                                       std::to_string(maskDim));
      }
      ++axis;
    }
    int64_t count = kUnknownDim;
    if (counts && nextCount < counts->size()) {
      count = (*counts)[nextCount];
    }
    ++nextCount;
    return joinAdvanced({count});
  }

  Status joinAdvanced(const Dims &indexShape) {
    if (!hasAdvanced) {
      hasAdvanced = true;
      advancedPosition = result.size();
    }
    Result<Dims> joined = broadcastShapes({}, advanced, indexShape);
    if (!joined.ok()) {
      return indexShapesError(advanced, indexShape);
    }
    advanced = std::move(*joined);
    return {};
  }

  const OpCall &call;
  const IndexItems &items;
  const Dims &shape;
  Operands extras;
  Counts counts;
  bool isBasic;
  size_t axis = 0;
  size_t nextExtra = 0;
  size_t nextCount = 0;
  bool hasAdvanced = false;
  size_t advancedPosition = 0;
  Dims result;
  Dims advanced;
};

} // namespace

Result<ResultTypes> indexingTypes(const OpCall &call, Operands operands, Counts counts) {
  const TensorType &type = operands[0].type;
  TRACERT_TRY(checkAllowedDType(call, type.dtype));
  bool wantsBasic = call.kind == OpKind::subtensor || call.kind == OpKind::set_subtensor;
  if (wantsBasic && !attrs::subtensor::items(call).isBasic()) {
    return Status::invalidArgument(opPrefix(call) + "takes a basic index only");
  }
  size_t fixedCount = static_cast<size_t>(call.info().operandCount);
  ShapeWalk walk(call, type.shape, operands.subspan(fixedCount), counts);
  TRACERT_ASSIGN(Dims indexed, walk.run());
  if (!call.info().has(kTraitSet)) {
    return ResultTypes{{type.dtype, std::move(indexed)}};
  }
  TRACERT_TRY(checkSameDType(call, operands.first(fixedCount)));
  TRACERT_TRY(checkLimits(call, {type.dtype, indexed}));
  if (!valueFits(operands[1].type.shape, indexed)) {
    return valueShapeError(operands[1].type.shape, indexed);
  }
  return ResultTypes{type};
}

} // namespace tracert::rules
