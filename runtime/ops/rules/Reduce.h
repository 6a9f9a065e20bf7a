/// Shapes of reductions, and of the ops that give sizes.
#pragma once

#include "ops/TypeRules.h"

namespace tracert::rules {

/// `from` without `axes`, or with size 1 in their place.
template <class M>
typename M::Shape reducedShape(const M &math, const typename M::Shape &from, const Dims &axes,
                               bool keepdims) {
  typename M::Shape shape;
  size_t next = 0;
  for (size_t axis = 0; axis < from.size(); ++axis) {
    bool isReduced = next < axes.size() && axes[next] == static_cast<int64_t>(axis);
    next += isReduced;
    if (!isReduced || keepdims) {
      shape.push_back(isReduced ? math.number(1) : from[axis]);
    }
  }
  return shape;
}

/// Whether results are wanted of an axis of size 0. A kept dim that is not known may turn out to be
/// 0 too, and then there is nothing to miss.
template <class M>
Truth missesValues(const M &math, const typename M::Shape &from, const Dims &axes) {
  Truth isReducedFull = Truth::Yes;
  Truth hasResults = Truth::Yes;
  for (size_t axis = 0; axis < from.size(); ++axis) {
    bool isReduced = std::find(axes.begin(), axes.end(), static_cast<int64_t>(axis)) != axes.end();
    Truth &truth = isReduced ? isReducedFull : hasResults;
    truth = both(truth, !math.equal(from[axis], math.number(0)));
  }
  return both(!isReducedFull, hasResults);
}

template <class M>
TypesOr<M> reduceTypes(const M &math, const OpCall &call, OperandsOf<M> operands) {
  const typename M::Type &type = operands[0].type;
  const Dims &axes = attrs::axes(call);
  TRACERT_TRY(checkAxes(call, axes, type.rank()));
  const ReductionInfo *reduction = call.info().reduction;
  bool hasNoEmptyValue = reduction && reduction->empty == EmptyReduction::Error;
  if (hasNoEmptyValue && math.refuses(!missesValues(math, type.shape, axes))) {
    return Status::invalidArgument(opPrefix(call) + "over an empty axis of shape " +
                                   math.text(type.shape) + " has no value");
  }
  return
      typename M::Types{{type.dtype, reducedShape(math, type.shape, axes, attrs::keepdims(call))}};
}

template <class M> TypesOr<M> sizeTypes(const M &, const OpCall &call, OperandsOf<M> operands) {
  TRACERT_TRY(checkAxes(call, attrs::axes(call), operands[0].type.rank()));
  return typename M::Types{{DType::Int64, {}}};
}

/// The number that a Size op gives; nullopt when it does not fit int64.
template <class M>
std::optional<typename M::Dim> sizeValue(const M &math, const OpCall &call,
                                         OperandsOf<M> operands) {
  typename M::Shape chosen;
  for (int64_t axis : attrs::axes(call)) {
    chosen.push_back(operands[0].type.shape[static_cast<size_t>(axis)]);
  }
  return math.product(chosen);
}

} // namespace tracert::rules
