// Sets that combine the old element with a value, at offsets. One element after the other: the next
// may be the same one.
#include "CoreTables.h"
#include "DtypeTags.h"

#include "tracert/scalar/Elementwise.h"

namespace tracert::TRACERT_ISA {
namespace {

template <class ScalarOp, class D>
void updateAt(const void *values, int64_t valueStride, char *target, const int64_t *offsets,
              int64_t count) {
  using Stored = typename D::Storage;
  const char *value = static_cast<const char *>(values);
  for (int64_t j = 0; j < count; ++j, value += valueStride) {
    if (offsets[j] == kDroppedOffset) {
      continue;
    }
    Stored *element = reinterpret_cast<Stored *>(target + offsets[j]);
    *element = scalar::apply<ScalarOp, D, 1>(*element, *reinterpret_cast<const Stored *>(value));
  }
}

} // namespace

void fillUpdateCores(KernelCores &cores) {
#define TRACERT_FILL_UPDATE(d, opName, row)                                                        \
  cores.update[row][dtypeIndex<scalar::dtype::d>] = updateAt<scalar::op::opName, scalar::dtype::d>;
#define TRACERT_SET_UPDATE(opName, row, dtypes)                                                    \
  TRACERT_FOR_##dtypes(TRACERT_FILL_UPDATE, opName, row)
#include "tracert/generated/SetUpdates.inc"
}

} // namespace tracert::TRACERT_ISA
