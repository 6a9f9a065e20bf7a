#include "kernels/Families.h"

#include <cstring>

namespace tracert::kernels {

/// The type rules and the check of elements have refused what a guard refuses.
Status runGuard(const KernelContext & /*context*/, const OpCall & /*call*/, Views /*operands*/,
                Views results) {
  std::memset(results[0].data, 0, sizeof(int64_t));
  return {};
}

} // namespace tracert::kernels
