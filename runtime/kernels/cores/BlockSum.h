/// BlockSum.h: what one block of a sum or max is, for contiguous elements, and how results are
/// stored.
///
///   float partial = SumOf<scalar::dtype::f16>::block(bits, count);
///
/// SumOf and MaxOf are the two reductions that Reduce.cpp and Masked.cpp are written over.
#pragma once

#include "Simd.h"

#include "tracert/scalar/Arithmetic.h"
#include "tracert/scalar/Reduction.h"

namespace tracert::TRACERT_ISA {

TRACERT_INLINE float toAccumulator(float value) { return value; }
TRACERT_INLINE float toAccumulator(uint16_t half) { return scalar::halfBitsToFloat(half); }
TRACERT_INLINE double toAccumulator(double value) { return value; }

/// The inner order within a block: registers of lanes, in groups that fit the register file.
template <class Accumulator, class Stored>
[[gnu::noinline]] Accumulator sumBlockOfFloats(const Stored *data, int64_t count) {
  using S = Simd<Accumulator>;
  constexpr int64_t lanes = scalar::ReductionOrder::lanes<Accumulator>();
  constexpr int groupRegisters = 8;
  constexpr int64_t groupLanes = groupRegisters * S::width;
  static_assert(lanes % groupLanes == 0);
  Accumulator sums[lanes];
  int64_t rows = count / lanes;
  if (rows == 0) {
    // Lanes without an element hold -0.0, which joins without a trace: a shorter join is enough.
    int64_t width = 1;
    while (width < count) {
      width *= 2;
    }
    for (int64_t lane = 0; lane < width; ++lane) {
      sums[lane] = lane < count ? scalar::sumStart<Accumulator> + toAccumulator(data[lane])
                                : scalar::sumStart<Accumulator>;
    }
    return scalar::joinLanes(sums, width);
  }
  for (int64_t group = 0; group < lanes; group += groupLanes) {
    typename S::Register accumulators[groupRegisters];
    for (int i = 0; i < groupRegisters; ++i) {
      accumulators[i] = S::splat(scalar::sumStart<Accumulator>);
    }
    const Stored *at = data + group;
    for (int64_t row = 0; row < rows; ++row, at += lanes) {
      for (int i = 0; i < groupRegisters; ++i) {
        accumulators[i] = S::add(accumulators[i], S::load(at + i * S::width));
      }
    }
    if (lanes == groupLanes && rows * lanes == count) {
      // The first halvings on registers, the same additions as in joinLanes.
      for (int half = groupRegisters / 2; half > 0; half /= 2) {
        for (int i = 0; i < half; ++i) {
          accumulators[i] = S::add(accumulators[i], accumulators[i + half]);
        }
      }
      S::store(sums, accumulators[0]);
      return scalar::joinLanes(sums, S::width);
    }
    for (int i = 0; i < groupRegisters; ++i) {
      S::store(sums + group + i * S::width, accumulators[i]);
    }
  }
  const Stored *tail = data + rows * lanes;
  for (int64_t lane = 0; lane < count - rows * lanes; ++lane) {
    sums[lane] += toAccumulator(tail[lane]);
  }
  return scalar::joinLanes(sums, lanes);
}

template <class D> struct SumOf {
  static constexpr bool isInteger = std::is_integral_v<typename D::Compute>;
  using Stored = typename D::Storage;
  using Partial = std::conditional_t<isInteger, int64_t,
                                     std::conditional_t<sizeof(Stored) == 8, double, float>>;
  using Result = std::conditional_t<isInteger, int64_t, Stored>;

  TRACERT_INLINE static Partial load(Stored stored) {
    if constexpr (std::is_same_v<D, scalar::dtype::b1>) {
      return stored != 0;
    } else if constexpr (isInteger) {
      return stored;
    } else {
      return toAccumulator(stored);
    }
  }
  static constexpr Partial start = scalar::sumStart<Partial>;
  TRACERT_INLINE static Partial join(Partial a, Partial b) { return a + b; }

  [[gnu::noinline]] static Partial block(const Stored *data, int64_t count) {
    if constexpr (isInteger) {
      int64_t total = 0;
      for (int64_t i = 0; i < count; ++i) {
        total += load(data[i]);
      }
      return total;
    } else {
      return sumBlockOfFloats<Partial>(data, count);
    }
  }

  /// Joins partials by the tree and rounds once.
  class Total {
  public:
    void push(Partial partial) { tree.push(partial); }
    Result finish() const { return round(tree.finish()); }

  private:
    scalar::BlockTree<Partial> tree;
  };
  static Result round(Partial total) {
    if constexpr (std::is_same_v<D, scalar::dtype::f16>) {
      return scalar::floatToHalfBits(total);
    } else {
      return total;
    }
  }
};

template <class D> struct MaxOf {
  using Stored = typename D::Storage;
  using Partial = Stored;
  using Result = Stored;

  TRACERT_INLINE static Partial load(Stored stored) { return stored; }
  TRACERT_INLINE static Partial join(Partial a, Partial b) {
    return scalar::storeLanes<D, 1>(
        scalar::maximum(scalar::loadLanes<D, 1>(a), scalar::loadLanes<D, 1>(b)));
  }

  /// Some independent chains hide the latency; any order gives the same result.
  [[gnu::noinline]] static Partial block(const Stored *data, int64_t count) {
    if (count < 1) {
      return Stored{};
    }
    constexpr int64_t chains = 64;
    Stored best[chains];
    int64_t used = count < chains ? count : chains;
    for (int64_t chain = 0; chain < used; ++chain) {
      best[chain] = data[chain];
    }
    int64_t i = used;
    for (; i + chains <= count; i += chains) {
      for (int64_t chain = 0; chain < chains; ++chain) {
        best[chain] = join(best[chain], data[i + chain]);
      }
    }
    for (; i < count; ++i) {
      best[0] = join(best[0], data[i]);
    }
    for (int64_t chain = 1; chain < used; ++chain) {
      best[0] = join(best[0], best[chain]);
    }
    return best[0];
  }

  class Total {
  public:
    void push(Partial partial) {
      best = any ? join(best, partial) : partial;
      any = true;
    }
    Result finish() const { return best; }

  private:
    Partial best{};
    bool any = false;
  };
};

} // namespace tracert::TRACERT_ISA
