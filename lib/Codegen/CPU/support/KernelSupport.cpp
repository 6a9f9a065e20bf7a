/// KernelSupport: the parts of generated kernels that are the same in all of them, compiled to
/// bitcode per target and inlined: block buffers of ordered reductions, packing, error records.
///
/// Vectors travel by pointer, because the target ABI does not pass wide ones in registers; inlining
/// removes the memory. Selected lanes travel as bits. KERNEL_LANES is the ISA's vector length.
#include "ScratchLayout.h"

#include "Elementwise.h"
#include "Reduction.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif
#include <limits>
#include <new>

using namespace tracert::scalar;
using namespace tracec;

namespace {

constexpr int64_t kBlock = ReductionOrder::blockLength;

template <class T> struct alignas(1) Unaligned {
  T value;
} __attribute__((packed));
template <class T> TRACERT_INLINE void storeUnaligned(void *to, T value) {
  static_cast<Unaligned<T> *>(to)->value = value;
}

/// Of each reduction whose order counts: the op that combines, where it starts, and what no
/// elements are.
namespace reduction {
#define TRACERT_REDUCTION(opName, combiner, startName, emptyName, ...)                             \
  struct opName {                                                                                  \
    using Op = op::combiner;                                                                       \
    static constexpr Start start = Start::startName;                                               \
    static constexpr bool isZeroWhenEmpty = #emptyName[0] == 'Z';                                  \
  };
#include "tracert/generated/Reductions.inc"
#undef TRACERT_REDUCTION
} // namespace reduction

template <class R, class Acc> struct SequenceState {
  /// Blocks in the tree; with none, it is not even initialised, which short rows would notice.
  int64_t blocks;
  BlockTree<Acc, typename R::Op> tree;
  /// The slack takes a vector that runs over, and the padding of a last block.
  alignas(64) Acc buffer[kBlock + ReductionOrder::lanes<Acc>()];
};
static_assert(sizeof(SequenceState<reduction::sum, double>) <= kReductionStateBytes);
static_assert(ReductionOrder::lanes<double>() >= KERNEL_LANES);

/// One 64-byte vector of accumulators; 8 of them are the lanes of the inner order.
template <class Acc> using Wide = Vec<Acc, 64 / sizeof(Acc)>;

template <class Op, class Acc> TRACERT_INLINE Acc joinWide(Wide<Acc> lanes) {
  constexpr int width = widthOf<Wide<Acc>>;
  Acc values[width];
  __builtin_memcpy(values, &lanes, sizeof(lanes));
#pragma clang loop unroll(full)
  for (int half = width / 2; half > 0; half /= 2) {
#pragma clang loop unroll(full)
    for (int lane = 0; lane < half; ++lane) {
      values[lane] = Op::call(values[lane], values[lane + half]);
    }
  }
  return values[0];
}

/// The first `length` <= kBlock elements together, by lanes and halves. `lanes` elements behind
/// them are overwritten with the start, which leaves a chain unchanged.
template <class R, class Acc> TRACERT_INLINE Acc reduceBlock(Acc *buffer, int64_t length) {
  constexpr int64_t lanes = ReductionOrder::lanes<Acc>();
  constexpr int64_t width = widthOf<Wide<Acc>>;
  static_assert(lanes == 8 * width);
  using Op = typename R::Op;
  Wide<Acc> start = splat<Wide<Acc>>(startOf<R::start, Acc>);
  if (length % lanes != 0) {
#pragma clang loop unroll(full)
    for (int i = 0; i < 8; ++i) {
      storeUnaligned(buffer + length + i * width, start);
    }
    length += lanes - length % lanes;
  }
  Wide<Acc> sums[8] = {start, start, start, start, start, start, start, start};
  for (const Acc *chunk = buffer; chunk != buffer + length; chunk += lanes) {
#pragma clang loop unroll(full)
    for (int i = 0; i < 8; ++i) {
      sums[i] = Op::call(sums[i],
                         reinterpret_cast<const Unaligned<Wide<Acc>> *>(chunk + i * width)->value);
    }
  }
#pragma clang loop unroll(full)
  for (int half = 4; half > 0; half /= 2) {
#pragma clang loop unroll(full)
    for (int i = 0; i < half; ++i) {
      sums[i] = Op::call(sums[i], sums[i + half]);
    }
  }
  return joinWide<Op, Acc>(sums[0]);
}

template <class R, class Acc>
TRACERT_INLINE int64_t flushFull(SequenceState<R, Acc> *state, int64_t count) {
  if (state->blocks == 0) {
    new (&state->tree) BlockTree<Acc, typename R::Op>;
  }
  ++state->blocks;
  state->tree.push(reduceBlock<R>(state->buffer, kBlock));
  // At most one vector has run over.
  __builtin_memcpy(state->buffer, state->buffer + kBlock, KERNEL_LANES * sizeof(Acc));
  return count - kBlock;
}

/// What no elements are.
template <class R, class Acc>
inline constexpr Acc emptyOf = R::isZeroWhenEmpty ? Acc(0) : startOf<R::start, Acc>;

template <class R, class Acc>
TRACERT_INLINE Acc finishSequence(SequenceState<R, Acc> *state, int64_t count) {
  if (state->blocks == 0) {
    return count == 0 ? emptyOf<R, Acc> : reduceBlock<R>(state->buffer, count);
  }
  if (count != 0) {
    state->tree.push(reduceBlock<R>(state->buffer, count));
  }
  return state->tree.finish();
}

#if defined(__AVX512F__)
template <class T> TRACERT_INLINE int64_t packVector(T *to, Vec<T, 16> values, uint32_t bits) {
  if constexpr (sizeof(T) == 8) {
    Vec<T, 8> low = __builtin_shufflevector(values, values, 0, 1, 2, 3, 4, 5, 6, 7);
    Vec<T, 8> high = __builtin_shufflevector(values, values, 8, 9, 10, 11, 12, 13, 14, 15);
    auto pack = [](Vec<T, 8> half, uint32_t mask) {
      return _mm512_maskz_compress_epi64(static_cast<__mmask8>(mask), bitCast<__m512i>(half));
    };
    int64_t lowCount = __builtin_popcount(bits & 0xFF);
    storeUnaligned(to, pack(low, bits));
    storeUnaligned(to + lowCount, pack(high, bits >> 8));
  } else {
    auto words = convertLanes<uint32_t>(bitCast<UnsignedLike<Vec<T, 16>>>(values));
    auto packed = bitCast<Vec<uint32_t, 16>>(
        _mm512_maskz_compress_epi32(static_cast<__mmask16>(bits), bitCast<__m512i>(words)));
    storeUnaligned(to, convertLanes<typename IntOfSize<sizeof(T), false>::Type>(packed));
  }
  return __builtin_popcount(bits);
}
#elif defined(__aarch64__)
/// NEON has no compress: store each lane, step if it is selected.
template <class T> TRACERT_INLINE int64_t packVector(T *to, Vec<T, 8> values, uint32_t bits) {
  int64_t written = 0;
#pragma clang loop unroll(full)
  for (int lane = 0; lane < 8; ++lane) {
    to[written] = values[lane];
    written += (bits >> lane) & 1;
  }
  return written;
}
#else
/// The 4-byte words whose byte in `selectedBytes` is 0xFF, moved to the front: AVX2 has no
/// compress.
TRACERT_INLINE __m256i packWords(__m256i words, uint64_t selectedBytes) {
  uint64_t positions = _pext_u64(0x0706050403020100, selectedBytes);
  __m256i order = _mm256_cvtepu8_epi32(_mm_cvtsi64_si128(static_cast<int64_t>(positions)));
  return _mm256_permutevar8x32_epi32(words, order);
}

template <class T> TRACERT_INLINE int64_t packVector(T *to, Vec<T, 8> values, uint32_t bits) {
  if constexpr (sizeof(T) == 8) {
    Vec<T, 4> low = __builtin_shufflevector(values, values, 0, 1, 2, 3);
    Vec<T, 4> high = __builtin_shufflevector(values, values, 4, 5, 6, 7);
    // Two 4-byte words per element.
    auto pack = [](Vec<T, 4> half, uint32_t mask) {
      return packWords(bitCast<__m256i>(half), _pdep_u64(mask, 0x0001000100010001) * 0xFFFF);
    };
    int64_t lowCount = __builtin_popcount(bits & 0xF);
    storeUnaligned(to, pack(low, bits & 0xF));
    storeUnaligned(to + lowCount, pack(high, bits >> 4));
  } else {
    auto words = convertLanes<uint32_t>(bitCast<UnsignedLike<Vec<T, 8>>>(values));
    auto packed = bitCast<Vec<uint32_t, 8>>(
        packWords(bitCast<__m256i>(words), _pdep_u64(bits, 0x0101010101010101) * 0xFF));
    storeUnaligned(to, convertLanes<typename IntOfSize<sizeof(T), false>::Type>(packed));
  }
  return __builtin_popcount(bits);
}
#endif

/// Writes the lanes whose bit is set, packed, and as many bytes as the vector has. Returns how
/// many.
template <class T, int width>
TRACERT_INLINE int64_t packLanes(T *to, Vec<T, width> values, uint32_t bits) {
  if constexpr (width == 1) {
    *to = values;
    return bits & 1;
  } else {
    return packVector<T>(to, values, bits);
  }
}

/// Vectors of chains; a tree per lane.
template <class R, class Acc, int lanes>
using ColumnTree = BlockTree<Vec<Acc, lanes>, typename R::Op>;

} // namespace

#define INLINE extern "C" __attribute__((always_inline))
#define OUTLINE extern "C" __attribute__((noinline))

// An ordered reduction over a sequence: begin, append, finish. `count` is what the buffer holds.
#define SEQUENCE(name, acc, Acc)                                                                   \
  INLINE void tck_sequence_begin_##name##_##acc(SequenceState<reduction::name, Acc> *state) {      \
    state->blocks = 0;                                                                             \
  }                                                                                                \
  OUTLINE int64_t tck_sequence_flush_##name##_##acc(SequenceState<reduction::name, Acc> *state,    \
                                                    int64_t count) {                               \
    return flushFull(state, count);                                                                \
  }                                                                                                \
  OUTLINE Acc tck_sequence_finish_##name##_##acc(SequenceState<reduction::name, Acc> *state,       \
                                                 int64_t count) {                                  \
    return finishSequence(state, count);                                                           \
  }
#define SEQUENCE_APPEND(name, acc, Acc, lanes)                                                     \
  INLINE int64_t tck_sequence_append_##name##_##acc##_v##lanes(                                    \
      SequenceState<reduction::name, Acc> *state, int64_t count, const Vec<Acc, lanes> *values) {  \
    storeUnaligned(state->buffer + count, *values);                                                \
    count += lanes;                                                                                \
    return __builtin_expect(count >= kBlock, 0) ? tck_sequence_flush_##name##_##acc(state, count)  \
                                                : count;                                           \
  }                                                                                                \
  INLINE int64_t tck_sequence_append_where_##name##_##acc##_v##lanes(                              \
      SequenceState<reduction::name, Acc> *state, int64_t count, const Vec<Acc, lanes> *values,    \
      uint32_t bits) {                                                                             \
    count += packLanes<Acc, lanes>(state->buffer + count, *values, bits);                          \
    return __builtin_expect(count >= kBlock, 0) ? tck_sequence_flush_##name##_##acc(state, count)  \
                                                : count;                                           \
  }

// An ordered reduction of columns: a chain per lane in registers, pushed after each block of terms.
#define COLUMNS(name, acc, Acc, lanes)                                                             \
  static_assert(sizeof(ColumnTree<reduction::name, Acc, lanes>) <= kReductionStateBytes);          \
  INLINE void tck_columns_begin_##name##_##acc##_v##lanes(                                         \
      ColumnTree<reduction::name, Acc, lanes> *tree) {                                             \
    new (tree) ColumnTree<reduction::name, Acc, lanes>;                                            \
  }                                                                                                \
  OUTLINE void tck_columns_push_##name##_##acc##_v##lanes(                                         \
      ColumnTree<reduction::name, Acc, lanes> *tree, const Vec<Acc, lanes> *chain) {               \
    tree->push(*chain);                                                                            \
  }                                                                                                \
  INLINE void tck_columns_finish_##name##_##acc##_v##lanes(                                        \
      ColumnTree<reduction::name, Acc, lanes> *tree, Vec<Acc, lanes> *chain, int64_t terms) {      \
    /* The chain holds the last 1 to 4096 terms: of one block, it is the result. */                \
    if (terms > 0 && terms <= kBlock) {                                                            \
      return;                                                                                      \
    }                                                                                              \
    if (terms == 0) {                                                                              \
      *chain = splat<Vec<Acc, lanes>>(emptyOf<reduction::name, Acc>);                              \
      return;                                                                                      \
    }                                                                                              \
    tck_columns_push_##name##_##acc##_v##lanes(tree, chain);                                       \
    *chain = tree->finish();                                                                       \
  }

#define PACK(bytes, T, lanes)                                                                      \
  INLINE void tck_pack_b##bytes##_v##lanes(T *to, int64_t position, const Vec<T, lanes> *values,   \
                                           uint32_t bits) {                                        \
    packLanes<T, lanes>(to + position, *values, bits);                                             \
  }

#if KERNEL_LANES == 8
#define VECTOR(MACRO, ...) MACRO(__VA_ARGS__, 8)
#elif KERNEL_LANES == 16
#define VECTOR(MACRO, ...) MACRO(__VA_ARGS__, 16)
#endif
#define PACKS(lanes)                                                                               \
  PACK(1, uint8_t, lanes)                                                                          \
  PACK(2, uint16_t, lanes)                                                                         \
  PACK(4, uint32_t, lanes)                                                                         \
  PACK(8, uint64_t, lanes)
PACKS(1)
#if KERNEL_LANES == 8
PACKS(8)
#elif KERNEL_LANES == 16
PACKS(16)
#endif

#define ORDERED(name, acc, Acc)                                                                    \
  SEQUENCE(name, acc, Acc)                                                                         \
  SEQUENCE_APPEND(name, acc, Acc, 1)                                                               \
  VECTOR(SEQUENCE_APPEND, name, acc, Acc)                                                          \
  COLUMNS(name, acc, Acc, 1)                                                                       \
  VECTOR(COLUMNS, name, acc, Acc)
#define REDUCTION_true(name) ORDERED(name, f32, float) ORDERED(name, f64, double)
#define REDUCTION_false(name)
#define TRACERT_REDUCTION(name, combiner, start, empty, ordered, ...) REDUCTION_##ordered(name)
#include "tracert/generated/Reductions.inc"
#undef TRACERT_REDUCTION

INLINE void tck_errors_begin(IndexErrorRecord *record) {
  record->gather = std::numeric_limits<int64_t>::max();
}

/// Notes the lowest lane of `bits` (not 0) as failed, if it comes before what is noted.
OUTLINE void tck_errors_note(IndexErrorRecord *record, int64_t gather, int64_t access,
                             int64_t position, uint32_t bits) {
  position += __builtin_ctz(bits);
  bool isEarlier =
      gather < record->gather || (gather == record->gather && position < record->position);
  if (isEarlier) {
    *record = {gather, position, access};
  }
}

INLINE int32_t tck_errors_finish(const IndexErrorRecord *record, tracert::KernelFrame *frame) {
  if (record->gather == std::numeric_limits<int64_t>::max()) {
    return tracert::kKernelOk;
  }
  frame->errorPosition = record->position;
  frame->errorAccess = record->access;
  return tracert::kKernelIndexOutOfRange;
}
