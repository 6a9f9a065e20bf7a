// Views of the Shape family.
#include "ops/rules/Shape.h"
#include "ops/rules/Views.h"

namespace tracert::rules {

Result<std::optional<TensorView>> shapeView(const OpCall &call, const TensorView &operand,
                                            std::span<const int64_t> sizeOperands) {
  std::vector<OperandInfo> operands(1);
  for (int64_t size : sizeOperands) {
    operands.push_back({{DType::Int64, {}}, size});
  }
  NumberMath math;
  TRACERT_ASSIGN(Dims shape, viewedShape<NumberMath>(math, call, operand.shape, operands));
  TRACERT_TRY(checkLimits(call, {operand.dtype, shape}));
  std::optional<Dims> strides = viewStrides(math, call, {operand.shape, operand.strides}, shape,
                                            static_cast<int64_t>(dtypeSize(operand.dtype)));
  if (!strides) {
    return std::optional<TensorView>();
  }
  return std::optional(
      TensorView{operand.data, operand.dtype, std::move(shape), std::move(*strides)});
}

} // namespace tracert::rules
