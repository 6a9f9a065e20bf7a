#include "generated/OpAttrs.h"
#include "kernels/Gather.h"
#include "kernels/LoopNest.h"
#include "kernels/Mask.h"
#include "ops/IndexItemText.h"

namespace tracert::kernels {
namespace {

const IndexItems &itemsOf(const OpCall &call) { return attrs::items(call); }

struct ByteRange {
  const char *begin;
  const char *end;
};

/// The bytes that a view touches; empty for an empty view.
ByteRange rangeOf(const TensorView &view) {
  const char *begin = bytesOf(view);
  const char *end = begin + itemBytes(view.dtype);
  for (size_t axis = 0; axis < view.rank(); ++axis) {
    if (view.shape[axis] == 0) {
      return {begin, begin};
    }
    int64_t reach = (view.shape[axis] - 1) * view.strides[axis];
    (reach < 0 ? begin : end) += reach;
  }
  return {begin, end};
}

bool overlaps(const TensorView &a, const TensorView &b) {
  ByteRange first = rangeOf(a);
  ByteRange second = rangeOf(b);
  return first.begin < second.end && second.begin < first.end;
}

/// Operands of a set that lie in the memory about to be written, read as if copied before.
class CopiedOperands {
public:
  Status copyIfOverlapping(const KernelContext &context, TensorView &view,
                           const TensorView &written) {
    if (!overlaps(view, written)) {
      return {};
    }
    size_t bytes = static_cast<size_t>(view.type().byteCount());
    memory.push_back(std::make_unique<Scratch>(context, bytes));
    if (!memory.back()->data()) {
      return outOfScratch(bytes);
    }
    TensorView copy = TensorView::contiguous(memory.back()->data(), view.type());
    copyView(context, view, copy);
    view = copy;
    return {};
  }

private:
  std::vector<std::unique_ptr<Scratch>> memory;
};

/// `value` with its extra leading axes of size 1 dropped, broadcast onto the indexed shape.
TensorView onIndexedShape(TensorView value, const Dims &indexed) {
  while (value.rank() > indexed.size()) {
    value.shape.erase(0);
    value.strides.erase(0);
  }
  return broadcastView(value, indexed);
}

/// Result 0 starts as the old value, unless it is that memory already.
void startFrom(const KernelContext &context, const TensorView &old, const TensorView &result) {
  if (old.data != result.data) {
    copyView(context, old, result);
  }
}

/// The one mask that covers all axes, if that is the whole index.
bool isFullMask(const IndexItems &items, size_t rank) {
  return items.items.size() == 1 && items.items[0].kind == IndexItemKind::Mask && rank > 0 &&
         items.items[0].maskRank == rank;
}

Status runRead(const KernelContext &context, const IndexItems &items, Views operands,
               const TensorView &result) {
  const TensorView &operand = operands[0];
  Views extras = operands.subspan(1);
  if (isFullMask(items, operand.rank())) {
    return compactMasked(context, operand, extras[0], result.data, result.elementCount());
  }
  IndexSelection selection(context, items, operand, extras);
  TRACERT_TRY(selection.prepare());
  if (selection.access().base.shape != result.shape) {
    return Status::internal("indexed shape is " + shapeString(selection.access().base.shape) +
                            ", result " + shapeString(result.shape));
  }
  if (isElementGather(selection.access()) && selection.positionCount() > 0 &&
      context.indexMode == IndexMode::Checked) {
    return gatherElements(context, selection.access(), result) ? Status()
                                                               : selection.findOutOfRange();
  }
  TRACERT_TRY(selection.computeOffsets(/*isWrite=*/false));
  gatherSelected(context, selection, result);
  return {};
}

Status runBasicSet(const KernelContext &context, const IndexItems &items, Views operands,
                   const TensorView &result) {
  TRACERT_ASSIGN(IndexAccess access, indexAccess(items, result, operands.subspan(2), {}));
  TensorView value = operands[1];
  if (!rules::valueFits(value.shape, access.base.shape)) {
    return rules::valueShapeError(value.shape, access.base.shape);
  }
  CopiedOperands copies;
  TRACERT_TRY(copies.copyIfOverlapping(context, value, result));
  startFrom(context, operands[0], result);
  copyView(context, onIndexedShape(std::move(value), access.base.shape), access.base);
  return {};
}

/// x[mask] = one value, the mask over all axes: a select, without positions.
Status runMaskedFill(const KernelContext &context, TensorView mask, TensorView value,
                     const TensorView &old, const TensorView &result) {
  if (result.elementCount() == 0) {
    return {};
  }
  CopiedOperands copies;
  TRACERT_TRY(copies.copyIfOverlapping(context, mask, result));
  TRACERT_TRY(copies.copyIfOverlapping(context, value, result));
  ElementwiseLoop loop = kernelCores(context.target).select[dtypeNumber(result.dtype)];
  LoopNest nest(result.shape, {&mask.strides, &old.strides, &result.strides});
  double cost = 0.1 * static_cast<double>(itemBytes(result.dtype));
  runNest(context, nest, {mask.data, old.data, result.data}, cost,
          [&](char *const *at, int64_t count) {
            const void *inputs[] = {at[0], value.data, at[1]};
            int64_t strides[] = {nest.rowStride(0), 0, nest.rowStride(1)};
            loop(inputs, strides, at[2], nest.rowStride(2), count);
          });
  return {};
}

/// Any index, basic ones too, when the old elements are to be combined with the value.
Status runAdvancedSet(const KernelContext &context, const IndexItems &items, Views operands,
                      const TensorView &result, std::optional<OpKind> update) {
  TensorView value = operands[1];
  Views extras = operands.subspan(2);
  if (!update && isFullMask(items, result.rank()) && value.elementCount() == 1) {
    return runMaskedFill(context, extras[0], std::move(value), operands[0], result);
  }
  // Offsets are complete before the first write, so only the value needs a copy when it overlaps.
  IndexSelection selection(context, items, result, extras);
  TRACERT_TRY(selection.prepare());
  const Dims &indexed = selection.access().base.shape;
  if (!rules::valueFits(value.shape, indexed)) {
    return rules::valueShapeError(value.shape, indexed);
  }
  TRACERT_TRY(selection.computeOffsets(/*isWrite=*/true));
  CopiedOperands copies;
  TRACERT_TRY(copies.copyIfOverlapping(context, value, result));
  startFrom(context, operands[0], result);
  return scatterSelected(context, selection, onIndexedShape(std::move(value), indexed), update);
}

} // namespace

Status runIndexing(const KernelContext &context, const OpCall &call, Views operands,
                   Views results) {
  const IndexItems &items = itemsOf(call);
  const OpInfo &info = call.info();
  if (info.has(kTraitSet)) {
    return items.isBasic() && !info.update
               ? runBasicSet(context, items, operands, results[0])
               : runAdvancedSet(context, items, operands, results[0], info.update);
  }
  if (!items.isBasic()) {
    return runRead(context, items, operands, results[0]);
  }
  TRACERT_ASSIGN(IndexAccess access, indexAccess(items, operands[0], operands.subspan(1), {}));
  copyView(context, access.base, results[0]);
  return {};
}

} // namespace tracert::kernels
