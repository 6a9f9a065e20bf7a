/// DotBlock.h: one block of the products of some rows with one column.
///
///   float partials[DotOf<scalar::dtype::f16>::rowGroup];
///   DotOf<scalar::dtype::f16>::rows(a, aRowStride, rowCount, b, count, partials);
///
/// The block of a sum (Reductions.h) whose terms are products, added by fma_. Up to rowGroup rows,
/// up to ReductionOrder::blockLength elements each; `b` is contiguous. Strides in bytes.
#pragma once

#include "Reductions.h"
#include "RowJoin.h"

#include <cstring>

namespace tracert::TRACERT_ISA {

/// Rows that a call takes at most: whole registers of every level, 16 KiB of lanes.
inline constexpr int64_t dotRowGroup = 32;

template <class D> struct FloatDot {
  using Stored = typename D::Storage;
  using Partial = typename D::Compute;
  using S = Simd<Partial>;
  using Register = typename S::Register;
  static constexpr int64_t lanes = scalar::ReductionOrder::lanes<Partial>();
  static constexpr Partial start = scalar::startOf<scalar::Start::Zero, Partial>;

  /// Each row contiguous.
  static void rows(const char *a, int64_t rowStride, int64_t rowCount, const Stored *b,
                   int64_t count, Partial *partials) {
    if (count >= lanes) {
      rowsOf(a, rowStride, rowCount, b, count, partials);
    } else if (count > lanes / 2) {
      shortRows<registers>(a, rowStride, rowCount, b, count, partials);
    } else if (count > lanes / 4) {
      shortRows<registers / 2>(a, rowStride, rowCount, b, count, partials);
    } else if (count > lanes / 8) {
      shortRows<registers / 4>(a, rowStride, rowCount, b, count, partials);
    } else {
      shortRows<registers / 8>(a, rowStride, rowCount, b, count, partials);
    }
  }

  /// Neighbouring rows lie next to one another, as in a transposed matrix: one register holds the
  /// same lane of several rows.
  [[gnu::noinline]] static void transposed(const char *a, int64_t depthStride, int64_t rowCount,
                                           const Stored *b, int64_t count, Partial *partials) {
    // Lanes without an element hold -0.0, which joins without a trace: a shorter join is enough.
    int64_t used = 1;
    while (used < lanes && used < count) {
      used *= 2;
    }
    Partial sums[lanes * dotRowGroup];
    for (int64_t i = 0; i < used * dotRowGroup; ++i) {
      sums[i] = start;
    }
    if (rowCount == dotRowGroup) {
      addProducts<true>(a, depthStride, rowCount, b, count, sums);
    } else {
      addProducts<false>(a, depthStride, rowCount, b, count, sums);
    }
    for (int64_t half = used / 2; half > 0; half /= 2) {
      for (int64_t i = 0; i < half * dotRowGroup; i += S::width) {
        S::store(sums + i, S::add(S::load(sums + i), S::load(sums + half * dotRowGroup + i)));
      }
    }
    std::memcpy(partials, sums, size_t(rowCount) * sizeof(Partial));
  }

  /// Joins partials by the tree, makes a zero +0.0 as in a chain of matmul, and rounds once.
  class Total {
  public:
    void push(Partial partial) { tree.push(partial); }
    Stored finish() const {
      return ReductionOf<reduction::sum, D>::round(tree.finish() + Partial(0));
    }

  private:
    scalar::BlockTree<Partial, scalar::op::add> tree;
  };

private:
  static constexpr int registers = lanes / S::width;
  static constexpr int groupRegisters = 8;

  /// What leaves a chain as it is when a register is not full: -0.0 times +0.0.
  static constexpr Stored leftPadding = [] {
    if constexpr (std::is_same_v<Stored, Partial>) {
      return start;
    } else {
      return Stored(0x8000);
    }
  }();
  static constexpr Stored rightPadding = Stored(0);

  /// Several rows' registers, joined further together.
  template <class JoinedRow>
  TRACERT_INLINE static void joinGroups(int64_t rowCount, Partial *partials, JoinedRow joinedRow) {
    for (int64_t first = 0; first < rowCount; first += S::width) {
      int64_t used = rowCount - first < S::width ? rowCount - first : S::width;
      Register joined[S::width];
      for (int64_t row = 0; row < S::width; ++row) {
        joined[row] = row < used ? joinedRow(first + row) : S::splat(start);
      }
      Partial sums[S::width];
      S::store(sums, joinRows(joined));
      std::memcpy(partials + first, sums, size_t(used) * sizeof(Partial));
    }
  }

  [[gnu::noinline]] static void rowsOf(const char *a, int64_t rowStride, int64_t rowCount,
                                       const Stored *b, int64_t count, Partial *partials) {
    joinGroups(rowCount, partials, [&](int64_t row) {
      return joinedProducts(reinterpret_cast<const Stored *>(a + row * rowStride), b, count);
    });
  }

  /// Rows of fewer elements than lanes: the other lanes hold -0.0, which joins without a trace, so
  /// `used` registers are enough.
  template <int used>
  [[gnu::noinline]] static void shortRows(const char *a, int64_t rowStride, int64_t rowCount,
                                          const Stored *b, int64_t count, Partial *partials) {
    joinGroups(rowCount, partials, [&](int64_t row) {
      const auto *left = reinterpret_cast<const Stored *>(a + row * rowStride);
      Register sums[used];
#pragma GCC unroll 32
      for (int i = 0; i < used; ++i) {
        sums[i] = withProducts(left, b, count, i * S::width, S::splat(start));
      }
      return joinRegisters(sums);
    });
  }

  /// One register of a chain, with the products of the elements from k on that there are.
  TRACERT_INLINE static Register withProducts(const Stored *a, const Stored *b, int64_t count,
                                              int64_t k, Register chain) {
    if (k + S::width <= count) {
      return S::fma(S::load(a + k), S::load(b + k), chain);
    }
    if (k < count) {
      return S::fma(S::loadFirst(a + k, count - k, leftPadding),
                    S::loadFirst(b + k, count - k, rightPadding), chain);
    }
    return chain;
  }

  template <int used> TRACERT_INLINE static Register joinRegisters(Register (&sums)[used]) {
#pragma GCC unroll 8
    for (int half = used / 2; half > 0; half /= 2) {
#pragma GCC unroll 16
      for (int i = 0; i < half; ++i) {
        sums[i] = S::add(sums[i], sums[i + half]);
      }
    }
    return sums[0];
  }

  /// The lanes of one row, joined by halves down to one register.
  TRACERT_INLINE static Register joinedProducts(const Stored *a, const Stored *b, int64_t count) {
    Register sums[registers];
    int64_t full = count / lanes * lanes;
    for (int group = 0; group < registers; group += groupRegisters) {
      Register chains[groupRegisters];
#pragma GCC unroll 8
      for (int i = 0; i < groupRegisters; ++i) {
        chains[i] = S::splat(start);
      }
      for (int64_t k = group * S::width; k < full; k += lanes) {
#pragma GCC unroll 8
        for (int i = 0; i < groupRegisters; ++i) {
          chains[i] =
              S::fma(S::load(a + k + i * S::width), S::load(b + k + i * S::width), chains[i]);
        }
      }
#pragma GCC unroll 8
      for (int i = 0; i < groupRegisters; ++i) {
        sums[group + i] = withProducts(a, b, count, full + (group + i) * S::width, chains[i]);
      }
    }
    return joinRegisters(sums);
  }

  /// Every row's products, lane by lane: `sums` holds dotRowGroup rows per lane.
  template <bool isFull>
  TRACERT_INLINE static void addProducts(const char *a, int64_t depthStride, int64_t rowCount,
                                         const Stored *b, int64_t count, Partial *sums) {
    for (int64_t k = 0; k < count; ++k, a += depthStride) {
      const auto *left = reinterpret_cast<const Stored *>(a);
      Register right = S::splat(toAccumulator(b[k]));
      Partial *lane = sums + k % lanes * dotRowGroup;
#pragma GCC unroll 16
      for (int64_t row = 0; row < dotRowGroup; row += S::width) {
        if (isFull || row + S::width <= rowCount) {
          S::store(lane + row, S::fma(S::load(left + row), right, S::load(lane + row)));
        } else if (row < rowCount) {
          Register part = S::loadFirst(left + row, rowCount - row, rightPadding);
          S::store(lane + row, S::fma(part, right, S::load(lane + row)));
        }
      }
    }
  }
};

/// Integers wrap, bool is or of ands: order has no effect.
template <class D> struct IntegerDot {
  using Stored = typename D::Storage;
  using Partial = Stored;
  static constexpr bool isBool = isBoolTag<D>;

  TRACERT_INLINE static Stored product(Stored a, Stored b) {
    return isBool ? Stored((a != 0) & (b != 0)) : scalar::mul(a, b);
  }
  TRACERT_INLINE static Stored join(Stored a, Stored b) {
    return isBool ? Stored(a | b) : scalar::add(a, b);
  }

  [[gnu::noinline]] static void rows(const char *a, int64_t rowStride, int64_t rowCount,
                                     const Stored *b, int64_t count, Partial *partials) {
    for (int64_t row = 0; row < rowCount; ++row, a += rowStride) {
      const auto *left = reinterpret_cast<const Stored *>(a);
      Stored total = 0;
      for (int64_t k = 0; k < count; ++k) {
        total = join(total, product(left[k], b[k]));
      }
      partials[row] = total;
    }
  }

  [[gnu::noinline]] static void transposed(const char *a, int64_t depthStride, int64_t rowCount,
                                           const Stored *b, int64_t count, Partial *partials) {
    std::memset(partials, 0, size_t(rowCount) * sizeof(Partial));
    for (int64_t k = 0; k < count; ++k, a += depthStride) {
      const auto *left = reinterpret_cast<const Stored *>(a);
      for (int64_t row = 0; row < rowCount; ++row) {
        partials[row] = join(partials[row], product(left[row], b[k]));
      }
    }
  }

  class Total {
  public:
    void push(Partial partial) { total = join(total, partial); }
    Stored finish() const { return total; }

  private:
    Stored total = 0;
  };
};

/// Of integers only the bits matter.
template <class D> struct DotChoice {
  using Type = IntegerDot<scalar::dtype::BitsTag<D>>;
};
template <> struct DotChoice<scalar::dtype::b1> {
  using Type = IntegerDot<scalar::dtype::b1>;
};
template <class D>
  requires isFloatTag<D>
struct DotChoice<D> {
  using Type = FloatDot<D>;
};
template <class D> using DotOf = typename DotChoice<D>::Type;

} // namespace tracert::TRACERT_ISA
