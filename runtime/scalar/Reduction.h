/// Reduction.h: the fixed order of sums, as constants and as the tree that joins blocks. Numbers.md
/// states the order.
///
///   BlockTree<float> tree;
///   for (each block of ReductionOrder::blockLength elements) tree.push(blockSum);
///   float total = tree.finish();
///
/// No memory beyond the struct, no traps; one BlockTree belongs to one thread.
#pragma once

#include "Lanes.h"

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

/// Where a chain of additions starts: -0.0 is the one value that leaves every other unchanged.
template <class Accumulator> inline constexpr Accumulator sumStart = Accumulator(0);
template <> inline constexpr float sumStart<float> = -0.0f;
template <> inline constexpr double sumStart<double> = -0.0;

} // namespace tracert::scalar

namespace tracert::scalar::inline TRACERT_LEVEL {

/// tree(n) = tree(first p) + tree(the rest), p the largest power of two below n, fed one block at a
/// time: a binary counter whose digit i holds the sum of 2^i blocks. For up to 2^63 blocks.
template <class Accumulator> class BlockTree {
public:
  TRACERT_INLINE void push(Accumulator blockSum) {
    int level = 0;
    for (; (blocks >> level) & 1; ++level) {
      blockSum = wrap<Accumulator>(levels[level] + blockSum);
    }
    levels[level] = blockSum;
    ++blocks;
  }
  /// The sum of all blocks; +0.0 if there was none.
  TRACERT_INLINE Accumulator finish() const {
    if (blocks == 0) {
      return Accumulator(0);
    }
    Accumulator total = levels[__builtin_ctzll(blocks)];
    for (uint64_t rest = blocks & (blocks - 1); rest != 0; rest &= rest - 1) {
      total = wrap<Accumulator>(levels[__builtin_ctzll(rest)] + total);
    }
    return total;
  }

private:
  Accumulator levels[64];
  uint64_t blocks = 0;
};

/// Joins the lanes of one block by halves, in place: lanes[l] += lanes[l + half]. Count is a power
/// of two.
template <class Accumulator>
TRACERT_INLINE Accumulator joinLanes(Accumulator *lanes, int64_t count) {
  for (int64_t half = count / 2; half > 0; half /= 2) {
    for (int64_t lane = 0; lane < half; ++lane) {
      lanes[lane] = wrap<Accumulator>(lanes[lane] + lanes[lane + half]);
    }
  }
  return lanes[0];
}

} // namespace tracert::scalar::inline TRACERT_LEVEL
