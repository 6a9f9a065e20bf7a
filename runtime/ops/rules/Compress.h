/// Type rule of cond_take.
#pragma once

#include "ops/TypeRules.h"

namespace tracert::rules {

template <class M>
TypesOr<M> compressTypes(const M &math, const OpCall &call, OperandsOf<M> operands) {
  const typename M::Type &mask = operands[0].type;
  const typename M::Type &values = operands[1].type;
  bool isEqual = mask.rank() == values.rank();
  for (size_t axis = 0; isEqual && axis < mask.rank(); ++axis) {
    isEqual = !math.refusesEqual(mask.shape[axis], values.shape[axis]);
  }
  if (!isEqual) {
    return Status::invalidArgument(opPrefix(call) + "mask of shape " + math.text(mask.shape) +
                                   " and tensor of shape " + math.text(values.shape) +
                                   " must have one shape");
  }
  TRACERT_TRY(math.checkCounts(call, 1));
  typename M::Dim count = math.count(operands[0], 0);
  return typename M::Types{{values.dtype, {count}}, {DType::Int64, {count}}};
}

} // namespace tracert::rules
