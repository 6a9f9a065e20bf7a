#include "generated/OpAttrs.h"
#include "kernels/Families.h"
#include "kernels/LoopNest.h"
#include "kernels/Scratch.h"
#include "kernels/cores/DtypeTags.h"
#include "scalar/Reduction.h"

#include <cstring>

namespace tracert::kernels {
namespace {

using scalar::ReductionOrder;

/// A reduction without axes of size 1: the reduced axes in C order are the sequence of one output,
/// the kept axes say where the outputs are. Neighbouring axes are merged where strides allow.
struct Reduction {
  Dims reducedSizes;
  Dims reducedStrides;
  Dims keptSizes;
  Dims keptInputStrides;
  Dims keptOutputStrides;
  int64_t sequenceLength = 1;
  int64_t outputCount = 1;
  /// The innermost axis (of a size other than 1) is reduced.
  bool isInner = false;

  ReducedAxes reducedAxes() const {
    return {static_cast<int32_t>(reducedSizes.size()), reducedSizes.data(), reducedStrides.data(),
            currentRunControl()};
  }
};

Reduction reductionOf(const TensorView &input, const Dims &axes, int64_t outputSize) {
  Reduction reduction;
  Dims isReduced(input.rank(), 0);
  for (int64_t axis : axes) {
    isReduced[static_cast<size_t>(axis)] = 1;
  }
  Dims outputStrides(input.rank(), 0);
  for (size_t axis = input.rank(); axis-- > 0;) {
    if (isReduced[axis]) {
      reduction.sequenceLength *= input.shape[axis];
      continue;
    }
    outputStrides[axis] = outputSize * reduction.outputCount;
    reduction.outputCount *= input.shape[axis];
  }
  for (size_t axis = 0; axis < input.rank(); ++axis) {
    int64_t size = input.shape[axis];
    int64_t stride = input.strides[axis];
    if (size == 1) {
      continue;
    }
    reduction.isInner = isReduced[axis] != 0;
    if (isReduced[axis]) {
      Dims &strides = reduction.reducedStrides;
      bool merges = !strides.empty() && strides.back() == stride * size;
      if (!merges) {
        reduction.reducedSizes.push_back(1);
        strides.push_back(0);
      }
      reduction.reducedSizes.back() *= size;
      strides.back() = stride;
      continue;
    }
    Dims &strides = reduction.keptInputStrides;
    bool merges = !strides.empty() && strides.back() == stride * size;
    if (!merges) {
      reduction.keptSizes.push_back(1);
      strides.push_back(0);
      reduction.keptOutputStrides.push_back(0);
    }
    reduction.keptSizes.back() *= size;
    strides.back() = stride;
    reduction.keptOutputStrides.back() = outputStrides[axis];
  }
  return reduction;
}

/// Outputs in C order, cut into runs along the innermost kept axis.
class OutputRuns {
public:
  OutputRuns(const Reduction &reduction, const TensorView &input, const TensorView &output)
      : reduction(reduction), input(bytesOf(input)), output(bytesOf(output)) {}

  /// body(input, kept, output) for the outputs [begin, end).
  template <class Body> void visit(int64_t begin, int64_t end, Body &&body) const {
    size_t rank = reduction.keptSizes.size();
    if (rank == 0) {
      body(static_cast<const void *>(input), KeptAxis{1, 0, 0}, static_cast<void *>(output));
      return;
    }
    int64_t inner = reduction.keptSizes.back();
    while (begin < end) {
      int64_t first = begin % inner;
      int64_t count = std::min(inner - first, end - begin);
      int64_t inputOffset = first * reduction.keptInputStrides.back();
      int64_t outputOffset = first * reduction.keptOutputStrides.back();
      int64_t rest = begin / inner;
      for (size_t axis = rank - 1; axis-- > 0;) {
        int64_t index = rest % reduction.keptSizes[axis];
        rest /= reduction.keptSizes[axis];
        inputOffset += index * reduction.keptInputStrides[axis];
        outputOffset += index * reduction.keptOutputStrides[axis];
      }
      KeptAxis kept{count, reduction.keptInputStrides.back(), reduction.keptOutputStrides.back()};
      body(static_cast<const void *>(input + inputOffset), kept,
           static_cast<void *>(output + outputOffset));
      begin += count;
    }
  }

private:
  const Reduction &reduction;
  char *input;
  char *output;
};

/// Few outputs of long sequences: threads share the blocks of each.
Status runBlocks(const KernelContext &context, const Reduction &reduction, const ReduceCores &cores,
                 const OutputRuns &runs, double nanosecondsPerElement) {
  int64_t blockCount = ReductionOrder::blockCount(reduction.sequenceLength);
  size_t bytes = static_cast<size_t>(blockCount * cores.partialSize);
  Scratch partials(context, bytes);
  if (!partials.data()) {
    return outOfScratch(bytes);
  }
  ReducedAxes axes = reduction.reducedAxes();
  for (int64_t index = 0; index < reduction.outputCount; ++index) {
    runs.visit(index, index + 1, [&](const void *input, const KeptAxis &, void *output) {
      runRanges(context, blockCount, ReductionOrder::blockLength * nanosecondsPerElement,
                [&](int64_t begin, int64_t end) {
                  cores.blocks(input, axes, begin, end,
                               partials.as<char>() + begin * cores.partialSize);
                });
      if (!shouldStop()) {
        cores.combine(partials.data(), blockCount, output);
      }
    });
  }
  return {};
}

/// What no elements give.
Status fillEmpty(const OpCall &call, const TensorView &input, const TensorView &output,
                 int64_t count) {
  const ReductionInfo &info = *call.info().reduction;
  if (info.empty == EmptyReduction::Error) {
    return Status::invalidArgument("'" + std::string(call.info().name) +
                                   "' over an empty axis of shape " + shapeString(input.shape) +
                                   " has no value");
  }
  // +0.0 and 0: no bit is set in either.
  Scalar value{output.dtype, 0};
  if (info.empty == EmptyReduction::Start) {
    value = reductionStart(info.start, output.dtype);
  }
  size_t bytes = dtypeSize(output.dtype);
  for (int64_t i = 0; i < count; ++i) {
    std::memcpy(bytesOf(output) + static_cast<size_t>(i) * bytes, &value.bits, bytes);
  }
  return {};
}

} // namespace

Status runReduce(const KernelContext &context, const OpCall &call, Views operands, Views results) {
  const TensorView &input = operands[0];
  const TensorView &output = results[0];
  int64_t outputSize = itemBytes(output.dtype);
  const ReductionInfo &info = *call.info().reduction;
  Reduction reduction = reductionOf(input, attrs::axes(call), outputSize);
  if (reduction.outputCount == 0) {
    return {};
  }
  if (reduction.sequenceLength == 0) {
    return fillEmpty(call, input, output, reduction.outputCount);
  }
  const ReduceCores &cores =
      kernelCores(context.target).reduce[info.index][dtypeNumber(input.dtype)];
  OutputRuns runs(reduction, input, output);
  double cost = 0.03 * static_cast<double>(dtypeSize(input.dtype));
  bool isWorthThreads = context.pool && context.pool->threadCount() > 1 &&
                        static_cast<double>(reduction.sequenceLength) *
                                static_cast<double>(reduction.outputCount) * cost >=
                            double(kMinParallelNanoseconds);
  if (reduction.isInner && isWorthThreads &&
      reduction.outputCount < 4 * context.pool->threadCount() &&
      reduction.sequenceLength >= 4 * ReductionOrder::blockLength) {
    return runBlocks(context, reduction, cores, runs, cost);
  }
  ReducedAxes axes = reduction.reducedAxes();
  auto core = reduction.isInner ? cores.rows : cores.columns;
  // Columns are cheapest in whole vectors and cache lines.
  int64_t grain = reduction.isInner ? 1 : 64;
  int64_t items = (reduction.outputCount + grain - 1) / grain;
  double itemCost = static_cast<double>(grain * reduction.sequenceLength) * cost;
  runRanges(context, items, itemCost, [&](int64_t begin, int64_t end) {
    runs.visit(
        begin * grain, std::min(end * grain, reduction.outputCount),
        [&](const void *from, const KeptAxis &kept, void *to) { core(from, axes, kept, to); });
  });
  return {};
}

Status runSize(const KernelContext &context, const OpCall &call, Views operands, Views results) {
  (void)context;
  int64_t product = 1;
  for (int64_t axis : attrs::axes(call)) {
    product *= operands[0].shape[static_cast<size_t>(axis)];
  }
  std::memcpy(results[0].data, &product, sizeof(product));
  return {};
}

} // namespace tracert::kernels

namespace tracert {

Scalar reductionStart(ReductionStart start, DType dtype) {
  switch (start) {
  case ReductionStart::One:
    return {dtype, oneBits(dtype)};
  case ReductionStart::Lowest:
    return {dtype, lowestBits(dtype)};
  case ReductionStart::Highest:
    return {dtype, highestBits(dtype)};
  case ReductionStart::Zero:
  case ReductionStart::First:
    break;
  }
  // -0.0: of additions of floats the one start that leaves every other unchanged.
  return {dtype, isFloat(dtype) ? uint64_t(1) << (8 * dtypeSize(dtype) - 1) : 0};
}

void joinReductionPartials(const ReductionInfo &reduction, DType operand, const void *partials,
                           int64_t blockCount, void *result) {
  kernelCores(kPortable).reduce[reduction.index][kernels::dtypeNumber(operand)].combine(
      partials, blockCount, result);
}

} // namespace tracert
