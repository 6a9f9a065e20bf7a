#include "generated/OpAttrs.h"
#include "kernels/Families.h"
#include "kernels/LoopNest.h"

#include <cstring>

namespace tracert::kernels {
namespace {

template <class T>
void fill(const KernelContext &context, void *data, int64_t count, const Scalar &value) {
  T element = value.as<T>();
  runRanges(context, count, 0.08 * sizeof(T), [&](int64_t begin, int64_t end) {
    std::fill(static_cast<T *>(data) + begin, static_cast<T *>(data) + end, element);
  });
}

void runFull(const KernelContext &context, const Scalar &value, const TensorView &result) {
  int64_t count = result.elementCount();
  visitElementBits(result.dtype,
                   [&](auto bits) { fill<decltype(bits)>(context, result.data, count, value); });
}

/// start + i * step by the scalar ops of the dtype: i is cast from int64, then multiplied, then
/// added. Narrow floats do all of it in float32 and round once.
class Arange {
public:
  Arange(const KernelContext &context, const OpCall &call, const TensorView &result)
      : cores(kernelCores(context.target)), result(result),
        work(isFloat(result.dtype) ? accumulateDType(result.dtype) : result.dtype) {
    start = widened(attrs::start(call));
    step = widened(attrs::step(call));
  }

  void run(int64_t begin, int64_t end) const {
    constexpr int64_t kBlock = 512;
    int64_t positions[kBlock];
    alignas(64) char values[kBlock * sizeof(int64_t)];
    int64_t resultSize = itemBytes(result.dtype);
    int64_t workSize = itemBytes(work);
    for (; begin < end; begin += kBlock) {
      int64_t count = std::min(kBlock, end - begin);
      for (int64_t i = 0; i < count; ++i) {
        positions[i] = begin + i;
      }
      convert(DType::Int64, positions, work, values, count);
      apply(OpKind::mul, values, step, workSize, count);
      apply(OpKind::add, values, start, workSize, count);
      convert(work, values, result.dtype, bytesOf(result) + begin * resultSize, count);
    }
  }

private:
  Scalar widened(const Scalar &scalar) const {
    Scalar wide{work, 0};
    convert(scalar.dtype, &scalar.bits, work, &wide.bits, 1);
    return wide;
  }

  void convert(DType from, const void *input, DType to, void *output, int64_t count) const {
    if (from == to) {
      std::memcpy(output, input, static_cast<size_t>(count * itemBytes(to)));
      return;
    }
    int64_t stride = itemBytes(from);
    cores.cast[dtypeNumber(from)][dtypeNumber(to)](&input, &stride, output, itemBytes(to), count);
  }

  void apply(OpKind kind, char *values, const Scalar &rhs, int64_t size, int64_t count) const {
    const void *inputs[] = {values, &rhs.bits};
    int64_t strides[] = {size, 0};
    cores.elementwise[opInfo(kind).elementwiseIndex][dtypeNumber(work)](inputs, strides, values,
                                                                        size, count);
  }

  const KernelCores &cores;
  const TensorView &result;
  DType work;
  Scalar start;
  Scalar step;
};

} // namespace

Status runCreate(const KernelContext &context, const OpCall &call, Views operands, Views results) {
  (void)operands;
  const TensorView &result = results[0];
  if (call.kind == OpKind::full) {
    runFull(context, attrs::value(call), result);
    return {};
  }
  Arange arange(context, call, result);
  runRanges(context, result.elementCount(), 1.0,
            [&](int64_t begin, int64_t end) { arange.run(begin, end); });
  return {};
}

} // namespace tracert::kernels
