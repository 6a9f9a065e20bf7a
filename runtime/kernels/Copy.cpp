#include "kernels/Families.h"
#include "kernels/LoopNest.h"

#include <cstring>

namespace tracert {
namespace kernels {
namespace {

constexpr double kNanosecondsPerByte = 0.08;
constexpr int64_t kTile = 16;

template <class T>
void copyRow(const char *from, int64_t fromStride, char *to, int64_t toStride, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    *reinterpret_cast<T *>(to + i * toStride) = *reinterpret_cast<const T *>(from + i * fromStride);
  }
}

/// rows x columns elements; reads go along rows, writes along columns, a tile at a time.
template <class T>
void copyTransposed(const char *from, int64_t fromColumnStride, char *to, int64_t toRowStride,
                    int64_t rows, int64_t columns) {
  for (int64_t rowBegin = 0; rowBegin < rows; rowBegin += kTile) {
    int64_t rowEnd = std::min(rows, rowBegin + kTile);
    for (int64_t columnBegin = 0; columnBegin < columns; columnBegin += kTile) {
      int64_t columnEnd = std::min(columns, columnBegin + kTile);
      for (int64_t row = rowBegin; row < rowEnd; ++row) {
        T *target = reinterpret_cast<T *>(to + row * toRowStride);
        const char *source = from + row * static_cast<int64_t>(sizeof(T));
        for (int64_t column = columnBegin; column < columnEnd; ++column) {
          target[column] = *reinterpret_cast<const T *>(source + column * fromColumnStride);
        }
      }
    }
  }
}

/// The axis along which `from` is contiguous while the rows of `to` are: a transposition.
std::optional<size_t> transposedAxis(const LoopNest &nest, int64_t size) {
  size_t last = nest.rank() - 1;
  if (nest.rowStride(0) == size || nest.rowStride(1) != size) {
    return std::nullopt;
  }
  for (size_t axis = 0; axis < last; ++axis) {
    if (nest.strides(0)[axis] == size && nest.sizes()[axis] >= 4 && nest.rowLength() >= 4) {
      return axis;
    }
  }
  return std::nullopt;
}

template <class T>
void copyElements(const KernelContext &context, LoopNest nest, void *from, void *to) {
  constexpr int64_t size = sizeof(T);
  constexpr double cost = 2 * size * kNanosecondsPerByte;
  if (std::optional<size_t> axis = transposedAxis(nest, size)) {
    int64_t rows = nest.sizes()[*axis];
    int64_t toRowStride = nest.strides(1)[*axis];
    nest.dropAxis(*axis);
    // Tiles of the taken axis are the unit of work.
    int64_t tiles = (rows + kTile - 1) / kTile;
    int64_t length = nest.rowLength();
    int64_t column = nest.rowStride(0);
    char *const base[] = {static_cast<char *>(from), static_cast<char *>(to)};
    runRanges(context, nest.rowCount() * tiles, static_cast<double>(kTile * length) * 2 * cost,
              [&](int64_t begin, int64_t end) {
                for (int64_t item = begin; item < end; ++item) {
                  int64_t first = item % tiles * kTile;
                  int64_t count = std::min(kTile, rows - first);
                  nest.forRows(base, item / tiles, item / tiles + 1, [&](char *const *at) {
                    for (int64_t begin = 0; begin < length && !shouldStop(); begin += kRowPiece) {
                      copyTransposed<T>(at[0] + first * size + begin * column, column,
                                        at[1] + first * toRowStride + begin * size, toRowStride,
                                        count, std::min(kRowPiece, length - begin));
                    }
                  });
                }
              });
    return;
  }
  int64_t fromStride = nest.rowStride(0);
  int64_t toStride = nest.rowStride(1);
  runNest(context, nest, {from, to}, cost, [&](char *const *rows, int64_t count) {
    if (fromStride == size && toStride == size) {
      std::memcpy(rows[1], rows[0], static_cast<size_t>(count * size));
    } else if (toStride == size) {
      copyRow<T>(rows[0], fromStride, rows[1], size, count);
    } else {
      copyRow<T>(rows[0], fromStride, rows[1], toStride, count);
    }
  });
}

} // namespace
} // namespace kernels

void copyView(const KernelContext &context, const TensorView &from, const TensorView &to) {
  using namespace kernels;
  for (int64_t size : to.shape) {
    if (size == 0) {
      return;
    }
  }
  LoopNest nest(to.shape, {&from.strides, &to.strides});
  nest.preferLongRows();
  visitElementBits(to.dtype, [&](auto bits) {
    copyElements<decltype(bits)>(context, std::move(nest), from.data, to.data);
  });
}

} // namespace tracert
