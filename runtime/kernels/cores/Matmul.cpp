#include "CoreTables.h"
#include "DtypeTags.h"
#include "MatmulRow.h"
#include "MatmulTile.h"

#include <cstring>

// C = A x B by panels: A in rows of a tile, B in panels of a tile's columns, C a register tile over
// a block of the depth, its partial sums kept in C between such blocks. Operands that lie well in
// memory are read where they are; packing absorbs all other strides and the edges.

namespace tracert::TRACERT_ISA {
namespace {

TRACERT_INLINE int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }
TRACERT_INLINE int64_t roundUp(int64_t value, int64_t step) {
  return (value + step - 1) / step * step;
}

template <class T> struct Matmul {
  using Stored = typename T::Stored;
  using Acc = typename T::Acc;
  using Panels = typename T::Panels;
  static constexpr int64_t accSize = sizeof(Acc);
  static constexpr int64_t depthBlock = 384;
  /// A panel of A of this many rows takes a quarter of a megabyte or less.
  static constexpr int64_t rowBlock = (accSize == 8 ? 96 : 180) / T::rows * T::rows;
  static constexpr int64_t columnBlock = 1536 / T::columns * T::columns;

  /// Sizes of the pieces of the scratch memory, in elements.
  struct Layout {
    int64_t rows, columns, depth;
    Layout(int64_t rowCount, int64_t columnCount, int64_t depthCount)
        : rows(roundUp(smaller(rowCount, rowBlock), T::rows)),
          columns(roundUp(smaller(columnCount, columnBlock), T::columns)),
          depth(smaller(depthCount, depthBlock)) {}
    int64_t aSize() const { return roundUp(rows * depth, 64); }
    int64_t bSize() const { return roundUp(columns * depth, 64); }
    /// Sums of a type that is not C's, kept between depth blocks.
    int64_t sumSize() const { return T::inPlace ? 0 : roundUp(rows * columns, 64); }
  };

  static int64_t scratchBytes(int64_t rows, int64_t columns, int64_t depth) {
    Layout layout(rows, columns, depth);
    return (layout.aSize() + layout.bSize() + layout.sumSize()) * accSize;
  }

  /// Panels of `panelLanes` lanes (rows of A or columns of B) by `depth`, lane-minor, the last one
  /// padded with zeros.
  template <int panelLanes>
  [[gnu::noinline]] static void pack(const char *source, int64_t laneStride, int64_t depthStride,
                                     int64_t lanes, int64_t depth, Acc *target) {
    for (int64_t first = 0; first < lanes; first += panelLanes, target += panelLanes * depth) {
      int64_t used = smaller(panelLanes, lanes - first);
      const char *panel = source + first * laneStride;
      if (laneStride != int64_t(sizeof(Stored))) {
        packStrided<panelLanes>(panel, laneStride, depthStride, used, depth, target);
        continue;
      }
      for (int64_t k = 0; k < depth; ++k) {
        Stored values[panelLanes] = {};
        if (used == panelLanes) {
          std::memcpy(values, panel + k * depthStride, sizeof(values));
        } else {
          std::memcpy(values, panel + k * depthStride, size_t(used) * sizeof(Stored));
        }
        for (int lane = 0; lane < panelLanes; ++lane) {
          target[k * panelLanes + lane] = T::widen(values[lane]);
        }
      }
    }
  }

  template <int panelLanes>
  static void packStrided(const char *source, int64_t laneStride, int64_t depthStride,
                          int64_t lanes, int64_t depth, Acc *target) {
    for (int64_t lane = 0; lane < panelLanes; ++lane) {
      for (int64_t k = 0; k < depth; ++k) {
        Stored stored = 0;
        if (lane < lanes) {
          std::memcpy(&stored, source + lane * laneStride + k * depthStride, sizeof(stored));
        }
        target[k * panelLanes + lane] = T::widen(stored);
      }
    }
  }

  /// Operands are read where they are if their elements are Acc and lie next to one another along
  /// depth (A) or columns (B).
  static bool canReadA(const MatmulArgs &args) {
    return T::canReadOperands && args.aDepthStride == accSize && args.aRowStride % accSize == 0;
  }
  /// Packing B pays only if several tiles of rows use it.
  static bool canReadB(const MatmulArgs &args, int64_t rows) {
    return T::canReadOperands && rows <= 8 * T::rows && args.bColumnStride == accSize &&
           args.bDepthStride % accSize == 0;
  }

  /// One block of C: its origin, its size, and its operands, packed or (null) where they are.
  struct Block {
    char *c;
    Acc *sums;
    const char *a;
    const char *b;
    const Acc *packedA;
    const Acc *packedB;
    int64_t rows, columns, depth;
    bool isFirst;
  };

  static void setRows(Panels &panels, const Block &block, const MatmulArgs &args, int64_t row,
                      int64_t height) {
    panels.aDepthStride = block.packedA ? T::rows : 1;
    for (int64_t i = 0; i < T::rows; ++i) {
      const char *inPlace = block.a + (row + smaller(i, height - 1)) * args.aRowStride;
      panels.aRows[i] = block.packedA ? block.packedA + row * block.depth + i
                                      : reinterpret_cast<const Acc *>(inPlace);
    }
  }

  /// A short panel at the right edge is packed in any case.
  static void setColumns(Panels &panels, const Block &block, const MatmulArgs &args, int64_t column,
                         Acc *edgePanel) {
    panels.depth = block.depth;
    panels.bDepthStride = T::columns;
    if (block.packedB) {
      panels.b = block.packedB + column * block.depth;
      return;
    }
    const char *source = block.b + column * args.bColumnStride;
    int64_t width = block.columns - column;
    if (width >= T::columns) {
      panels.b = reinterpret_cast<const Acc *>(source);
      panels.bDepthStride = args.bDepthStride / accSize;
      return;
    }
    pack<T::columns>(source, args.bColumnStride, args.bDepthStride, width, block.depth, edgePanel);
    panels.b = edgePanel;
  }

  /// A tile at the edge, or one whose columns are not contiguous in C.
  [[gnu::noinline]] static void edgeTile(const Panels &panels, char *c, const MatmulArgs &args,
                                         int64_t rows, int64_t columns, bool isFirst) {
    Acc tile[T::rows * T::columns];
    if (!isFirst) {
      std::memset(tile, 0, sizeof(tile));
      for (int64_t row = 0; row < rows; ++row) {
        for (int64_t column = 0; column < columns; ++column) {
          std::memcpy(&tile[row * T::columns + column],
                      c + row * args.cRowStride + column * args.cColumnStride, sizeof(Acc));
        }
      }
    }
    T::run(panels, columns, tile, T::columns, isFirst);
    for (int64_t row = 0; row < rows; ++row) {
      char *target = c + row * args.cRowStride;
      if (args.cColumnStride == accSize) {
        std::memcpy(target, &tile[row * T::columns], size_t(columns * accSize));
        continue;
      }
      for (int64_t column = 0; column < columns; ++column) {
        std::memcpy(target + column * args.cColumnStride, &tile[row * T::columns + column],
                    sizeof(Acc));
      }
    }
  }

  static void multiplyBlock(const Block &block, const MatmulArgs &args, Acc *edgePanel) {
    int64_t sumStride = roundUp(block.columns, T::columns);
    bool direct = args.cColumnStride == accSize && args.cRowStride % accSize == 0;
    Panels panels;
    for (int64_t column = 0; column < block.columns; column += T::columns) {
      if (args.control && args.control->shouldStop()) {
        return;
      }
      int64_t width = smaller(T::columns, block.columns - column);
      setColumns(panels, block, args, column, edgePanel);
      for (int64_t row = 0; row < block.rows; row += T::rows) {
        int64_t height = smaller(T::rows, block.rows - row);
        setRows(panels, block, args, row, height);
        if constexpr (!T::inPlace) {
          T::run(panels, T::columns, block.sums + row * sumStride + column, sumStride,
                 block.isFirst);
        } else {
          char *target = block.c + row * args.cRowStride + column * args.cColumnStride;
          if (direct && width == T::columns && height == T::rows) {
            T::run(panels, width, reinterpret_cast<Acc *>(target), args.cRowStride / accSize,
                   block.isFirst);
          } else {
            edgeTile(panels, target, args, height, width, block.isFirst);
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
    if constexpr (T::canReadOperands && std::is_floating_point_v<Acc>) {
      // One that is long and may have to end early takes the panels, which look at the control.
      bool isLong = args.control && double(args.depth) * double(columnEnd - columnBegin) > 1e8;
      if (rowEnd - rowBegin == 1 && args.bColumnStride == accSize &&
          args.cColumnStride == accSize && !isLong) {
        multiplyRow(a + rowBegin * args.aRowStride, args.aDepthStride, b + columnBegin * accSize,
                    args.bDepthStride, args.depth, columnEnd - columnBegin,
                    reinterpret_cast<Acc *>(c + rowBegin * args.cRowStride) + columnBegin);
        return;
      }
    }
    Layout layout(rowEnd - rowBegin, columnEnd - columnBegin, args.depth);
    Acc *packedA = static_cast<Acc *>(scratch);
    Acc *packedB = packedA + layout.aSize();
    bool readA = canReadA(args);
    bool readB = canReadB(args, rowEnd - rowBegin);
    Block block = {};
    block.sums = packedB + layout.bSize();
    block.packedA = readA ? nullptr : packedA;
    block.packedB = readB ? nullptr : packedB;
    // With sums of their own all depth blocks of a row block follow one another, and B is packed
    // again for each; else B is packed once per depth block.
    int64_t rowStep = T::inPlace ? rowEnd - rowBegin : rowBlock;
    for (int64_t column = columnBegin; column < columnEnd; column += columnBlock) {
      block.columns = smaller(columnBlock, columnEnd - column);
      for (int64_t outer = rowBegin; outer < rowEnd; outer += rowStep) {
        int64_t outerEnd = smaller(outer + rowStep, rowEnd);
        for (int64_t k = 0; k < args.depth; k += depthBlock) {
          block.depth = smaller(depthBlock, args.depth - k);
          block.isFirst = k == 0;
          block.b = b + k * args.bDepthStride + column * args.bColumnStride;
          if (!readB) {
            pack<T::columns>(block.b, args.bColumnStride, args.bDepthStride, block.columns,
                             block.depth, packedB);
          }
          for (int64_t row = outer; row < outerEnd; row += rowBlock) {
            block.rows = smaller(rowBlock, outerEnd - row);
            block.a = a + row * args.aRowStride + k * args.aDepthStride;
            block.c = c + row * args.cRowStride + column * args.cColumnStride;
            if (!readA) {
              pack<T::rows>(block.a, args.aRowStride, args.aDepthStride, block.rows, block.depth,
                            packedA);
            }
            multiplyBlock(block, args, packedB);
            if (args.control && args.control->isStopped()) {
              return;
            }
          }
        }
        if constexpr (!T::inPlace) {
          storeSums(block.sums, args, c + outer * args.cRowStride + column * args.cColumnStride,
                    outerEnd - outer, block.columns);
        }
      }
    }
  }

  static MatmulCores cores() { return {tile, scratchBytes, T::rows, T::columns}; }
};

} // namespace

void fillMatmulCores(KernelCores &cores) {
#define TRACERT_FILL_MATMUL(d, ...)                                                                \
  cores.matmul[dtypeIndex<scalar::dtype::d>] = Matmul<TileOf<scalar::dtype::d>>::cores();
  TRACERT_FOR_AllDTypes(TRACERT_FILL_MATMUL, )
}

} // namespace tracert::TRACERT_ISA
