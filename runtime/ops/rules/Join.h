/// Type rule of concat.
#pragma once

#include "ops/TypeRules.h"

namespace tracert::rules {

template <class M> TypesOr<M> joinTypes(const M &math, const OpCall &call, OperandsOf<M> operands) {
  const typename M::Type &first = operands[0].type;
  TRACERT_TRY(checkSameDType(call, operands));
  if (first.rank() == 0) {
    return Status::invalidArgument(opPrefix(call) + "operands must have at least one axis");
  }
  int64_t axis = attrs::axis(call);
  TRACERT_TRY(checkAxes(call, {axis}, first.rank()));
  size_t joinedAxis = static_cast<size_t>(axis);
  typename M::Shape shape = first.shape;
  for (size_t i = 1; i < operands.size(); ++i) {
    const typename M::Shape &other = operands[i].type.shape;
    bool fits = other.size() == shape.size();
    for (size_t a = 0; fits && a < shape.size(); ++a) {
      if (a != joinedAxis) {
        fits = !math.refusesEqual(other[a], shape[a]);
        shape[a] = math.either(shape[a], other[a]);
      }
    }
    if (!fits) {
      return Status::invalidArgument(opPrefix(call) + "operand #" + std::to_string(i) +
                                     " of shape " + math.text(other) + " does not fit shape " +
                                     math.text(first.shape) + " outside axis " +
                                     std::to_string(axis));
    }
    std::optional<typename M::Dim> grown = math.sum(shape[joinedAxis], other[joinedAxis]);
    if (!grown) {
      return Status::invalidArgument(opPrefix(call) + "result is too large along axis " +
                                     std::to_string(axis));
    }
    shape[joinedAxis] = *grown;
  }
  return typename M::Types{{first.dtype, std::move(shape)}};
}

} // namespace tracert::rules
