/// ElementwiseLoop.h: one loop over strided operands for any op on stored lanes.
///
///   runElementwise<Op>(inputs, inputStrides, output, outputStride, count);
///
/// Op has Result and Operand<i> (storage types), arity, and `template <int width> static call(...)`
/// on stored lanes. Contiguous and stride-0 operands are read in place; other strides go through
/// small buffers, a chunk at a time. clang computes on vector lanes, other compilers on scalar
/// lanes that they vectorise themselves.
#pragma once

#include "tracert/scalar/Lanes.h"

#include <array>
#include <cstring>
#include <tuple>
#include <utility>

namespace tracert::TRACERT_ISA {

#if TRACERT_VECTOR_LANES && defined(__AVX512F__)
inline constexpr int loopWidth = 16;
#elif TRACERT_VECTOR_LANES && defined(__AVX2__)
inline constexpr int loopWidth = 8;
#elif TRACERT_VECTOR_LANES
inline constexpr int loopWidth = 4;
#else
inline constexpr int loopWidth = 1;
#endif

/// Elements per chunk of the buffered path; a multiple of every loopWidth.
inline constexpr int64_t loopChunk = 256;

/// Bounded by the size, so that the copy becomes a single move.
template <class Element> TRACERT_INLINE Element loadElement(const char *source) {
  Element value;
  std::memcpy(&value, source, sizeof(value));
  return value;
}

// Out of line: shared by all ops on elements of a size, where inlining would repeat them in each.
template <size_t size>
[[gnu::noinline]] void gatherElements(const char *source, int64_t stride, int64_t count,
                                      char *target) {
  for (int64_t i = 0; i < count; ++i) {
    std::memcpy(target + i * int64_t(size), source + i * stride, size);
  }
}

template <size_t size>
[[gnu::noinline]] void scatterElements(const char *source, int64_t count, char *target,
                                       int64_t stride) {
  for (int64_t i = 0; i < count; ++i) {
    std::memcpy(target + i * stride, source + i * int64_t(size), size);
  }
}

template <class Array> TRACERT_INLINE char *bytes(Array &array) {
  return reinterpret_cast<char *>(array.data());
}

#if defined(__clang__)
#define TRACERT_LOOP_PRAGMA _Pragma("clang loop unroll(disable)")
#else
#define TRACERT_LOOP_PRAGMA _Pragma("GCC ivdep")
#endif

template <class Op, class Indices> struct LoopImpl;

template <class Op, size_t... index> struct LoopImpl<Op, std::index_sequence<index...>> {
  using Result = typename Op::Result;
  template <size_t i> using Operand = typename Op::template Operand<i>;

  /// Whole vectors. `steps` are bytes per vector: 0 repeats one vector.
  [[gnu::noinline]] static void vectors(const char *const *inputs, const int64_t *steps,
                                        char *output, int64_t vectorCount) {
    using scalar::Vec;
    std::array<const char *, sizeof...(index)> at = {inputs[index]...};
    TRACERT_LOOP_PRAGMA
    for (int64_t i = 0; i < vectorCount; ++i) {
      Vec<Result, loopWidth> result =
          Op::template call<loopWidth>(loadElement<Vec<Operand<index>, loopWidth>>(at[index])...);
      std::memcpy(output + i * int64_t(sizeof(result)), &result, sizeof(result));
      ((at[index] += steps[index]), ...);
    }
  }

  /// Contiguous operands of `count` elements; `isSplat` operands point at loopChunk equal elements
  /// (count is at most loopChunk then on scalar lanes).
  static void contiguous(const char *const *inputs, const bool *isSplat, char *output,
                         int64_t count) {
    if constexpr (loopWidth == 1) {
      Result *results = reinterpret_cast<Result *>(output);
      TRACERT_LOOP_PRAGMA
      for (int64_t i = 0; i < count; ++i) {
        results[i] =
            Op::template call<1>(reinterpret_cast<const Operand<index> *>(inputs[index])[i]...);
      }
    } else {
      int64_t steps[] = {(isSplat[index] ? 0 : int64_t(sizeof(Operand<index>)) * loopWidth)...};
      int64_t whole = count / loopWidth;
      vectors(inputs, steps, output, whole);
      int64_t rest = count - whole * loopWidth;
      if (rest == 0) {
        return;
      }
      // The tail is one more vector, of copies; its spare lanes hold zeros and are dropped.
      std::tuple<std::array<Operand<index>, loopWidth>...> operands = {};
      std::array<Result, loopWidth> results;
      (std::memcpy(std::get<index>(operands).data(), inputs[index] + whole * steps[index],
                   size_t(rest) * sizeof(Operand<index>)),
       ...);
      const char *tails[] = {bytes(std::get<index>(operands))...};
      vectors(tails, steps, bytes(results), 1);
      std::memcpy(output + whole * loopWidth * int64_t(sizeof(Result)), results.data(),
                  size_t(rest) * sizeof(Result));
    }
  }

  static void run(const void *const *inputs, const int64_t *inputStrides, void *output,
                  int64_t outputStride, int64_t count) {
    std::tuple<std::array<Operand<index>, loopChunk>...> buffers;
    std::array<Result, loopChunk> resultBuffer;
    bool isSplat[] = {(inputStrides[index] == 0)...};
    bool isDirect[] = {(inputStrides[index] == int64_t(sizeof(Operand<index>)))...};
    bool anySplat = (isSplat[index] || ...);
    bool allInPlace =
        ((isSplat[index] || isDirect[index]) && ...) && outputStride == int64_t(sizeof(Result));
    if (count <= 0) {
      return;
    }
    (void)(fillSplat<Operand<index>>(isSplat[index], inputs[index], std::get<index>(buffers)), ...);
    // Scalar lanes read a splat as loopChunk equal elements, vector lanes one vector again and
    // again.
    int64_t chunk = allInPlace && (loopWidth > 1 || !anySplat) ? count : loopChunk;
    for (int64_t begin = 0; begin < count; begin += chunk) {
      int64_t length = count - begin < chunk ? count - begin : chunk;
      const char *sources[] = {source<Operand<index>>(
          static_cast<const char *>(inputs[index]) + begin * inputStrides[index],
          inputStrides[index], length, std::get<index>(buffers))...};
      char *target = static_cast<char *>(output) + begin * outputStride;
      bool direct = outputStride == int64_t(sizeof(Result));
      contiguous(sources, isSplat, direct ? target : bytes(resultBuffer), length);
      if (!direct) {
        scatterElements<sizeof(Result)>(bytes(resultBuffer), length, target, outputStride);
      }
    }
  }

  template <class Element>
  static bool fillSplat(bool isSplat, const void *input, std::array<Element, loopChunk> &buffer) {
    if (isSplat) {
      gatherElements<sizeof(Element)>(static_cast<const char *>(input), 0,
                                      loopWidth > 1 ? loopWidth : loopChunk, bytes(buffer));
    }
    return isSplat;
  }

  template <class Element>
  static const char *source(const char *input, int64_t stride, int64_t length,
                            std::array<Element, loopChunk> &buffer) {
    if (stride == int64_t(sizeof(Element))) {
      return input;
    }
    if (stride != 0) {
      gatherElements<sizeof(Element)>(input, stride, length, bytes(buffer));
    }
    return bytes(buffer);
  }
};

template <class Op>
void runElementwise(const void *const *inputs, const int64_t *inputStrides, void *output,
                    int64_t outputStride, int64_t count) {
  LoopImpl<Op, std::make_index_sequence<Op::arity>>::run(inputs, inputStrides, output, outputStride,
                                                         count);
}

} // namespace tracert::TRACERT_ISA
