/// Type rules of full and arange.
#pragma once

#include "ops/TypeRules.h"

namespace tracert::rules {

template <class M>
TypesOr<M> createTypes(const M &math, const OpCall &call, OperandsOf<M> operands) {
  const Dims &sizes = attrs::shape(call);
  DType dtype = resultDType<M>(call, operands, 0);
  TRACERT_TRY(checkAllowedDType(call, dtype));
  if (call.info().attrPosition(AttrName::step) >= 0) {
    if (sizes.size() != 1) {
      return Status::invalidArgument(opPrefix(call) + "takes one size, got " +
                                     std::to_string(sizes.size()));
    }
    if (attrs::step(call).dtype != dtype) {
      return Status::invalidType(opPrefix(call) + "start and step must have one dtype, got " +
                                 std::string(dtypeName(dtype)) + " and " +
                                 std::string(dtypeName(attrs::step(call).dtype)));
    }
  }
  TRACERT_ASSIGN(TakenSizes<M> taken, takeSizes(math, call, sizes, operands, 0));
  return typename M::Types{{dtype, std::move(taken.shape)}};
}

} // namespace tracert::rules
