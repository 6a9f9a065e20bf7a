/// Reductions.h: what one block of each reduction is, for contiguous elements, how blocks are
/// joined and how results are stored; all of it made from the reduction's record (its combiner).
///
///   using Sum = ReductionOf<reduction::sum, scalar::dtype::f16>;
///   float partial = Sum::block(bits, count, 0);
///
/// Reduce.cpp is written over these types. Each has Stored (an element in memory), Partial (what a
/// block leaves), Result, load, accumulate, block, start (unless it starts with its first element)
/// and Total, which joins blocks in order. Positions count the elements of the sequence.
#pragma once

#include "Simd.h"

#include "tracert/Op.h"
#include "tracert/scalar/Elementwise.h"
#include "tracert/scalar/Reduction.h"

namespace tracert::TRACERT_ISA {

/// The records of reductions.
namespace reduction {
#define TRACERT_REDUCTION(opName, combiner, startName, emptyName, ordered, widened, indexed)       \
  struct opName {                                                                                  \
    using Op = scalar::op::combiner;                                                               \
    static constexpr auto start = scalar::Start::startName;                                        \
    static constexpr auto empty = EmptyReduction::emptyName;                                       \
    static constexpr bool isOrdered = ordered;                                                     \
    static constexpr bool isWidened = widened;                                                     \
    static constexpr bool isIndexed = indexed;                                                     \
  };
#include "tracert/generated/Reductions.inc"
#undef TRACERT_REDUCTION
} // namespace reduction

/// A register operation of a combiner; lane by lane where there is no instruction for it.
template <class Op, class Element>
TRACERT_INLINE typename Simd<Element>::Register combine(typename Simd<Element>::Register a,
                                                        typename Simd<Element>::Register b) {
  using S = Simd<Element>;
  if constexpr (std::is_same_v<Op, scalar::op::add>) {
    return S::add(a, b);
  } else {
    Element left[S::width], right[S::width];
    S::store(left, a);
    S::store(right, b);
    for (int lane = 0; lane < S::width; ++lane) {
      left[lane] = Op::call(left[lane], right[lane]);
    }
    return S::load(left);
  }
}

/// The inner order within a block: registers of lanes, in groups that fit the register file.
template <class Spec, class Accumulator, class Stored>
[[gnu::noinline]] Accumulator orderedBlock(const Stored *data, int64_t count) {
  using S = Simd<Accumulator>;
  using Op = typename Spec::Op;
  constexpr Accumulator start = scalar::startOf<Spec::start, Accumulator>;
  constexpr int64_t lanes = scalar::ReductionOrder::lanes<Accumulator>();
  constexpr int groupRegisters = 8;
  constexpr int64_t groupLanes = groupRegisters * S::width;
  static_assert(lanes % groupLanes == 0);
  Accumulator chains[lanes];
  int64_t rows = count / lanes;
  if (rows == 0) {
    // Lanes without an element hold the start, which joins without a trace: a shorter join is
    // enough.
    int64_t width = 1;
    while (width < count) {
      width *= 2;
    }
    for (int64_t lane = 0; lane < width; ++lane) {
      chains[lane] = lane < count ? Op::call(start, toAccumulator(data[lane])) : start;
    }
    return scalar::joinLanes<Op>(chains, width);
  }
  for (int64_t group = 0; group < lanes; group += groupLanes) {
    typename S::Register accumulators[groupRegisters];
    for (int i = 0; i < groupRegisters; ++i) {
      accumulators[i] = S::splat(start);
    }
    const Stored *at = data + group;
    for (int64_t row = 0; row < rows; ++row, at += lanes) {
      for (int i = 0; i < groupRegisters; ++i) {
        accumulators[i] = combine<Op, Accumulator>(accumulators[i], S::load(at + i * S::width));
      }
    }
    if (lanes == groupLanes && rows * lanes == count) {
      // The first halvings on registers, the same operations as in joinLanes.
      for (int half = groupRegisters / 2; half > 0; half /= 2) {
        for (int i = 0; i < half; ++i) {
          accumulators[i] = combine<Op, Accumulator>(accumulators[i], accumulators[i + half]);
        }
      }
      S::store(chains, accumulators[0]);
      return scalar::joinLanes<Op>(chains, S::width);
    }
    for (int i = 0; i < groupRegisters; ++i) {
      S::store(chains + group + i * S::width, accumulators[i]);
    }
  }
  const Stored *tail = data + rows * lanes;
  for (int64_t lane = 0; lane < count - rows * lanes; ++lane) {
    chains[lane] = Op::call(chains[lane], toAccumulator(tail[lane]));
  }
  return scalar::joinLanes<Op>(chains, lanes);
}

/// A reduction to a value.
template <class Spec, class D> struct ValueReduction {
  using Op = typename Spec::Op;
  using Wide = scalar::dtype::Accumulator<D>;
  using Acc = std::conditional_t<Spec::isWidened, Wide, D>;
  using Stored = typename D::Storage;
  using Partial = typename Acc::Storage;
  /// Integers keep the accumulator, floats are rounded back once.
  using ResultD = std::conditional_t<std::is_floating_point_v<typename D::Compute>, D, Acc>;
  using Result = typename ResultD::Storage;
  /// Registers of chains in the order of the number contract.
  static constexpr bool isOrdered =
      Spec::isOrdered && std::is_floating_point_v<typename Acc::Compute>;
  static constexpr Partial start = scalar::storedStart<Spec::start, Acc>();

  TRACERT_INLINE static Partial load(Stored stored) {
    if constexpr (std::is_same_v<Acc, D>) {
      return stored;
    } else {
      return static_cast<typename Acc::Compute>(scalar::loadLanes<D, 1>(stored));
    }
  }
  TRACERT_INLINE static Partial join(Partial a, Partial b) {
    return scalar::apply<Op, Acc, 1>(a, b);
  }
  TRACERT_INLINE static void accumulate(Partial &chain, Stored stored, int64_t) {
    chain = join(chain, load(stored));
  }
  TRACERT_INLINE static Partial startAt(Stored, int64_t) { return start; }

  [[gnu::noinline]] static Partial block(const Stored *data, int64_t count, int64_t) {
    if constexpr (isOrdered) {
      return orderedBlock<Spec, Partial>(data, count);
    } else if constexpr (Spec::isWidened) {
      Partial total = start;
      for (int64_t i = 0; i < count; ++i) {
        total = join(total, load(data[i]));
      }
      return total;
    } else {
      return anyOrderBlock(data, count);
    }
  }

  /// Joins the partials of blocks and rounds once.
  class Total {
  public:
    void push(Partial partial) {
      if constexpr (isOrdered) {
        tree.push(partial);
      } else {
        total = join(total, partial);
      }
      isEmpty = false;
    }
    Result finish() const {
      if constexpr (isOrdered) {
        return round(!isEmpty ? tree.finish() : Spec::empty == EmptyReduction::Zero ? 0 : start);
      } else {
        return round(total);
      }
    }

  private:
    struct NoTree {};
    [[no_unique_address]] std::conditional_t<isOrdered, scalar::BlockTree<Partial, Op>, NoTree>
        tree;
    Partial total = start;
    bool isEmpty = true;
  };
  static Result round(Partial total) {
    if constexpr (std::is_same_v<ResultD, Acc>) {
      return total;
    } else {
      return scalar::storeLanes<ResultD, 1>(scalar::loadLanes<Acc, 1>(total));
    }
  }

private:
  /// Some independent chains hide the latency; any order gives the same result.
  static Partial anyOrderBlock(const Stored *data, int64_t count) {
    constexpr int64_t chains = 64;
    if (count < 1) {
      return start;
    }
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
};

/// A reduction to the position of an element: of the first one that no other replaces. `Op` says
/// whether its first operand replaces the second; a NaN replaces whatever is none.
template <class Spec, class D> struct IndexedReduction {
  using Op = typename Spec::Op;
  using Stored = typename D::Storage;
  struct Partial {
    Stored value;
    int64_t position;
  };
  using Result = int64_t;
  static constexpr bool isOrdered = false;

  TRACERT_INLINE static bool replaces(Stored candidate, Stored kept) {
    bool isBetter = scalar::apply<Op, D, 1>(candidate, kept) != 0;
    if constexpr (std::is_floating_point_v<typename D::Compute>) {
      auto old = scalar::loadLanes<D, 1>(kept);
      auto next = scalar::loadLanes<D, 1>(candidate);
      return isBetter || (next != next && old == old);
    }
    return isBetter;
  }
  TRACERT_INLINE static void accumulate(Partial &chain, Stored stored, int64_t position) {
    bool isReplaced = replaces(stored, chain.value);
    chain.value = isReplaced ? stored : chain.value;
    chain.position = isReplaced ? position : chain.position;
  }
  TRACERT_INLINE static Partial startAt(Stored first, int64_t position) {
    return {first, position};
  }

  /// Needs one element.
  [[gnu::noinline]] static Partial block(const Stored *data, int64_t count, int64_t position) {
    Partial best = startAt(data[0], position);
    for (int64_t i = 1; i < count; ++i) {
      accumulate(best, data[i], position + i);
    }
    return best;
  }

  class Total {
  public:
    void push(Partial partial) {
      if (isEmpty || replaces(partial.value, best.value)) {
        best = partial;
      }
      isEmpty = false;
    }
    Result finish() const { return best.position; }

  private:
    Partial best{};
    bool isEmpty = true;
  };
};

template <class Spec, class D>
using ReductionOf =
    std::conditional_t<Spec::isIndexed, IndexedReduction<Spec, D>, ValueReduction<Spec, D>>;

} // namespace tracert::TRACERT_ISA
