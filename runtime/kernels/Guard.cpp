#include "generated/OpAttrs.h"
#include "kernels/Families.h"
#include "tracert/OpRules.h"

#include <cstring>

namespace tracert::kernels {
namespace {

int64_t readInteger(const TensorView &view) {
  switch (view.dtype) {
  case DType::UInt8:
    return *static_cast<const uint8_t *>(view.data);
  case DType::Int32:
    return *static_cast<const int32_t *>(view.data);
  default:
    return *static_cast<const int64_t *>(view.data);
  }
}

} // namespace

/// The type rules have checked all guards but the one on a value.
Status runGuard(const KernelContext & /*context*/, const OpCall &call, Views operands,
                Views results) {
  std::memset(results[0].data, 0, sizeof(int64_t));
  if (call.kind != OpKind::guard_fits) {
    return {};
  }
  int64_t integer = readInteger(operands[0]);
  DType dtype = attrs::dtype(call);
  return integerFits(integer, dtype) ? Status() : integerDoesNotFit(std::to_string(integer), dtype);
}

} // namespace tracert::kernels
