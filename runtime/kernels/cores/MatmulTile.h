/// MatmulTile.h: the register tile of matmul: rows x columns of C over one block of the depth.
///
///   using T = FloatTile<scalar::dtype::f32>;
///   T::run(panels, width, c, cStride, /*isFirst=*/true);
///
/// `Acc` is what is accumulated; its sums come from C unless isFirst and go back to C, `columns`
/// wide whatever `width` is asked for. One chain of fma per output over ascending depth. Sizes and
/// strides in elements.
#pragma once

#include "Reductions.h"

#include "tracert/scalar/Arithmetic.h"

namespace tracert::TRACERT_ISA {

/// The operands of one tile. A row of A may be any row in memory: the tiles at the edge repeat one.
template <class Acc, int rows> struct TilePanels {
  const Acc *aRows[rows];
  int64_t aDepthStride;
  const Acc *b;
  int64_t bDepthStride;
  int64_t depth;
};

template <class D> struct FloatTile {
  using Stored = typename D::Storage;
  using Acc = typename D::Compute;
  using S = Simd<Acc>;
  static constexpr bool inPlace = std::is_same_v<Stored, Acc>;
  static constexpr bool canReadOperands = inPlace;
#if defined(__AVX512F__)
  static constexpr int rows = 9, registers = 3;
#elif defined(__AVX2__)
  static constexpr int rows = 6, registers = 2;
#else
  static constexpr int rows = 4, registers = 2;
#endif
  static constexpr int columns = registers * S::width;
  using Panels = TilePanels<Acc, rows>;

  TRACERT_INLINE static Acc widen(Stored stored) { return toAccumulator(stored); }
  TRACERT_INLINE static Stored narrow(Acc value) {
    if constexpr (inPlace) {
      return value;
    } else {
      return scalar::narrowFloat<D>(value);
    }
  }

  /// All columns of the tile, or as many registers as `width` columns need.
  static void run(const Panels &panels, int64_t width, Acc *c, int64_t cStride, bool isFirst) {
    if constexpr (!inPlace) {
      FloatTile<scalar::dtype::Accumulator<D>>::run(panels, width, c, cStride, isFirst);
    } else if (registers > 2 && width > 2 * S::width) {
      kernel<registers>(panels, c, cStride, isFirst);
    } else if (width > S::width) {
      kernel<2>(panels, c, cStride, isFirst);
    } else {
      kernel<1>(panels, c, cStride, isFirst);
    }
  }

private:
  template <int used>
  [[gnu::noinline]] static void kernel(const Panels &panels, Acc *c, int64_t cStride,
                                       bool isFirst) {
    typename S::Register sums[rows][used];
#pragma GCC unroll 16
    for (int row = 0; row < rows; ++row) {
#pragma GCC unroll 4
      for (int i = 0; i < used; ++i) {
        sums[row][i] = isFirst ? S::splat(Acc(0)) : S::load(c + row * cStride + i * S::width);
      }
    }
    const Acc *b = panels.b;
    const Acc *a[rows];
#pragma GCC unroll 16
    for (int row = 0; row < rows; ++row) {
      a[row] = panels.aRows[row];
    }
    int64_t end = panels.depth * panels.aDepthStride;
    for (int64_t k = 0; k < end; k += panels.aDepthStride, b += panels.bDepthStride) {
      typename S::Register right[used];
#pragma GCC unroll 4
      for (int i = 0; i < used; ++i) {
        right[i] = S::load(b + i * S::width);
      }
#pragma GCC unroll 16
      for (int row = 0; row < rows; ++row) {
        typename S::Register left = S::splat(a[row][k]);
#pragma GCC unroll 4
        for (int i = 0; i < used; ++i) {
          sums[row][i] = S::fma(left, right[i], sums[row][i]);
        }
      }
    }
#pragma GCC unroll 16
    for (int row = 0; row < rows; ++row) {
#pragma GCC unroll 4
      for (int i = 0; i < used; ++i) {
        S::store(c + row * cStride + i * S::width, sums[row][i]);
      }
    }
  }
};

/// Integers wrap; bool is or of ands. The compiler vectorises over columns.
template <class D> struct IntegerTile {
  using Stored = typename D::Storage;
  using Acc = typename D::Storage;
  static constexpr bool isBool = isBoolTag<D>;
  static constexpr bool inPlace = true;
  /// A bool byte other than 0 and 1 becomes 1 when it is packed.
  static constexpr bool canReadOperands = !isBool;
  static constexpr int rows = 4, columns = 16;
  using Panels = TilePanels<Acc, rows>;

  TRACERT_INLINE static Acc widen(Stored stored) { return isBool ? Acc(stored != 0) : stored; }
  TRACERT_INLINE static Stored narrow(Acc value) { return value; }

  [[gnu::noinline]] static void run(const Panels &panels, int64_t, Acc *c, int64_t cStride,
                                    bool isFirst) {
    alignas(64) Acc sums[rows][columns];
    for (int row = 0; row < rows; ++row) {
      for (int column = 0; column < columns; ++column) {
        sums[row][column] = isFirst ? Acc(0) : c[row * cStride + column];
      }
    }
    for (int64_t k = 0; k < panels.depth; ++k) {
      const Acc *b = panels.b + k * panels.bDepthStride;
      for (int row = 0; row < rows; ++row) {
        Acc left = panels.aRows[row][k * panels.aDepthStride];
        for (int column = 0; column < columns; ++column) {
          if constexpr (isBool) {
            sums[row][column] |= left & b[column];
          } else {
            sums[row][column] = scalar::add(sums[row][column], scalar::mul(left, b[column]));
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

/// Of integers only the bits matter.
template <class D> struct TileChoice {
  using Type = IntegerTile<scalar::dtype::BitsTag<D>>;
};
template <> struct TileChoice<scalar::dtype::b1> {
  using Type = IntegerTile<scalar::dtype::b1>;
};
template <class D>
  requires isFloatTag<D>
struct TileChoice<D> {
  using Type = FloatTile<D>;
};
template <class D> using TileOf = typename TileChoice<D>::Type;

} // namespace tracert::TRACERT_ISA
