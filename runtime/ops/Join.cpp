#include "generated/OpAttrs.h"
#include "ops/TypeRules.h"

namespace tracert::rules {

Result<ResultTypes> joinTypes(const OpCall &call, Operands operands) {
  const TensorType &first = operands[0].type;
  TRACERT_TRY(checkAllowedDType(call, first.dtype));
  TRACERT_TRY(checkSameDType(call, operands));
  if (first.rank() == 0) {
    return Status::invalidArgument(opPrefix(call) + "operands must have at least one axis");
  }
  int64_t axis = attrs::concat::axis(call);
  TRACERT_TRY(checkAxes(call, {axis}, first.rank()));
  Dims shape = first.shape;
  int64_t &joined = shape[static_cast<size_t>(axis)];
  for (size_t i = 1; i < operands.size(); ++i) {
    const Dims &other = operands[i].type.shape;
    bool fits = other.size() == shape.size();
    for (size_t a = 0; fits && a < shape.size(); ++a) {
      if (static_cast<int64_t>(a) == axis) {
        continue;
      }
      fits = other[a] == shape[a] || isUnknown(other[a]) || isUnknown(shape[a]);
      shape[a] = isUnknown(shape[a]) ? other[a] : shape[a];
    }
    if (!fits) {
      return Status::invalidArgument(opPrefix(call) + "operand #" + std::to_string(i) +
                                     " of shape " + shapeString(other) + " does not fit shape " +
                                     shapeString(first.shape) + " outside axis " +
                                     std::to_string(axis));
    }
    int64_t grown = other[static_cast<size_t>(axis)];
    if (isUnknown(joined) || isUnknown(grown)) {
      joined = kUnknownDim;
    } else if (__builtin_add_overflow(joined, grown, &joined)) {
      return Status::invalidArgument(opPrefix(call) + "result is too large along axis " +
                                     std::to_string(axis));
    }
  }
  return ResultTypes{{first.dtype, std::move(shape)}};
}

} // namespace tracert::rules
