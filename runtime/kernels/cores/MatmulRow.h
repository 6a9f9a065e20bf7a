/// MatmulRow.h: one row times a matrix whose rows are contiguous, read once from front to back.
///
///   multiplyRow(a, aDepthStride, b, bDepthStride, depth, columns, c);
///
/// The chains of matmul, kept in C itself: a tile would use one of its rows and read the matrix in
/// narrow panels. Strides in bytes; `c` holds `columns` elements next to one another.
#pragma once

#include "Simd.h"

#include <cstring>

namespace tracert::TRACERT_ISA {

/// Adds the products of `terms` rows of the matrix, in order, to every chain.
template <int terms, class Element>
TRACERT_INLINE void addRowTerms(const char *a, int64_t aDepthStride, const char *b,
                                int64_t bDepthStride, int64_t columns, Element *c) {
  using S = Simd<Element>;
  typename S::Register left[terms];
  const Element *right[terms];
#pragma GCC unroll 4
  for (int term = 0; term < terms; ++term) {
    Element value;
    std::memcpy(&value, a + term * aDepthStride, sizeof(value));
    left[term] = S::splat(value);
    right[term] = reinterpret_cast<const Element *>(b + term * bDepthStride);
  }
  int64_t column = 0;
  for (; column + S::width <= columns; column += S::width) {
    typename S::Register chain = S::load(c + column);
#pragma GCC unroll 4
    for (int term = 0; term < terms; ++term) {
      chain = S::fma(left[term], S::load(right[term] + column), chain);
    }
    S::store(c + column, chain);
  }
  if (column == columns) {
    return;
  }
  typename S::Register chain = S::loadFirst(c + column, columns - column, Element(0));
#pragma GCC unroll 4
  for (int term = 0; term < terms; ++term) {
    typename S::Register rest = S::loadFirst(right[term] + column, columns - column, Element(0));
    chain = S::fma(left[term], rest, chain);
  }
  Element last[S::width];
  S::store(last, chain);
  std::memcpy(c + column, last, size_t(columns - column) * sizeof(Element));
}

template <class Element>
[[gnu::noinline]] void multiplyRow(const char *a, int64_t aDepthStride, const char *b,
                                   int64_t bDepthStride, int64_t depth, int64_t columns,
                                   Element *c) {
  // As many chains as stay in the first level of the cache beside four rows of the matrix.
  constexpr int64_t block = 4096 / sizeof(Element);
  for (int64_t first = 0; first < columns; first += block) {
    int64_t count = columns - first < block ? columns - first : block;
    const char *rows = b + first * int64_t(sizeof(Element));
    Element *chains = c + first;
    std::memset(chains, 0, size_t(count) * sizeof(Element));
    int64_t k = 0;
    for (; k + 4 <= depth; k += 4) {
      addRowTerms<4>(a + k * aDepthStride, aDepthStride, rows + k * bDepthStride, bDepthStride,
                     count, chains);
    }
    for (; k < depth; ++k) {
      addRowTerms<1>(a + k * aDepthStride, aDepthStride, rows + k * bDepthStride, bDepthStride,
                     count, chains);
    }
  }
}

} // namespace tracert::TRACERT_ISA
