#include "kernels/IndexSelection.h"

#include "kernels/LoopNest.h"
#include "kernels/Mask.h"
#include "ops/IndexItemText.h"
#include "ops/IndexWalk.h"
#include "tracert/Element.h"

#include <atomic>

namespace tracert::kernels {
namespace {

/// Positions that are searched between two looks at the control.
constexpr int64_t kCheckedPositions = 32768;

} // namespace

int64_t *IndexSelection::allocate(int64_t count) {
  memory.push_back(
      std::make_unique<Scratch>(context, static_cast<size_t>(count) * sizeof(int64_t)));
  return memory.back()->as<int64_t>();
}

/// Whether the axes [first, last) can be walked with the stride of the last one.
bool IndexSelection::mergesAxes(size_t first, size_t last) const {
  for (size_t axis = first; axis + 1 < last; ++axis) {
    if (operand.strides[axis] != operand.strides[axis + 1] * operand.shape[axis + 1]) {
      return false;
    }
  }
  return true;
}

Status IndexSelection::addMask(const IndexItem &item, const TensorView &mask, size_t first) {
  int64_t count = countTrue(context, mask);
  TRACERT_TRY(stoppedStatus());
  if (item.maskRank == 0) {
    resolved.items.push_back(item);
    rank0Counts.push_back(count);
    return {};
  }
  size_t last = first + item.maskRank;
  int64_t *flat = allocate(count);
  if (!flat) {
    return outOfScratch(static_cast<size_t>(count) * sizeof(int64_t));
  }
  writePositions(context, mask, flat, count);
  TRACERT_TRY(stoppedStatus());
  TensorView positionView{flat, DType::Int64, {count}, {sizeof(int64_t)}};
  IndexItem array;
  array.kind = IndexItemKind::IntArray;
  if (mergesAxes(first, last)) {
    int64_t size = 1;
    for (size_t axis = first; axis < last; ++axis) {
      size *= operand.shape[axis];
    }
    merged.shape.push_back(size);
    merged.strides.push_back(operand.strides[last - 1]);
    originalAxes.push_back(static_cast<int64_t>(first));
    resolved.items.push_back(array);
    resolvedExtras.push_back(positionView);
    return {};
  }
  for (size_t axis = first; axis < last; ++axis) {
    int64_t *column = allocate(count);
    if (!column) {
      return outOfScratch(static_cast<size_t>(count) * sizeof(int64_t));
    }
    int64_t inner = 1;
    for (size_t after = axis + 1; after < last; ++after) {
      inner *= operand.shape[after];
    }
    int64_t size = operand.shape[axis];
    runRanges(context, count, 5.0, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        column[i] = flat[i] / inner % size;
      }
    });
    TRACERT_TRY(stoppedStatus());
    merged.shape.push_back(operand.shape[axis]);
    merged.strides.push_back(operand.strides[axis]);
    originalAxes.push_back(static_cast<int64_t>(axis));
    resolved.items.push_back(array);
    resolvedExtras.push_back({column, DType::Int64, {count}, {sizeof(int64_t)}});
  }
  return {};
}

Status IndexSelection::prepare() {
  merged.data = operand.data;
  merged.dtype = operand.dtype;
  resolved.advancedFirst = items.advancedFirst;
  for (const ItemPlace &place : IndexWalk(items)) {
    if (place.item.kind == IndexItemKind::Mask) {
      TRACERT_TRY(addMask(place.item, extras[place.operand], place.axis));
      continue;
    }
    resolved.items.push_back(place.item);
    for (size_t i = 0; i < operandsUsed(place.item); ++i) {
      resolvedExtras.push_back(extras[place.operand + i]);
    }
    if (axesUsed(place.item) == 1) {
      merged.shape.push_back(operand.shape[place.axis]);
      merged.strides.push_back(operand.strides[place.axis]);
      originalAxes.push_back(static_cast<int64_t>(place.axis));
    }
  }
  TRACERT_ASSIGN(found, indexAccess(resolved, merged, resolvedExtras, rank0Counts));
  for (IndexAccess::IndexedAxis &indexed : found.axes) {
    indexed.axis = static_cast<int>(originalAxes[static_cast<size_t>(indexed.axis)]);
  }
  for (size_t i = found.advancedBegin; i < found.advancedEnd; ++i) {
    positions *= found.base.shape[i];
  }
  return {};
}

namespace {

struct OffsetRow {
  const char *indices;
  int64_t indexStride;
  int64_t *offsets;
  int64_t count;
  int64_t size;
  int64_t stride;
};

/// Adds index * stride to each offset; true if an index was out of range (its offset is then of no
/// use).
template <class T> bool addChecked(const OffsetRow &row) {
  bool hasBad = false;
  for (int64_t i = 0; i < row.count; ++i) {
    int64_t index = toIndex(*reinterpret_cast<const T *>(row.indices + i * row.indexStride));
    index += index < 0 ? row.size : 0;
    hasBad |= static_cast<uint64_t>(index) >= static_cast<uint64_t>(row.size);
    row.offsets[i] += index * row.stride;
  }
  return hasBad;
}

template <class T> void addUnchecked(const OffsetRow &row, bool isWrite) {
  for (int64_t i = 0; i < row.count; ++i) {
    int64_t index = toIndex(*reinterpret_cast<const T *>(row.indices + i * row.indexStride));
    index += index < 0 ? row.size : 0;
    bool isBad = static_cast<uint64_t>(index) >= static_cast<uint64_t>(row.size);
    if (isWrite && (isBad || row.offsets[i] == IndexSelection::kDropped)) {
      row.offsets[i] = IndexSelection::kDropped;
      continue;
    }
    row.offsets[i] += std::clamp<int64_t>(index, 0, row.size - 1) * row.stride;
  }
}

} // namespace

Status IndexSelection::addOffsets(const IndexAccess::IndexedAxis &indexed, bool isFirst,
                                  bool isWrite, bool &hasBad) {
  Dims shape(found.base.shape.begin() + found.advancedBegin,
             found.base.shape.begin() + found.advancedEnd);
  Dims strides(indexed.indices.strides.begin() + found.advancedBegin,
               indexed.indices.strides.begin() + found.advancedEnd);
  Dims offsetStrides = contiguousStrides(shape, DType::Int64);
  LoopNest nest(shape, {&strides, &offsetStrides});
  bool isUnchecked = context.indexMode == IndexMode::Unchecked;
  if (isUnchecked && !isWrite && indexed.size == 0) {
    return rules::outOfRange(0, indexed.axis, 0);
  }
  std::atomic<bool> foundBad{false};
  runNest(context, nest, {indexed.indices.data, offsetMemory}, 1.0,
          [&](char *const *at, int64_t count) {
            OffsetRow row{at[0], nest.rowStride(0), reinterpret_cast<int64_t *>(at[1]),
                          count, indexed.size,      indexed.stride};
            if (isFirst) {
              std::fill(row.offsets, row.offsets + count, 0);
            }
            visitIntegerDType(indexed.indices.dtype, [&](auto tag) {
              using T = typename decltype(tag)::Storage;
              if (isUnchecked) {
                addUnchecked<T>(row, isWrite);
              } else if (addChecked<T>(row)) {
                foundBad.store(true, std::memory_order_relaxed);
              }
            });
          });
  hasBad = hasBad || foundBad.load(std::memory_order_relaxed);
  return {};
}

Status IndexSelection::computeOffsets(bool isWrite) {
  if (positions == 0) {
    return context.indexMode == IndexMode::Checked ? findOutOfRangeOfEmpty() : Status();
  }
  offsetMemory = allocate(positions);
  if (!offsetMemory) {
    return outOfScratch(static_cast<size_t>(positions) * sizeof(int64_t));
  }
  bool hasBad = false;
  bool isFirst = true;
  for (const IndexAccess::IndexedAxis &indexed : found.axes) {
    TRACERT_TRY(addOffsets(indexed, isFirst, isWrite, hasBad));
    // What follows reads or writes where the offsets say.
    TRACERT_TRY(stoppedStatus());
    isFirst = false;
  }
  if (isFirst) {
    // Only bool scalars: every position is the base.
    std::fill(offsetMemory, offsetMemory + positions, 0);
  }
  return hasBad ? findOutOfRange() : Status();
}

Status IndexSelection::findOutOfRange() const {
  Dims shape(found.base.shape.begin() + found.advancedBegin,
             found.base.shape.begin() + found.advancedEnd);
  for (int64_t position = 0; position < positions; ++position) {
    if (position % kCheckedPositions == kCheckedPositions - 1 && shouldStop()) {
      return stoppedStatus();
    }
    for (const IndexAccess::IndexedAxis &indexed : found.axes) {
      Dims strides(indexed.indices.strides.begin() + found.advancedBegin,
                   indexed.indices.strides.begin() + found.advancedEnd);
      const char *at = bytesOf(indexed.indices) + offsetAt(position, shape, strides);
      int64_t index = integerAt(at, indexed.indices.dtype);
      int64_t resolvedIndex = index;
      if (!resolveIndex(resolvedIndex, indexed.size)) {
        return rules::outOfRange(index, indexed.axis, indexed.size);
      }
    }
  }
  return {};
}

/// The index arrays broadcast to nothing; each is checked on its own, in item order.
Status IndexSelection::findOutOfRangeOfEmpty() const {
  size_t next = 0; // a mask of rank 0 has no resolved operand
  for (const ItemPlace &place : IndexWalk(resolved)) {
    const IndexItem &item = place.item;
    if (item.kind != IndexItemKind::IntArray && item.kind != IndexItemKind::Int) {
      next += static_cast<size_t>(item.beginIsOperand + item.endIsOperand);
      continue;
    }
    TensorView indices{const_cast<int64_t *>(&item.begin), DType::Int64, {}, {}};
    if (operandsUsed(item) > 0) {
      indices = resolvedExtras[next++];
    }
    int64_t count = indices.elementCount();
    for (int64_t position = 0; position < count; ++position) {
      if (position % kCheckedPositions == kCheckedPositions - 1 && shouldStop()) {
        return stoppedStatus();
      }
      const char *at = bytesOf(indices) + offsetAt(position, indices.shape, indices.strides);
      int64_t index = integerAt(at, indices.dtype);
      int64_t resolvedIndex = index;
      if (!resolveIndex(resolvedIndex, merged.shape[place.axis])) {
        return rules::outOfRange(index, static_cast<int>(originalAxes[place.axis]),
                                 merged.shape[place.axis]);
      }
    }
  }
  return {};
}

} // namespace tracert::kernels
