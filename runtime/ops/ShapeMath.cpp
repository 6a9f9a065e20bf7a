#include "ops/ShapeMath.h"

#include <algorithm>

namespace tracert {

Result<Dims> broadcastShapes(std::string_view opName, const Dims &a, const Dims &b) {
  size_t rank = std::max(a.size(), b.size());
  Dims shape(rank, 1);
  for (size_t fromEnd = 1; fromEnd <= rank; ++fromEnd) {
    int64_t dimA = fromEnd <= a.size() ? a[a.size() - fromEnd] : 1;
    int64_t dimB = fromEnd <= b.size() ? b[b.size() - fromEnd] : 1;
    std::optional<int64_t> dim = rules::broadcastDim(dimA, dimB);
    if (!dim) {
      return Status::invalidArgument("'" + std::string(opName) + "' operands of shape " +
                                     shapeString(a) + " and " + shapeString(b) +
                                     " do not broadcast");
    }
    shape[rank - fromEnd] = *dim;
  }
  return shape;
}

TensorView broadcastView(const TensorView &view, const Dims &shape) {
  TensorView result{view.data, view.dtype, shape, Dims(shape.size(), 0)};
  size_t added = shape.size() - view.rank();
  for (size_t axis = 0; axis < view.rank(); ++axis) {
    if (view.shape[axis] == shape[axis + added]) {
      result.strides[axis + added] = view.strides[axis];
    }
  }
  return result;
}

namespace rules {

std::optional<int64_t> checkedProduct(const Dims &shape, size_t first, size_t last) {
  int64_t product = 1;
  bool hasUnknown = false;
  bool hasOverflow = false;
  for (size_t axis = first; axis < last; ++axis) {
    if (shape[axis] == 0) {
      return 0;
    }
    if (isUnknown(shape[axis])) {
      hasUnknown = true;
      continue;
    }
    hasOverflow = hasOverflow || !multiply(product, shape[axis], product);
  }
  if (hasOverflow) {
    return std::nullopt;
  }
  return hasUnknown ? kUnknownDim : product;
}

Status checkLimits(const OpCall &call, const TensorType &type) {
  if (type.rank() > kMaxRank) {
    return Status::invalidArgument(opPrefix(call) + "tensor of rank " +
                                   std::to_string(type.rank()) + " is above the limit of " +
                                   std::to_string(kMaxRank));
  }
  // Empty axes are left out, so that strides of an empty tensor do not overflow either.
  int64_t bytes = static_cast<int64_t>(dtypeSize(type.dtype));
  for (int64_t dim : type.shape) {
    if (dim > 0 && !multiply(bytes, dim, bytes)) {
      return Status::invalidArgument(opPrefix(call) + "tensor of shape " + shapeString(type.shape) +
                                     " is too large");
    }
  }
  return {};
}

std::optional<int64_t> broadcastDim(int64_t a, int64_t b) {
  if (a == b || b == 1) {
    return a;
  }
  if (a == 1) {
    return b;
  }
  // An unknown dim must turn out to be 1 or the other one; a re-run of the rule checks it.
  if (isUnknown(a)) {
    return b;
  }
  if (isUnknown(b)) {
    return a;
  }
  return std::nullopt;
}

Result<Dims> takeSizes(const OpCall &call, const Dims &sizes, Operands operands, size_t firstExtra,
                       bool mayInfer) {
  Dims result;
  size_t next = firstExtra;
  for (int64_t size : sizes) {
    if (size == kFromOperand) {
      const OperandInfo &operand = operands[next++];
      if (operand.type.rank() != 0 || operand.type.dtype != DType::Int64) {
        return Status::invalidType(
            opPrefix(call) + "size operand must be an int64 of rank 0, got " + operand.type.str());
      }
      if (!operand.sizeValue) {
        result.push_back(kUnknownDim);
        continue;
      }
      size = *operand.sizeValue;
    }
    if (size == -1 && mayInfer) {
      result.push_back(kInferred);
      continue;
    }
    if (size < 0) {
      return Status::invalidArgument(opPrefix(call) + "sizes must not be negative, got " +
                                     std::to_string(size));
    }
    result.push_back(size);
  }
  return result;
}

bool broadcastsTo(const Dims &from, const Dims &to) {
  if (from.size() > to.size()) {
    return false;
  }
  size_t added = to.size() - from.size();
  for (size_t axis = 0; axis < from.size(); ++axis) {
    int64_t dim = from[axis];
    int64_t wanted = to[axis + added];
    if (dim != wanted && dim != 1 && !isUnknown(dim) && !isUnknown(wanted)) {
      return false;
    }
  }
  return true;
}

std::string denseShapeString(const Dims &shape) {
  std::string text = shapeString(shape);
  std::erase(text, ' ');
  return text;
}

std::string opPrefix(const OpCall &call) { return "'" + std::string(call.info().name) + "' "; }

} // namespace rules
} // namespace tracert
