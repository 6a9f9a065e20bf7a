#include "BlockSum.h"
#include "CoreTables.h"
#include "DtypeTags.h"

#include "tracert/scalar/Arithmetic.h"

#include <cstring>

// C = A x B by packed panels: A in panels of tileRows x depth, B in panels of depth x tileColumns,
// a register tile of C over a block of the depth, its partial sums kept in C between such blocks.
// Each output is one chain of fma over ascending depth, so no split changes a bit.

namespace tracert::TRACERT_ISA {
namespace {

TRACERT_INLINE int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }
TRACERT_INLINE int64_t roundUp(int64_t value, int64_t step) {
  return (value + step - 1) / step * step;
}

/// What the tile kernel needs of an element type: Acc is what is packed and accumulated.
template <class D> struct FloatTile {
  using Stored = typename D::Storage;
  using Acc = typename D::Compute;
  using S = Simd<Acc>;
  static constexpr bool inPlace = std::is_same_v<Stored, Acc>;
#if defined(__AVX512F__)
  static constexpr int rows = 9, registers = 3;
#elif defined(__AVX2__)
  static constexpr int rows = 6, registers = 2;
#else
  static constexpr int rows = 4, registers = 2;
#endif
  static constexpr int columns = registers * S::width;

  TRACERT_INLINE static Acc widen(Stored stored) { return toAccumulator(stored); }
  TRACERT_INLINE static Stored narrow(Acc value) {
    if constexpr (inPlace) {
      return value;
    } else {
      return scalar::floatToHalfBits(value);
    }
  }

  [[gnu::noinline]] static void kernel(const Acc *a, const Acc *b, int64_t depth, Acc *c,
                                       int64_t cStride, bool isFirst) {
    typename S::Register sums[rows][registers];
#pragma GCC unroll 16
    for (int row = 0; row < rows; ++row) {
#pragma GCC unroll 4
      for (int i = 0; i < registers; ++i) {
        sums[row][i] = isFirst ? S::splat(Acc(0)) : S::load(c + row * cStride + i * S::width);
      }
    }
    for (int64_t k = 0; k < depth; ++k, a += rows, b += columns) {
      typename S::Register right[registers];
#pragma GCC unroll 4
      for (int i = 0; i < registers; ++i) {
        right[i] = S::load(b + i * S::width);
      }
#pragma GCC unroll 16
      for (int row = 0; row < rows; ++row) {
        typename S::Register left = S::splat(a[row]);
#pragma GCC unroll 4
        for (int i = 0; i < registers; ++i) {
          sums[row][i] = S::fma(left, right[i], sums[row][i]);
        }
      }
    }
#pragma GCC unroll 16
    for (int row = 0; row < rows; ++row) {
#pragma GCC unroll 4
      for (int i = 0; i < registers; ++i) {
        S::store(c + row * cStride + i * S::width, sums[row][i]);
      }
    }
  }
};

/// Integers wrap; bool is or of ands. The compiler vectorises over columns.
template <class D> struct IntegerTile {
  using Stored = typename D::Storage;
  using Acc = typename D::Storage;
  static constexpr bool inPlace = true;
  static constexpr int rows = 4, columns = 16;
  TRACERT_INLINE static Acc widen(Stored stored) {
    return std::is_same_v<D, scalar::dtype::b1> ? Acc(stored != 0) : stored;
  }
  TRACERT_INLINE static Stored narrow(Acc value) { return value; }

  [[gnu::noinline]] static void kernel(const Acc *a, const Acc *b, int64_t depth, Acc *c,
                                       int64_t cStride, bool isFirst) {
    Acc sums[rows][columns];
    for (int row = 0; row < rows; ++row) {
      for (int column = 0; column < columns; ++column) {
        sums[row][column] = isFirst ? Acc(0) : c[row * cStride + column];
      }
    }
    for (int64_t k = 0; k < depth; ++k, a += rows, b += columns) {
      for (int row = 0; row < rows; ++row) {
        for (int column = 0; column < columns; ++column) {
          if constexpr (std::is_same_v<D, scalar::dtype::b1>) {
            sums[row][column] |= a[row] & b[column];
          } else {
            sums[row][column] = scalar::add(sums[row][column], scalar::mul(a[row], b[column]));
          }
        }
      }
    }
    for (int row = 0; row < rows; ++row) {
      for (int column = 0; column < columns; ++column) {
        c[row * cStride + column] = sums[row][column];
      }
    }
  }
};

template <class T> struct Matmul {
  using Stored = typename T::Stored;
  using Acc = typename T::Acc;
  static constexpr int64_t depthBlock = 384;
  /// A panel of A of this many rows takes a quarter of a megabyte or less.
  static constexpr int64_t rowBlock = (sizeof(Acc) == 8 ? 96 : 180) / T::rows * T::rows;
  static constexpr int64_t columnBlock = 1536 / T::columns * T::columns;

  /// Where the pieces of the scratch memory lie, in elements.
  struct Layout {
    int64_t rows, columns, depth;
    Layout(int64_t rowCount, int64_t columnCount, int64_t depthCount)
        : rows(roundUp(smaller(rowCount, rowBlock), T::rows)),
          columns(roundUp(smaller(columnCount, columnBlock), T::columns)),
          depth(smaller(depthCount, depthBlock)) {}
    int64_t aSize() const { return roundUp(rows * depth, 64); }
    int64_t bSize() const { return roundUp(columns * depth, 64); }
    /// Sums of a type that is not C's, kept between depth blocks.
    int64_t cSize() const { return T::inPlace ? 0 : roundUp(rows * columns, 64); }
  };

  static int64_t scratchBytes(int64_t rows, int64_t columns, int64_t depth) {
    Layout layout(rows, columns, depth);
    return (layout.aSize() + layout.bSize() + layout.cSize()) * int64_t(sizeof(Acc));
  }

  /// One panel: `width` lanes (rows of A or columns of B) by `depth`, lane-minor, short ones padded
  /// with zeros.
  template <int panelLanes>
  static void packPanel(const char *source, int64_t laneStride, int64_t depthStride, int64_t lanes,
                        int64_t depth, Acc *target) {
    if (lanes == panelLanes && laneStride == int64_t(sizeof(Stored))) {
      for (int64_t k = 0; k < depth; ++k, source += depthStride, target += panelLanes) {
        Stored values[panelLanes];
        std::memcpy(values, source, sizeof(values));
        for (int lane = 0; lane < panelLanes; ++lane) {
          target[lane] = T::widen(values[lane]);
        }
      }
      return;
    }
    for (int64_t lane = 0; lane < panelLanes; ++lane) {
      const char *at = source + lane * laneStride;
      Acc *out = target + lane;
      if (lane >= lanes) {
        for (int64_t k = 0; k < depth; ++k) {
          out[k * panelLanes] = Acc(0);
        }
        continue;
      }
      for (int64_t k = 0; k < depth; ++k) {
        Stored stored;
        std::memcpy(&stored, at + k * depthStride, sizeof(stored));
        out[k * panelLanes] = T::widen(stored);
      }
    }
  }

  template <int panelLanes>
  [[gnu::noinline]] static void pack(const char *source, int64_t laneStride, int64_t depthStride,
                                     int64_t lanes, int64_t depth, Acc *target) {
    for (int64_t lane = 0; lane < lanes; lane += panelLanes) {
      packPanel<panelLanes>(source + lane * laneStride, laneStride, depthStride,
                            smaller(panelLanes, lanes - lane), depth, target);
      target += panelLanes * depth;
    }
  }

  /// A tile at the edge, or one whose columns are not contiguous in C.
  [[gnu::noinline]] static void edgeTile(const Acc *a, const Acc *b, int64_t depth, char *c,
                                         const MatmulArgs &args, int64_t rows, int64_t columns,
                                         bool isFirst) {
    Acc tile[T::rows * T::columns] = {};
    if (!isFirst) {
      for (int64_t row = 0; row < rows; ++row) {
        for (int64_t column = 0; column < columns; ++column) {
          std::memcpy(&tile[row * T::columns + column],
                      c + row * args.cRowStride + column * args.cColumnStride, sizeof(Acc));
        }
      }
    }
    T::kernel(a, b, depth, tile, T::columns, isFirst);
    for (int64_t row = 0; row < rows; ++row) {
      for (int64_t column = 0; column < columns; ++column) {
        std::memcpy(c + row * args.cRowStride + column * args.cColumnStride,
                    &tile[row * T::columns + column], sizeof(Acc));
      }
    }
  }

  /// One block of C from packed A and B. `sums`, if T is not in place, is a padded block of Acc.
  static void multiplyBlock(const Acc *a, const Acc *b, const MatmulArgs &args, char *c, Acc *sums,
                            int64_t rows, int64_t columns, int64_t depth, bool isFirst) {
    int64_t sumStride = roundUp(columns, T::columns);
    bool direct =
        args.cColumnStride == int64_t(sizeof(Acc)) && args.cRowStride % int64_t(sizeof(Acc)) == 0;
    for (int64_t column = 0; column < columns; column += T::columns) {
      int64_t width = smaller(T::columns, columns - column);
      for (int64_t row = 0; row < rows; row += T::rows) {
        int64_t height = smaller(T::rows, rows - row);
        const Acc *left = a + row * depth;
        const Acc *right = b + column * depth;
        if constexpr (!T::inPlace) {
          T::kernel(left, right, depth, sums + row * sumStride + column, sumStride, isFirst);
        } else {
          char *target = c + row * args.cRowStride + column * args.cColumnStride;
          if (direct && width == T::columns && height == T::rows) {
            T::kernel(left, right, depth, reinterpret_cast<Acc *>(target),
                      args.cRowStride / int64_t(sizeof(Acc)), isFirst);
          } else {
            edgeTile(left, right, depth, target, args, height, width, isFirst);
          }
        }
      }
    }
  }

  [[gnu::noinline]] static void storeSums(const Acc *sums, const MatmulArgs &args, char *c,
                                          int64_t rows, int64_t columns) {
    int64_t sumStride = roundUp(columns, T::columns);
    for (int64_t row = 0; row < rows; ++row) {
      for (int64_t column = 0; column < columns; ++column) {
        Stored value = T::narrow(sums[row * sumStride + column]);
        std::memcpy(c + row * args.cRowStride + column * args.cColumnStride, &value, sizeof(value));
      }
    }
  }

  [[gnu::noinline]] static void fillZero(const MatmulArgs &args, char *c, int64_t rows,
                                         int64_t columns) {
    for (int64_t row = 0; row < rows; ++row) {
      for (int64_t column = 0; column < columns; ++column) {
        Stored zero = 0;
        std::memcpy(c + row * args.cRowStride + column * args.cColumnStride, &zero, sizeof(zero));
      }
    }
  }

  static void tile(const MatmulArgs &args, int64_t rowBegin, int64_t rowEnd, int64_t columnBegin,
                   int64_t columnEnd, void *scratch) {
    auto *c = static_cast<char *>(args.c);
    auto *a = static_cast<const char *>(args.a);
    auto *b = static_cast<const char *>(args.b);
    if (args.depth == 0) {
      fillZero(args, c + rowBegin * args.cRowStride + columnBegin * args.cColumnStride,
               rowEnd - rowBegin, columnEnd - columnBegin);
      return;
    }
    Layout layout(rowEnd - rowBegin, columnEnd - columnBegin, args.depth);
    Acc *packedA = static_cast<Acc *>(scratch);
    Acc *packedB = packedA + layout.aSize();
    Acc *sums = packedB + layout.bSize();
    for (int64_t column = columnBegin; column < columnEnd; column += columnBlock) {
      int64_t columns = smaller(columnBlock, columnEnd - column);
      // With sums of their own all depth blocks of a row block follow one another, and B is packed
      // again for each; else B is packed once per depth block.
      int64_t rowStep = T::inPlace ? rowEnd - rowBegin : rowBlock;
      for (int64_t outer = rowBegin; outer < rowEnd; outer += rowStep) {
        int64_t outerEnd = smaller(outer + rowStep, rowEnd);
        for (int64_t k = 0; k < args.depth; k += depthBlock) {
          int64_t depth = smaller(depthBlock, args.depth - k);
          pack<T::columns>(b + k * args.bDepthStride + column * args.bColumnStride,
                           args.bColumnStride, args.bDepthStride, columns, depth, packedB);
          for (int64_t row = outer; row < outerEnd; row += rowBlock) {
            int64_t rows = smaller(rowBlock, outerEnd - row);
            pack<T::rows>(a + row * args.aRowStride + k * args.aDepthStride, args.aRowStride,
                          args.aDepthStride, rows, depth, packedA);
            multiplyBlock(packedA, packedB, args,
                          c + row * args.cRowStride + column * args.cColumnStride, sums, rows,
                          columns, depth, k == 0);
          }
        }
        if constexpr (!T::inPlace) {
          storeSums(sums, args, c + outer * args.cRowStride + column * args.cColumnStride,
                    outerEnd - outer, columns);
        }
      }
    }
  }

  static MatmulCores cores() { return {tile, scratchBytes, T::rows, T::columns}; }
};

} // namespace

void fillMatmulCores(KernelCores &cores) {
  using namespace scalar;
  cores.matmul[dtypeIndex<dtype::b1>] = Matmul<IntegerTile<dtype::b1>>::cores();
  cores.matmul[dtypeIndex<dtype::u8>] = Matmul<IntegerTile<dtype::u8>>::cores();
  cores.matmul[dtypeIndex<dtype::i32>] = Matmul<IntegerTile<dtype::i32>>::cores();
  cores.matmul[dtypeIndex<dtype::i64>] = Matmul<IntegerTile<dtype::i64>>::cores();
  cores.matmul[dtypeIndex<dtype::f16>] = Matmul<FloatTile<dtype::f16>>::cores();
  cores.matmul[dtypeIndex<dtype::f32>] = Matmul<FloatTile<dtype::f32>>::cores();
  cores.matmul[dtypeIndex<dtype::f64>] = Matmul<FloatTile<dtype::f64>>::cores();
}

} // namespace tracert::TRACERT_ISA
