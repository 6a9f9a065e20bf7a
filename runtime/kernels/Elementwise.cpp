#include "kernels/Families.h"
#include "kernels/LoopNest.h"
#include "scalar/FloatMode.h"
#include "tracert/FlatPointwise.h"

namespace tracert::kernels {
namespace {

ElementwiseLoop loopOf(const KernelContext &context, const OpCall &call, Views operands,
                       const TensorView &result) {
  const KernelCores &cores = kernelCores(context.target);
  const OpInfo &info = call.info();
  if (info.family == OpFamily::Select) {
    return cores.select[dtypeNumber(operands[1].dtype)];
  }
  if (info.family == OpFamily::Cast) {
    return cores.cast[dtypeNumber(operands[0].dtype)][dtypeNumber(result.dtype)];
  }
  return cores.elementwise[info.elementwiseIndex][dtypeNumber(operands[0].dtype)];
}

/// Arithmetic is paid for by its memory traffic; the functions of one float take longer.
double nanosecondsPerElement(const OpCall &call, Views operands, const TensorView &result) {
  double bytes = static_cast<double>(dtypeSize(result.dtype));
  for (const TensorView &operand : operands) {
    bytes += static_cast<double>(dtypeSize(operand.dtype));
  }
  bool isFunction = call.info().family == OpFamily::Elementwise && operands.size() == 1;
  return bytes * (isFunction ? 0.1 : 0.025);
}

bool isOneElement(const TensorView &view) {
  for (int64_t size : view.shape) {
    if (size != 1) {
      return false;
    }
  }
  return true;
}

} // namespace

Status runPointwise(const KernelContext &context, const OpCall &call, Views operands,
                    Views results) {
  const TensorView &result = results[0];
  ElementwiseLoop loop = loopOf(context, call, operands, result);
  if (!loop) {
    if (call.info().family == OpFamily::Cast && operands[0].dtype == result.dtype) {
      copyView(context, operands[0], result);
      return {};
    }
    return Status::internal("'" + std::string(call.info().name) + "' has no kernel for " +
                            std::string(dtypeName(operands[0].dtype)));
  }
  int64_t count = result.elementCount();
  if (count == 0) {
    return {};
  }
  double cost = nanosecondsPerElement(call, operands, result);
  size_t arity = operands.size();

  // The common case without a nest: every operand is contiguous or one element.
  const void *inputs[3];
  int64_t inputStrides[3];
  bool isFlat = true;
  for (size_t i = 0; i < arity && isFlat; ++i) {
    inputs[i] = operands[i].data;
    inputStrides[i] = isOneElement(operands[i]) ? 0 : itemBytes(operands[i].dtype);
    isFlat =
        inputStrides[i] == 0 || (operands[i].shape == result.shape && operands[i].isContiguous());
  }
  int64_t resultSize = itemBytes(result.dtype);
  double total = static_cast<double>(count) * cost;
  bool isSmall =
      total < (context.pool ? double(kMinParallelNanoseconds) : kNanosecondsBetweenChecks);
  if (isFlat && isSmall) {
    loop(inputs, inputStrides, result.data, resultSize, count);
    return {};
  }

  Dims strides[LoopNest::kMaxOperands];
  const Dims *stridePointers[LoopNest::kMaxOperands];
  void *data[LoopNest::kMaxOperands] = {};
  for (size_t i = 0; i < arity; ++i) {
    strides[i] = broadcastView(operands[i], result.shape).strides;
    stridePointers[i] = &strides[i];
    data[i] = operands[i].data;
  }
  stridePointers[arity] = &result.strides;
  data[arity] = result.data;
  LoopNest nest(result.shape, std::span(stridePointers, arity + 1));
  nest.preferLongRows();
  int64_t rowStrides[LoopNest::kMaxOperands];
  for (size_t i = 0; i <= arity; ++i) {
    rowStrides[i] = nest.rowStride(i);
  }
  auto body = [&](char *const *rows, int64_t length) {
    const void *rowInputs[3];
    std::copy(rows, rows + arity, rowInputs);
    loop(rowInputs, rowStrides, rows[arity], rowStrides[arity], length);
  };
  runNest(context, nest, {data[0], data[1], data[2], data[3]}, cost, body);
  return {};
}

} // namespace tracert::kernels

namespace tracert {

void runFlatPointwise(const KernelContext &context, OpKind kind, DType dtype,
                      std::span<const FlatOperand> operands, void *result, int64_t resultStride,
                      int64_t count) {
  scalar::EnterNumericMode mode;
  ElementwiseLoop loop = kernelCores(context.target)
                             .elementwise[opInfo(kind).elementwiseIndex][static_cast<int>(dtype)];
  const void *inputs[3];
  int64_t strides[3];
  for (size_t i = 0; i < operands.size(); ++i) {
    inputs[i] = operands[i].data;
    strides[i] = operands[i].stride;
  }
  loop(inputs, strides, result, resultStride, count);
}

} // namespace tracert
