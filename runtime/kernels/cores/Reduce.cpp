#include "CoreTables.h"
#include "DtypeTags.h"
#include "Reductions.h"
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
      consume(R::block(reinterpret_cast<const Stored *>(walk.pointer()), count, begin));
      walk.advance(count);
    } else {
      walk.gather<sizeof(Stored)>(count, buffer);
      consume(R::block(buffer, count, begin));
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

/// Terms of neighbouring columns: the first at `pointer`, which is number `position` of its
/// sequence.
struct ColumnTerms {
  const char *pointer;
  int64_t termStride;
  int64_t count;
  int64_t position;
  int64_t columnStride;
};

/// chains[c] gets the terms of column c. Contiguous full tiles stay in registers.
template <class R>
[[gnu::noinline]] void addTerms(const ColumnTerms &terms, int64_t columns,
                                typename R::Partial *chains) {
  using Stored = typename R::Stored;
  using Partial = typename R::Partial;
  int64_t column = 0;
  if constexpr (R::isOrdered) {
    using S = Simd<Partial>;
    using Op = typename R::Op;
    constexpr int registers = 8;
    if (terms.columnStride == int64_t(sizeof(Stored))) {
      for (; column + registers * S::width <= columns; column += registers * S::width) {
        typename S::Register sums[registers];
        for (int i = 0; i < registers; ++i) {
          sums[i] = S::load(chains + column + i * S::width);
        }
        const char *row = terms.pointer + column * terms.columnStride;
        for (int64_t term = 0; term < terms.count; ++term, row += terms.termStride) {
          for (int i = 0; i < registers; ++i) {
            sums[i] = combine<Op, Partial>(
                sums[i], S::load(reinterpret_cast<const Stored *>(row) + i * S::width));
          }
        }
        for (int i = 0; i < registers; ++i) {
          S::store(chains + column + i * S::width, sums[i]);
        }
      }
      for (; column + S::width <= columns; column += S::width) {
        typename S::Register sum = S::load(chains + column);
        const char *row = terms.pointer + column * terms.columnStride;
        for (int64_t term = 0; term < terms.count; ++term, row += terms.termStride) {
          sum = combine<Op, Partial>(sum, S::load(reinterpret_cast<const Stored *>(row)));
        }
        S::store(chains + column, sum);
      }
    }
  }
  if (column == columns) {
    return;
  }
  for (int64_t term = 0; term < terms.count; ++term) {
    const char *row = terms.pointer + term * terms.termStride;
    if (terms.columnStride == int64_t(sizeof(Stored))) {
      const auto *values = reinterpret_cast<const Stored *>(row);
      for (int64_t c = column; c < columns; ++c) {
        R::accumulate(chains[c], values[c], terms.position + term);
      }
    } else {
      for (int64_t c = column; c < columns; ++c) {
        Stored stored;
        std::memcpy(&stored, row + c * terms.columnStride, sizeof(stored));
        R::accumulate(chains[c], stored, terms.position + term);
      }
    }
  }
}

template <class R>
void reduceColumnTile(const char *data, const ReducedAxes &axes, const KeptAxis &columns,
                      char *output) {
  using Partial = typename R::Partial;
  using Stored = typename R::Stored;
  int64_t length = SequenceWalk::length(axes);
  typename R::Total totals[columnTile];
  Partial chains[columnTile];
  SequenceWalk walk(data, axes);
  for (int64_t block = 1, position = 0; position < length; ++block) {
    if (axes.control && block % blocksBetweenChecks == 0 && axes.control->shouldStop()) {
      return;
    }
    int64_t end = length - position < blockLength ? length : position + blockLength;
    for (int64_t column = 0; column < columns.count; ++column) {
      Stored first;
      std::memcpy(&first, walk.pointer() + column * columns.inputStride, sizeof(first));
      chains[column] = R::startAt(first, position);
    }
    while (position < end) {
      int64_t terms = walk.run() < end - position ? walk.run() : end - position;
      addTerms<R>({walk.pointer(), walk.innerStride(), terms, position, columns.inputStride},
                  columns.count, chains);
      walk.advance(terms);
      position += terms;
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
void reduceColumns(const void *data, const ReducedAxes &axes, const KeptAxis &columns,
                   void *output) {
  for (int64_t begin = 0; begin < columns.count; begin += columnTile) {
    KeptAxis tile = columns;
    tile.count = columns.count - begin < columnTile ? columns.count - begin : columnTile;
    reduceColumnTile<R>(static_cast<const char *>(data) + begin * columns.inputStride, axes, tile,
                        static_cast<char *>(output) + begin * columns.outputStride);
  }
}

template <class R> ReduceCores coresOf() {
  return {int64_t(sizeof(typename R::Partial)), reduceBlocks<R>, combineBlocks<R>, reduceRows<R>,
          reduceColumns<R>};
}

template <class Spec> void fillReduction(ReduceCores (&cores)[kDTypeLimit]) {
#define TRACERT_FILL_REDUCE(d, ...)                                                                \
  cores[dtypeIndex<scalar::dtype::d>] = coresOf<ReductionOf<Spec, scalar::dtype::d>>();
  TRACERT_FOR_AllDTypes(TRACERT_FILL_REDUCE, )
#undef TRACERT_FILL_REDUCE
}

} // namespace

void fillReduceCores(KernelCores &cores) {
  int row = 0;
#define TRACERT_REDUCTION(name, ...) fillReduction<reduction::name>(cores.reduce[row++]);
#include "tracert/generated/Reductions.inc"
#undef TRACERT_REDUCTION
}

} // namespace tracert::TRACERT_ISA
