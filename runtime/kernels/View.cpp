#include "kernels/Families.h"
#include "ops/IndexItemText.h"
#include "tracert/Element.h"

namespace tracert::kernels {

/// Materialises a view op; a reshape that is no view copies the elements in C order.
Status runView(const KernelContext &context, const OpCall &call, Views operands, Views results) {
  std::vector<int64_t> extras;
  for (const TensorView &extra : operands.subspan(1)) {
    extras.push_back(integerAt(extra.data, extra.dtype));
  }
  Result<std::optional<TensorView>> view = viewOf(call, operands[0], extras);
  if (!view.ok()) {
    return view.status();
  }
  if (*view) {
    copyView(context, **view, results[0]);
    return {};
  }
  copyView(context, operands[0], TensorView::contiguous(results[0].data, operands[0].type()));
  return {};
}

} // namespace tracert::kernels
