/// Type rules of reshape, broadcast_to and permute.
#pragma once

#include "ops/TypeRules.h"

namespace tracert::rules {

template <class M>
Status reshapeError(const M &math, const OpCall &call, const typename M::Shape &from,
                    const typename M::Shape &to) {
  std::string wanted = "(";
  for (size_t i = 0; i < to.size(); ++i) {
    wanted += (i > 0 ? ", " : "") + math.text(to[i]);
  }
  wanted += to.size() == 1 ? ",)" : ")";
  return Status::invalidArgument(opPrefix(call) + "cannot turn shape " + math.text(from) +
                                 math.countText(from) + " into shape " + wanted);
}

template <class M>
Result<typename M::Shape> reshapedShape(const M &math, const OpCall &call,
                                        const typename M::Shape &from, OperandsOf<M> operands) {
  using Dim = typename M::Dim;
  TRACERT_ASSIGN(TakenSizes<M> taken,
                 takeSizes(math, call, attrs::shape(call), operands, 1, /*mayInfer=*/true));
  typename M::Shape &shape = taken.shape;
  if (taken.infersTwice) {
    return Status::invalidArgument(opPrefix(call) + "can infer one size, got -1 twice");
  }
  typename M::Shape given;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    if (axis != taken.inferred) {
      given.push_back(shape[axis]);
    }
  }
  std::optional<Dim> total = math.product(from);
  std::optional<Dim> wanted = math.product(given);
  // A product beyond int64 cannot be the element count of the operand.
  if (!total || !wanted) {
    return reshapeError(math, call, from, shape);
  }
  if (!taken.inferred) {
    // 0 against a positive count is wrong whatever the unknown dims are.
    if (math.refusesEqual(*total, *wanted)) {
      return reshapeError(math, call, from, shape);
    }
    return std::move(shape);
  }
  if (math.refuses(!math.equal(*wanted, math.number(0)))) {
    return reshapeError(math, call, from, shape);
  }
  std::optional<Dim> size = math.quotient(*total, *wanted);
  if (!size) {
    return reshapeError(math, call, from, shape);
  }
  shape[*taken.inferred] = *size;
  return std::move(shape);
}

template <class M>
Result<typename M::Shape> permutedShape(const M &, const OpCall &call,
                                        const typename M::Shape &from) {
  const Dims &axes = attrs::axes(call);
  typename M::Shape shape;
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

template <class M>
Result<typename M::Shape> viewedShape(const M &math, const OpCall &call,
                                      const typename M::Shape &from, OperandsOf<M> operands) {
  if (call.kind == OpKind::permute) {
    return permutedShape(math, call, from);
  }
  if (call.kind == OpKind::reshape) {
    return reshapedShape(math, call, from, operands);
  }
  TRACERT_ASSIGN(TakenSizes<M> taken, takeSizes(math, call, attrs::shape(call), operands, 1));
  if (refusesRepeat(math, from, taken.shape)) {
    return Status::invalidArgument(opPrefix(call) + "cannot broadcast shape " + math.text(from) +
                                   " to shape " + math.text(taken.shape));
  }
  return std::move(taken.shape);
}

template <class M>
TypesOr<M> shapeTypes(const M &math, const OpCall &call, OperandsOf<M> operands) {
  TRACERT_ASSIGN(typename M::Shape shape,
                 viewedShape(math, call, operands[0].type.shape, operands));
  return typename M::Types{{operands[0].type.dtype, std::move(shape)}};
}

} // namespace tracert::rules
