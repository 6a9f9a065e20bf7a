#include "ops/TypeRules.h"

namespace tracert::rules {

Result<ResultTypes> compressTypes(const OpCall &call, Operands operands, Counts counts) {
  const TensorType &mask = operands[0].type;
  const TensorType &values = operands[1].type;
  if (mask.dtype != DType::Bool) {
    return Status::invalidType(opPrefix(call) + "mask must be bool, got " +
                               std::string(dtypeName(mask.dtype)));
  }
  TRACERT_TRY(checkAllowedDType(call, values.dtype));
  bool isEqual = mask.rank() == values.rank();
  for (size_t axis = 0; isEqual && axis < mask.rank(); ++axis) {
    int64_t maskDim = mask.shape[axis];
    int64_t dim = values.shape[axis];
    isEqual = maskDim == dim || isUnknown(maskDim) || isUnknown(dim);
  }
  if (!isEqual) {
    return Status::invalidArgument(opPrefix(call) + "mask of shape " + shapeString(mask.shape) +
                                   " and tensor of shape " + shapeString(values.shape) +
                                   " must have one shape");
  }
  if (counts && counts->size() != 1) {
    return Status::internal(opPrefix(call) + "takes one count");
  }
  int64_t count = counts ? (*counts)[0] : kUnknownDim;
  return ResultTypes{{values.dtype, {count}}, {DType::Int64, {count}}};
}

} // namespace tracert::rules
