#include "kernels/Gather.h"

#include "kernels/LoopNest.h"

#include <atomic>
#include <cstring>

namespace tracert::kernels {
namespace {

/// The indexed shape in its three parts, with the strides of the indexed memory.
struct Parts {
  Dims before, beforeStrides;
  Dims after, afterStrides;
  int64_t beforeCount = 1;
  int64_t afterCount = 1;

  explicit Parts(const IndexAccess &access) {
    const TensorView &base = access.base;
    for (size_t axis = 0; axis < base.rank(); ++axis) {
      if (axis < access.advancedBegin) {
        before.push_back(base.shape[axis]);
        beforeStrides.push_back(base.strides[axis]);
        beforeCount *= base.shape[axis];
      } else if (axis >= access.advancedEnd) {
        after.push_back(base.shape[axis]);
        afterStrides.push_back(base.strides[axis]);
        afterCount *= base.shape[axis];
      }
    }
  }
};

double itemCost(int64_t afterCount, int64_t elementSize) {
  return 1.0 + 0.1 * static_cast<double>(afterCount * elementSize);
}

} // namespace

void gatherSelected(const KernelContext &context, const IndexSelection &selection,
                    const TensorView &result) {
  const IndexAccess &access = selection.access();
  Parts parts(access);
  int64_t positions = selection.positionCount();
  if (positions == 0 || parts.beforeCount == 0 || parts.afterCount == 0) {
    return;
  }
  int64_t elementSize = itemBytes(result.dtype);
  int64_t blockBytes = parts.afterCount * elementSize;
  Dims denseStrides = contiguousStrides(parts.after, result.dtype);
  LoopNest block(parts.after, {&parts.afterStrides, &denseStrides});
  bool isDense = block.isOneRow() && block.rowStride(0) == elementSize;
  const int64_t *offsets = selection.offsets();
  // A run is a stretch of positions under one place of the axes before them.
  auto gatherRun = [&](const char *from, char *to, int64_t begin, int64_t end) {
    if (parts.afterCount == 1) {
      visitElementBits(result.dtype, [&](auto type) {
        using T = decltype(type);
        T *out = reinterpret_cast<T *>(to);
        for (int64_t j = begin; j < end; ++j) {
          *out++ = *reinterpret_cast<const T *>(from + offsets[j]);
        }
      });
      return;
    }
    for (int64_t j = begin; j < end; ++j, to += blockBytes) {
      if (isDense) {
        std::memcpy(to, from + offsets[j], static_cast<size_t>(blockBytes));
        continue;
      }
      char *const base[] = {const_cast<char *>(from) + offsets[j], to};
      block.forRows(base, 0, block.rowCount(), [&](char *const *at) {
        visitElementBits(result.dtype, [&](auto type) {
          using T = decltype(type);
          for (int64_t i = 0; i < block.rowLength(); ++i) {
            reinterpret_cast<T *>(at[1])[i] =
                *reinterpret_cast<const T *>(at[0] + i * block.rowStride(0));
          }
        });
      });
    }
  };
  runRanges(context, parts.beforeCount * positions, itemCost(parts.afterCount, elementSize),
            [&](int64_t begin, int64_t end) {
              while (begin < end) {
                int64_t before = begin / positions;
                int64_t first = begin % positions;
                int64_t last = std::min(positions, first + (end - begin));
                const char *from =
                    bytesOf(access.base) + offsetAt(before, parts.before, parts.beforeStrides);
                gatherRun(from, bytesOf(result) + begin * blockBytes, first, last);
                begin += last - first;
              }
            });
}

namespace {

/// What a scatter does with a value and the element that it meets.
class ScatterLoops {
public:
  /// `block` walks the axes after the index arrays: strides of the value, then of the target.
  ScatterLoops(const KernelContext &context, DType dtype, std::optional<OpKind> update,
               const LoopNest &block, bool isOneElement)
      : dtype(dtype), block(block), isOneElement(isOneElement) {
    if (update) {
      const KernelCores &cores = kernelCores(context.target);
      int16_t row = opInfo(*update).elementwiseIndex;
      elementLoop = cores.update[row][dtypeNumber(dtype)];
      rowLoop = cores.elementwise[row][dtypeNumber(dtype)];
    }
  }

  /// Of an update whether there are kernels for the dtype.
  bool has(std::optional<OpKind> update) const { return !update || (elementLoop && rowLoop); }

  void run(const char *from, int64_t valueStride, char *to, const int64_t *offsets,
           int64_t count) const {
    if (isOneElement && elementLoop) {
      elementLoop(from, valueStride, to, offsets, count);
      return;
    }
    visitElementBits(dtype, [&](auto type) {
      using T = decltype(type);
      for (int64_t j = 0; j < count; ++j, from += valueStride) {
        if (offsets[j] == IndexSelection::kDropped) {
          continue;
        }
        if (isOneElement) {
          *reinterpret_cast<T *>(to + offsets[j]) = *reinterpret_cast<const T *>(from);
          continue;
        }
        char *const base[] = {const_cast<char *>(from), to + offsets[j]};
        block.forRows(base, 0, block.rowCount(), [&](char *const *at) { runRow<T>(at); });
      }
    });
  }

private:
  template <class T> void runRow(char *const *at) const {
    if (rowLoop) {
      const void *inputs[] = {at[1], at[0]};
      int64_t strides[] = {block.rowStride(1), block.rowStride(0)};
      rowLoop(inputs, strides, at[1], block.rowStride(1), block.rowLength());
      return;
    }
    for (int64_t i = 0; i < block.rowLength(); ++i) {
      *reinterpret_cast<T *>(at[1] + i * block.rowStride(1)) =
          *reinterpret_cast<const T *>(at[0] + i * block.rowStride(0));
    }
  }

  DType dtype;
  const LoopNest &block;
  bool isOneElement;
  UpdateLoop elementLoop = nullptr;
  ElementwiseLoop rowLoop = nullptr;
};

} // namespace

Status scatterSelected(const KernelContext &context, const IndexSelection &selection,
                       TensorView value, std::optional<OpKind> update) {
  const IndexAccess &access = selection.access();
  Parts parts(access);
  int64_t positions = selection.positionCount();
  if (positions == 0 || parts.beforeCount == 0 || parts.afterCount == 0) {
    return {};
  }
  auto part = [&](const Dims &dims, size_t begin, size_t end) {
    return Dims(dims.begin() + begin, dims.begin() + end);
  };
  Dims spanned = part(value.shape, access.advancedBegin, access.advancedEnd);
  Dims valueSpanned = part(value.strides, access.advancedBegin, access.advancedEnd);
  LoopNest values(spanned, {&valueSpanned});
  std::unique_ptr<Scratch> dense;
  if (!values.isOneRow()) {
    // One stride over all positions, so that they can be walked in C order without a second index.
    size_t bytes = static_cast<size_t>(value.type().byteCount());
    dense = std::make_unique<Scratch>(context, bytes);
    if (!dense->data()) {
      return outOfScratch(bytes);
    }
    TensorView copy = TensorView::contiguous(dense->data(), value.type());
    copyView(context, value, copy);
    value = copy;
  }
  int64_t elementSize = itemBytes(value.dtype);
  int64_t valueStride = dense ? parts.afterCount * elementSize : values.rowStride(0);
  Dims valueBefore = part(value.strides, 0, access.advancedBegin);
  Dims valueAfter = part(value.strides, access.advancedEnd, value.rank());
  LoopNest block(parts.after, {&valueAfter, &parts.afterStrides});
  const int64_t *offsets = selection.offsets();
  ScatterLoops loops(context, value.dtype, update, block, parts.afterCount == 1);
  if (!loops.has(update)) {
    return Status::internal("a set has no kernel for " + std::string(dtypeName(value.dtype)));
  }
  // Many positions may name the same few elements, so their number says nothing about memory.
  auto scatterRun = [&](const char *from, char *to) {
    runChecked(
        0, positions, itemCost(parts.afterCount, elementSize), [&](int64_t first, int64_t last) {
          loops.run(from + first * valueStride, valueStride, to, offsets + first, last - first);
        });
  };
  // Threads never share the positions of one place before them: their order decides who wins.
  double cost = static_cast<double>(positions) * itemCost(parts.afterCount, elementSize);
  runRanges(context, parts.beforeCount, cost, [&](int64_t begin, int64_t end) {
    for (int64_t before = begin; before < end; ++before) {
      scatterRun(bytesOf(value) + offsetAt(before, parts.before, valueBefore),
                 bytesOf(access.base) + offsetAt(before, parts.before, parts.beforeStrides));
    }
  });
  return {};
}

bool isElementGather(const IndexAccess &access) {
  if (access.axes.size() != 1 || access.axes[0].size == 0) {
    return false;
  }
  for (size_t axis = 0; axis < access.base.rank(); ++axis) {
    bool isSpanned = axis >= access.advancedBegin && axis < access.advancedEnd;
    if (!isSpanned && access.base.shape[axis] != 1) {
      return false;
    }
  }
  return true;
}

namespace {

template <class Index, class T>
bool gatherRow(const char *indices, int64_t indexStride, const char *from, int64_t size,
               int64_t stride, T *to, int64_t count) {
  bool hasBad = false;
  for (int64_t i = 0; i < count; ++i) {
    int64_t index = toIndex(*reinterpret_cast<const Index *>(indices + i * indexStride));
    index += index < 0 ? size : 0;
    bool isBad = static_cast<uint64_t>(index) >= static_cast<uint64_t>(size);
    hasBad |= isBad;
    to[i] = *reinterpret_cast<const T *>(from + (isBad ? 0 : index) * stride);
  }
  return hasBad;
}

} // namespace

bool gatherElements(const KernelContext &context, const IndexAccess &access,
                    const TensorView &result) {
  const IndexAccess::IndexedAxis &indexed = access.axes[0];
  LoopNest nest(result.shape, {&indexed.indices.strides, &result.strides});
  std::atomic<bool> foundBad{false};
  const char *from = bytesOf(access.base);
  runNest(context, nest, {indexed.indices.data, result.data}, 1.0,
          [&](char *const *at, int64_t count) {
            visitElementBits(result.dtype, [&](auto type) {
              using T = decltype(type);
              T *to = reinterpret_cast<T *>(at[1]);
              bool hasBad = visitIntegerDType(indexed.indices.dtype, [&](auto tag) {
                using Index = typename decltype(tag)::Storage;
                return gatherRow<Index, T>(at[0], nest.rowStride(0), from, indexed.size,
                                           indexed.stride, to, count);
              });
              if (hasBad) {
                foundBad.store(true, std::memory_order_relaxed);
              }
            });
          });
  return !foundBad.load(std::memory_order_relaxed);
}

} // namespace tracert::kernels
