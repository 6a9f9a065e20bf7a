#include "ops/rules/DimMath.h"
#include "ops/rules/Views.h"

namespace tracert {

Result<Dims> broadcastShapes(std::string_view opName, const Dims &a, const Dims &b) {
  std::optional<Dims> shape = rules::broadcastOf(rules::NumberMath(), a, b);
  if (!shape) {
    return rules::notBroadcasting(opName, shapeString(a), shapeString(b));
  }
  return std::move(*shape);
}

TensorView broadcastView(const TensorView &view, const Dims &shape) {
  rules::NumberMath math;
  return {view.data, view.dtype, shape,
          rules::repeatedStrides(math, {view.shape, view.strides}, shape)};
}

namespace rules {

std::optional<int64_t> checkedProduct(std::span<const int64_t> dims) {
  int64_t product = 1;
  bool hasUnknown = false;
  bool hasOverflow = false;
  for (int64_t dim : dims) {
    if (dim == 0) {
      return 0;
    }
    if (isUnknown(dim)) {
      hasUnknown = true;
      continue;
    }
    hasOverflow = hasOverflow || !multiply(product, dim, product);
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

std::string NumberMath::countText(const Shape &shape) const {
  int64_t count = 1;
  for (int64_t dim : shape) {
    count = isUnknown(dim) || isUnknown(count) ? kUnknownDim : count * dim;
  }
  return isUnknown(count) ? "" : " of " + std::to_string(count) + " elements";
}

Status notBroadcasting(std::string_view opName, const std::string &a, const std::string &b) {
  return Status::invalidArgument("'" + std::string(opName) + "' operands of shape " + a + " and " +
                                 b + " do not broadcast");
}

std::string denseShapeString(const Dims &shape) {
  std::string text = shapeString(shape);
  std::erase(text, ' ');
  return text;
}

std::string opPrefix(const OpCall &call) { return "'" + std::string(call.info().name) + "' "; }

} // namespace rules
} // namespace tracert
