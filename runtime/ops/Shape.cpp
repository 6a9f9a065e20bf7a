#include "generated/OpAttrs.h"
#include "ops/TypeRules.h"

namespace tracert::rules {
namespace {

Status reshapeError(const OpCall &call, const Dims &from, const Dims &to) {
  Dims shown = to;
  for (int64_t &size : shown) {
    size = size == kInferred ? -1 : size;
  }
  std::string wanted = "(";
  for (size_t i = 0; i < shown.size(); ++i) {
    wanted += (i > 0 ? ", " : "") + std::to_string(shown[i]);
  }
  wanted += shown.size() == 1 ? ",)" : ")";
  int64_t count = 1;
  for (int64_t dim : from) {
    count = dim == kUnknownDim || count == kUnknownDim ? kUnknownDim : count * dim;
  }
  std::string elements = count == kUnknownDim ? "" : " of " + std::to_string(count) + " elements";
  return Status::invalidArgument(opPrefix(call) + "cannot turn shape " + shapeString(from) +
                                 elements + " into shape " + wanted);
}

Result<Dims> reshapedShape(const OpCall &call, const Dims &from, const Dims &sizes,
                           Operands operands) {
  TRACERT_ASSIGN(Dims shape, takeSizes(call, sizes, operands, 1, /*mayInfer=*/true));
  std::optional<size_t> inferred;
  Dims given;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    if (shape[axis] != kInferred) {
      given.push_back(shape[axis]);
      continue;
    }
    if (inferred) {
      return Status::invalidArgument(opPrefix(call) + "can infer one size, got -1 twice");
    }
    inferred = axis;
  }
  std::optional<int64_t> total = checkedProduct(from);
  std::optional<int64_t> wanted = checkedProduct(given);
  // A product beyond int64 cannot be the element count of the operand.
  if (!total || !wanted) {
    return reshapeError(call, from, shape);
  }
  if (!inferred) {
    // 0 against a positive count is wrong whatever the unknown dims are.
    bool isKnown = !isUnknown(*total) && !isUnknown(*wanted);
    if (isKnown && *total != *wanted) {
      return reshapeError(call, from, shape);
    }
    return shape;
  }
  if (*wanted == 0) {
    return reshapeError(call, from, shape);
  }
  if (isUnknown(*total) || isUnknown(*wanted)) {
    shape[*inferred] = kUnknownDim;
    return shape;
  }
  if (*total % *wanted != 0) {
    return reshapeError(call, from, shape);
  }
  shape[*inferred] = *total / *wanted;
  return shape;
}

Result<Dims> permutedShape(const OpCall &call, const Dims &from, const Dims &axes) {
  Dims shape;
  uint64_t seen = 0;
  if (axes.size() != from.size()) {
    return Status::invalidArgument(opPrefix(call) + "takes " + std::to_string(from.size()) +
                                   " axes, got " + std::to_string(axes.size()));
  }
  for (int64_t axis : axes) {
    TRACERT_TRY(checkAxes(call, {axis}, from.size()));
    if ((seen >> axis) & 1u) {
      return Status::invalidArgument(opPrefix(call) + "repeats axis " + std::to_string(axis));
    }
    seen |= uint64_t(1) << axis;
    shape.push_back(from[static_cast<size_t>(axis)]);
  }
  return shape;
}

Result<Dims> resultShape(const OpCall &call, const Dims &from, Operands operands) {
  const Dims &argument = attrs::reshape::shape(call);
  if (call.kind == OpKind::permute) {
    return permutedShape(call, from, argument);
  }
  if (call.kind == OpKind::reshape) {
    return reshapedShape(call, from, argument, operands);
  }
  TRACERT_ASSIGN(Dims shape, takeSizes(call, argument, operands, 1));
  if (!broadcastsTo(from, shape)) {
    return Status::invalidArgument(opPrefix(call) + "cannot broadcast shape " + shapeString(from) +
                                   " to shape " + shapeString(shape));
  }
  return shape;
}

} // namespace

// Runs of old axes that hold as many elements as runs of new ones must each be walkable with one
// stride.
std::optional<Dims> reshapedStrides(const TensorView &from, const Dims &shape) {
  if (from.elementCount() == 0) {
    return contiguousStrides(shape, from.dtype);
  }
  Dims oldShape;
  Dims oldStrides;
  for (size_t axis = 0; axis < from.rank(); ++axis) {
    if (from.shape[axis] != 1) {
      oldShape.push_back(from.shape[axis]);
      oldStrides.push_back(from.strides[axis]);
    }
  }
  Dims strides(shape.size());
  size_t oldFirst = 0;
  size_t newFirst = 0;
  while (oldFirst < oldShape.size() && newFirst < shape.size()) {
    size_t oldLast = oldFirst;
    size_t newLast = newFirst;
    int64_t oldCount = oldShape[oldLast];
    int64_t newCount = shape[newLast];
    while (oldCount != newCount) {
      if (newCount < oldCount) {
        newCount *= shape[++newLast];
      } else {
        oldCount *= oldShape[++oldLast];
      }
    }
    for (size_t axis = oldFirst; axis < oldLast; ++axis) {
      if (oldStrides[axis] != oldShape[axis + 1] * oldStrides[axis + 1]) {
        return std::nullopt;
      }
    }
    strides[newLast] = oldStrides[oldLast];
    for (size_t axis = newLast; axis > newFirst; --axis) {
      strides[axis - 1] = strides[axis] * shape[axis];
    }
    oldFirst = oldLast + 1;
    newFirst = newLast + 1;
  }
  int64_t last = newFirst > 0 ? strides[newFirst - 1] : static_cast<int64_t>(dtypeSize(from.dtype));
  for (size_t axis = newFirst; axis < shape.size(); ++axis) {
    strides[axis] = last;
  }
  return strides;
}

Result<ResultTypes> shapeTypes(const OpCall &call, Operands operands) {
  TRACERT_ASSIGN(Dims shape, resultShape(call, operands[0].type.shape, operands));
  return ResultTypes{{operands[0].type.dtype, std::move(shape)}};
}

Result<std::optional<TensorView>> shapeView(const OpCall &call, const TensorView &operand,
                                            std::span<const int64_t> sizeOperands) {
  std::vector<OperandInfo> operands(1);
  for (int64_t size : sizeOperands) {
    operands.push_back({{DType::Int64, {}}, size});
  }
  TRACERT_ASSIGN(Dims shape, resultShape(call, operand.shape, operands));
  TRACERT_TRY(checkLimits(call, {operand.dtype, shape}));
  if (call.kind == OpKind::broadcast_to) {
    return std::optional(broadcastView(operand, shape));
  }
  TensorView view{operand.data, operand.dtype, std::move(shape), {}};
  if (call.kind == OpKind::permute) {
    for (int64_t axis : attrs::permute::axes(call)) {
      view.strides.push_back(operand.strides[static_cast<size_t>(axis)]);
    }
    return std::optional(std::move(view));
  }
  std::optional<Dims> strides = reshapedStrides(operand, view.shape);
  if (!strides) {
    return std::optional<TensorView>();
  }
  view.strides = std::move(*strides);
  return std::optional(std::move(view));
}

} // namespace tracert::rules
