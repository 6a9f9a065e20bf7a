#include "kernels/ElementCheck.h"

#include "generated/OpAttrs.h"
#include "kernels/LoopNest.h"
#include "tracert/Element.h"
#include "tracert/OpRules.h"

namespace tracert::kernels {
namespace {

Status checkFits(const OpCall &call, const TensorView &operand) {
  DType dtype = attrs::dtype(call);
  LoopNest nest(operand.shape, {&operand.strides});
  char *const base[] = {bytesOf(operand)};
  Status status;
  nest.forRows(base, 0, nest.rowCount(), [&](char *const *at) {
    for (int64_t i = 0; i < nest.rowLength() && status.ok(); ++i) {
      int64_t integer = integerAt(at[0] + i * nest.rowStride(0), operand.dtype);
      if (!integerFits(integer, dtype)) {
        status = integerDoesNotFit(std::to_string(integer), dtype);
      }
    }
  });
  return status;
}

} // namespace

Status checkElements(const OpCall &call, const TensorView &operand) {
  switch (call.info().elementRule) {
  case ElementRule::None:
    break;
  case ElementRule::FitsDType:
    return checkFits(call, operand);
  }
  return {};
}

} // namespace tracert::kernels
