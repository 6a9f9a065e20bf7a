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

/// A cast to the same dtype is a copy; any other call has a loop.
Status runWithoutLoop(const KernelContext &context, const OpCall &call, const TensorView &operand,
                      const TensorView &result) {
  if (call.info().family == OpFamily::Cast && operand.dtype == result.dtype) {
    copyView(context, operand, result);
    return {};
  }
  return Status::internal("'" + std::string(call.info().name) + "' has no kernel for " +
                          std::string(dtypeName(operand.dtype)));
}

/// The common case without a nest: few elements, every operand contiguous or one element. False:
/// nothing was done.
bool runFlat(const KernelContext &context, ElementwiseLoop loop, Views operands,
             const TensorView &result, double cost) {
  int64_t count = result.elementCount();
  double total = static_cast<double>(count) * cost;
  if (total >= (context.pool ? double(kMinParallelNanoseconds) : kNanosecondsBetweenChecks)) {
    return false;
  }
  const void *inputs[3];
  int64_t inputStrides[3];
  for (size_t i = 0; i < operands.size(); ++i) {
    const TensorView &operand = operands[i];
    inputs[i] = operand.data;
    inputStrides[i] = isOneElement(operand) ? 0 : itemBytes(operand.dtype);
    if (inputStrides[i] != 0 && (operand.shape != result.shape || !operand.isContiguous())) {
      return false;
    }
  }
  loop(inputs, inputStrides, result.data, itemBytes(result.dtype), count);
  return true;
}

/// Any strides, in rows that threads share.
void runStrided(const KernelContext &context, ElementwiseLoop loop, Views operands,
                const TensorView &result, double cost) {
  size_t arity = operands.size();
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
}

} // namespace

Status runPointwise(const KernelContext &context, const OpCall &call, Views operands,
                    Views results) {
  const TensorView &result = results[0];
  ElementwiseLoop loop = loopOf(context, call, operands, result);
  if (!loop) {
    return runWithoutLoop(context, call, operands[0], result);
  }
  if (result.elementCount() == 0) {
    return {};
  }
  double cost = nanosecondsPerElement(call, operands, result);
  if (!runFlat(context, loop, operands, result, cost)) {
    runStrided(context, loop, operands, result, cost);
  }
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
