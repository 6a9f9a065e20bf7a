#include "BlockSum.h"
#include "CoreTables.h"
#include "DtypeTags.h"
#include "Sequence.h"

namespace tracert::TRACERT_ISA {
namespace {

constexpr int64_t blockLength = scalar::ReductionOrder::blockLength;

/// Calls consume(partial) for each block of the sequence in [blockBegin, blockEnd).
template <class R, class Consume>
void forEachBlock(const void *data, const ReducedAxes &axes, int64_t blockBegin, int64_t blockEnd,
                  Consume consume) {
  using Stored = typename R::Stored;
  int64_t length = SequenceWalk::length(axes);
  int64_t begin = blockBegin * blockLength;
  int64_t end = blockEnd * blockLength < length ? blockEnd * blockLength : length;
  if (begin >= end) {
    return;
  }
  SequenceWalk walk(data, axes);
  walk.seek(begin);
  Stored buffer[blockLength];
  for (int64_t block = 1; begin < end; ++block) {
    if (axes.control && block % blocksBetweenChecks == 0 && axes.control->shouldStop()) {
      return;
    }
    int64_t count = end - begin < blockLength ? end - begin : blockLength;
    if (walk.run() >= count && walk.innerStride() == int64_t(sizeof(Stored))) {
      consume(R::block(reinterpret_cast<const Stored *>(walk.pointer()), count));
      walk.advance(count);
    } else {
      walk.gather<sizeof(Stored)>(count, buffer);
      consume(R::block(buffer, count));
    }
    begin += count;
  }
}

template <class R>
void reduceBlocks(const void *data, const ReducedAxes &axes, int64_t blockBegin, int64_t blockEnd,
                  void *partials) {
  auto *next = static_cast<typename R::Partial *>(partials);
  forEachBlock<R>(data, axes, blockBegin, blockEnd,
                  [&](typename R::Partial partial) { *next++ = partial; });
}

template <class R> void combineBlocks(const void *partials, int64_t blockCount, void *result) {
  auto *values = static_cast<const typename R::Partial *>(partials);
  typename R::Total total;
  for (int64_t block = 0; block < blockCount; ++block) {
    total.push(values[block]);
  }
  *static_cast<typename R::Result *>(result) = total.finish();
}

template <class R>
void reduceRows(const void *data, const ReducedAxes &axes, const KeptAxis &rows, void *output) {
  int64_t blocks = scalar::ReductionOrder::blockCount(SequenceWalk::length(axes));
  for (int64_t row = 0; row < rows.count; ++row) {
    typename R::Total total;
    forEachBlock<R>(static_cast<const char *>(data) + row * rows.inputStride, axes, 0, blocks,
                    [&](typename R::Partial partial) { total.push(partial); });
    typename R::Result result = total.finish();
    std::memcpy(static_cast<char *>(output) + row * rows.outputStride, &result, sizeof(result));
  }
}

/// Columns that one pass accumulates: eight AVX-512 registers of float.
constexpr int64_t columnTile = 128;

/// chains[c] gets `terms` more terms of column c. Contiguous full tiles stay in registers.
template <class R>
[[gnu::noinline]] void addTerms(const char *at, int64_t termStride, int64_t terms,
                                int64_t columnStride, int64_t columns,
                                typename R::Partial *chains) {
  using Stored = typename R::Stored;
  using Partial = typename R::Partial;
  int64_t column = 0;
  if constexpr (std::is_floating_point_v<Partial> &&
                !std::is_same_v<R, MaxOf<scalar::dtype::f32>> &&
                !std::is_same_v<R, MaxOf<scalar::dtype::f64>>) {
    using S = Simd<Partial>;
    constexpr int registers = 8;
    if (columnStride == int64_t(sizeof(Stored))) {
      for (; column + registers * S::width <= columns; column += registers * S::width) {
        typename S::Register sums[registers];
        for (int i = 0; i < registers; ++i) {
          sums[i] = S::load(chains + column + i * S::width);
        }
        const char *row = at + column * columnStride;
        for (int64_t term = 0; term < terms; ++term, row += termStride) {
          for (int i = 0; i < registers; ++i) {
            sums[i] =
                S::add(sums[i], S::load(reinterpret_cast<const Stored *>(row) + i * S::width));
          }
        }
        for (int i = 0; i < registers; ++i) {
          S::store(chains + column + i * S::width, sums[i]);
        }
      }
      for (; column + S::width <= columns; column += S::width) {
        typename S::Register sum = S::load(chains + column);
        const char *row = at + column * columnStride;
        for (int64_t term = 0; term < terms; ++term, row += termStride) {
          sum = S::add(sum, S::load(reinterpret_cast<const Stored *>(row)));
        }
        S::store(chains + column, sum);
      }
    }
  }
  if (column == columns) {
    return;
  }
  for (int64_t term = 0; term < terms; ++term) {
    const char *row = at + term * termStride;
    if (columnStride == int64_t(sizeof(Stored))) {
      const auto *values = reinterpret_cast<const Stored *>(row);
      for (int64_t c = column; c < columns; ++c) {
        chains[c] = R::join(chains[c], R::load(values[c]));
      }
    } else {
      for (int64_t c = column; c < columns; ++c) {
        Stored stored;
        std::memcpy(&stored, row + c * columnStride, sizeof(stored));
        chains[c] = R::join(chains[c], R::load(stored));
      }
    }
  }
}

template <class R, class Start>
void reduceColumnTile(const char *data, const ReducedAxes &axes, const KeptAxis &columns,
                      char *output, Start start) {
  using Partial = typename R::Partial;
  int64_t left = SequenceWalk::length(axes);
  typename R::Total totals[columnTile];
  Partial chains[columnTile];
  SequenceWalk walk(data, axes);
  for (int64_t block = 1; left > 0; ++block) {
    if (axes.control && block % blocksBetweenChecks == 0 && axes.control->shouldStop()) {
      return;
    }
    int64_t inBlock = left < blockLength ? left : blockLength;
    left -= inBlock;
    for (int64_t column = 0; column < columns.count; ++column) {
      chains[column] = start(column, walk.pointer());
    }
    while (inBlock > 0) {
      int64_t terms = walk.run() < inBlock ? walk.run() : inBlock;
      addTerms<R>(walk.pointer(), walk.innerStride(), terms, columns.inputStride, columns.count,
                  chains);
      walk.advance(terms);
      inBlock -= terms;
    }
    for (int64_t column = 0; column < columns.count; ++column) {
      totals[column].push(chains[column]);
    }
  }
  for (int64_t column = 0; column < columns.count; ++column) {
    typename R::Result result = totals[column].finish();
    std::memcpy(output + column * columns.outputStride, &result, sizeof(result));
  }
}

template <class R>
typename R::Partial chainStart(int64_t column, const char *term, int64_t columnStride) {
  if constexpr (requires { R::start; }) {
    return R::start;
  } else {
    // A max may start from its first term, which then counts twice without effect.
    typename R::Stored stored;
    std::memcpy(&stored, term + column * columnStride, sizeof(stored));
    return stored;
  }
}

template <class R>
void reduceColumns(const void *data, const ReducedAxes &axes, const KeptAxis &columns,
                   void *output) {
  for (int64_t begin = 0; begin < columns.count; begin += columnTile) {
    KeptAxis tile = columns;
    tile.count = columns.count - begin < columnTile ? columns.count - begin : columnTile;
    reduceColumnTile<R>(static_cast<const char *>(data) + begin * columns.inputStride, axes, tile,
                        static_cast<char *>(output) + begin * columns.outputStride,
                        [&](int64_t column, const char *term) {
                          return chainStart<R>(column, term, columns.inputStride);
                        });
  }
}

template <class R> ReduceCores coresOf() {
  return {int64_t(sizeof(typename R::Partial)), reduceBlocks<R>, combineBlocks<R>, reduceRows<R>,
          reduceColumns<R>};
}

} // namespace

void fillReduceCores(KernelCores &cores) {
#define TRACERT_FILL_REDUCE(d, ...)                                                                \
  cores.sum[dtypeIndex<scalar::dtype::d>] = coresOf<SumOf<scalar::dtype::d>>();                    \
  cores.max[dtypeIndex<scalar::dtype::d>] = coresOf<MaxOf<scalar::dtype::d>>();
  TRACERT_FOR_AllDTypes(TRACERT_FILL_REDUCE, )
}

} // namespace tracert::TRACERT_ISA
