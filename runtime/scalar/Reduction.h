/// Reduction.h: the fixed order of reductions, as constants and as the tree that joins blocks, and
/// where their accumulators start. Numbers.md states the order.
///
///   BlockTree<float, op::add> tree;
///   for (each block of ReductionOrder::blockLength elements) tree.push(blockSum);
///   float total = tree.finish();
///
/// No memory beyond the struct, no traps; one BlockTree belongs to one thread.
#pragma once

#include "Dtypes.h"

#include <limits>

namespace tracert::scalar {

/// Shared by the kernels and by the code generator.
struct ReductionOrder {
  /// Elements per block, in the inner and in the outer order.
  static constexpr int64_t blockLength = 4096;
  /// Lanes of the inner order, by the accumulating type.
  static constexpr int64_t lanesF32 = 128;
  static constexpr int64_t lanesF64 = 64;
  /// Elements that a masked reduction's buffer holds after its block: a full vector store may run
  /// over by this much.
  static constexpr int64_t compactSlack = 64;

  template <class Accumulator> static constexpr int64_t lanes() {
    return sizeof(Accumulator) == 4 ? lanesF32 : lanesF64;
  }
  static constexpr int64_t blockCount(int64_t length) {
    return length / blockLength + (length % blockLength != 0);
  }
};

/// As tracert::ReductionStart, for code that has no runtime headers.
enum class Start { Zero, One, Lowest, Highest, First };

/// The accumulator that leaves every other unchanged. Of additions of floats that is -0.0 alone.
template <Start start, class Accumulator>
inline constexpr Accumulator startOf = [] {
  using Limits = std::numeric_limits<Accumulator>;
  if constexpr (start == Start::One) {
    return Accumulator(1);
  } else if constexpr (start == Start::Lowest) {
    return std::is_floating_point_v<Accumulator> ? Accumulator(-Limits::infinity()) : Limits::min();
  } else if constexpr (start == Start::Highest) {
    return std::is_floating_point_v<Accumulator> ? Limits::infinity() : Limits::max();
  } else {
    return std::is_floating_point_v<Accumulator> ? Accumulator(-0.0) : Accumulator(0);
  }
}();

} // namespace tracert::scalar

namespace tracert::scalar::inline TRACERT_LEVEL {

/// startOf as an element of dtype D in memory.
template <Start start, class D> constexpr typename D::Storage storedStart() {
  if constexpr (std::is_same_v<typename D::Storage, typename D::Compute> ||
                std::is_same_v<typename D::Compute, bool>) {
    return static_cast<typename D::Storage>(startOf<start, typename D::Compute>);
  } else {
    // A narrow float, as bits.
    constexpr uint64_t negativeZero = uint64_t(1) << (8 * sizeof(typename D::Storage) - 1);
    return static_cast<typename D::Storage>(start == Start::Lowest    ? lowestBits(D::dtype)
                                            : start == Start::Highest ? highestBits(D::dtype)
                                            : start == Start::One     ? oneBits(D::dtype)
                                                                      : negativeZero);
  }
}

/// tree(n) = tree(first p) op tree(the rest), p the largest power of two below n, fed one block at
/// a time: a binary counter whose digit i holds the sum of 2^i blocks. For up to 2^63 blocks.
template <class Accumulator, class Op> class BlockTree {
public:
  TRACERT_INLINE void push(Accumulator blockSum) {
    int level = 0;
    for (; (blocks >> level) & 1; ++level) {
      blockSum = Op::call(levels[level], blockSum);
    }
    levels[level] = blockSum;
    ++blocks;
  }
  /// All blocks together; +0.0 if there was none.
  TRACERT_INLINE Accumulator finish() const {
    if (blocks == 0) {
      return Accumulator(0);
    }
    Accumulator total = levels[__builtin_ctzll(blocks)];
    for (uint64_t rest = blocks & (blocks - 1); rest != 0; rest &= rest - 1) {
      total = Op::call(levels[__builtin_ctzll(rest)], total);
    }
    return total;
  }

private:
  Accumulator levels[64];
  uint64_t blocks = 0;
};

/// Joins the lanes of one block by halves, in place: lanes[l] joins lanes[l + half]. Count is a
/// power of two.
template <class Op, class Accumulator>
TRACERT_INLINE Accumulator joinLanes(Accumulator *lanes, int64_t count) {
  for (int64_t half = count / 2; half > 0; half /= 2) {
    for (int64_t lane = 0; lane < half; ++lane) {
      lanes[lane] = Op::call(lanes[lane], lanes[lane + half]);
    }
  }
  return lanes[0];
}

} // namespace tracert::scalar::inline TRACERT_LEVEL
