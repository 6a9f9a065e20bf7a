#include "generated/OpAttrs.h"
#include "kernels/Families.h"
#include "tracert/Element.h"
#include "tracert/OpRules.h"

#include <cstring>

namespace tracert::kernels {
/// The type rules have checked all guards but the one on a value.
Status runGuard(const KernelContext & /*context*/, const OpCall &call, Views operands,
                Views results) {
  std::memset(results[0].data, 0, sizeof(int64_t));
  if (call.info().has(kTraitSizeOnly)) {
    return {};
  }
  int64_t integer = integerAt(operands[0].data, operands[0].dtype);
  DType dtype = attrs::dtype(call);
  return integerFits(integer, dtype) ? Status() : integerDoesNotFit(std::to_string(integer), dtype);
}

} // namespace tracert::kernels
