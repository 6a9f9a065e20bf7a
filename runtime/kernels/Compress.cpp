#include "kernels/Families.h"
#include "kernels/Mask.h"

namespace tracert::kernels {

Status runCompress(const KernelContext &context, const OpCall &call, Views operands,
                   Views results) {
  (void)call;
  int64_t count = results[0].shape[0];
  TRACERT_TRY(compactMasked(context, operands[1], operands[0], results[0].data, count));
  writePositions(context, operands[0], static_cast<int64_t *>(results[1].data), count);
  return {};
}

} // namespace tracert::kernels
