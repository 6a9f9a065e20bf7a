/// RowJoin.h: joins the lanes of several registers at once, each by halves (scalar/Reduction.h).
///
///   typename Simd<float>::Register rows[Simd<float>::width] = ...;
///   auto sums = joinRows(rows);  // lane r = joinLanes(the lanes of rows[r])
///
/// The same additions as one register at a time: halves of two registers share each instruction.
#pragma once

#include "Simd.h"

namespace tracert::TRACERT_ISA {

// A row's lane in the result is r = 8c + 4h + 2w + s: which bit a step joins follows from where its
// shuffle puts the halves of its two operands.
#if defined(__AVX512F__)

TRACERT_INLINE __m512 joinRows(const __m512 (&rows)[16]) {
  __m512 eights[8], fours[4], twos[2];
  for (int i = 0; i < 8; ++i) {
    int first = (i & 4) * 2 + (i & 3);
    eights[i] = _mm512_add_ps(_mm512_shuffle_f32x4(rows[first], rows[first + 4], 0x44),
                              _mm512_shuffle_f32x4(rows[first], rows[first + 4], 0xEE));
  }
  for (int i = 0; i < 4; ++i) {
    fours[i] = _mm512_add_ps(_mm512_shuffle_f32x4(eights[i], eights[i + 4], 0x88),
                             _mm512_shuffle_f32x4(eights[i], eights[i + 4], 0xDD));
  }
  for (int i = 0; i < 2; ++i) {
    __m512d even = _mm512_castps_pd(fours[2 * i]), odd = _mm512_castps_pd(fours[2 * i + 1]);
    twos[i] = _mm512_add_ps(_mm512_castpd_ps(_mm512_unpacklo_pd(even, odd)),
                            _mm512_castpd_ps(_mm512_unpackhi_pd(even, odd)));
  }
  return _mm512_add_ps(_mm512_shuffle_ps(twos[0], twos[1], 0x88),
                       _mm512_shuffle_ps(twos[0], twos[1], 0xDD));
}

TRACERT_INLINE __m512d joinRows(const __m512d (&rows)[8]) {
  __m512d fours[4], twos[2];
  for (int i = 0; i < 4; ++i) {
    int first = (i & 2) * 2 + (i & 1);
    fours[i] = _mm512_add_pd(_mm512_shuffle_f64x2(rows[first], rows[first + 2], 0x44),
                             _mm512_shuffle_f64x2(rows[first], rows[first + 2], 0xEE));
  }
  for (int i = 0; i < 2; ++i) {
    twos[i] = _mm512_add_pd(_mm512_shuffle_f64x2(fours[i], fours[i + 2], 0x88),
                            _mm512_shuffle_f64x2(fours[i], fours[i + 2], 0xDD));
  }
  return _mm512_add_pd(_mm512_unpacklo_pd(twos[0], twos[1]), _mm512_unpackhi_pd(twos[0], twos[1]));
}

#elif defined(__AVX2__)

TRACERT_INLINE __m256 joinRows(const __m256 (&rows)[8]) {
  __m256 fours[4], twos[2];
  for (int i = 0; i < 4; ++i) {
    fours[i] = _mm256_add_ps(_mm256_permute2f128_ps(rows[i], rows[i + 4], 0x20),
                             _mm256_permute2f128_ps(rows[i], rows[i + 4], 0x31));
  }
  for (int i = 0; i < 2; ++i) {
    __m256d even = _mm256_castps_pd(fours[2 * i]), odd = _mm256_castps_pd(fours[2 * i + 1]);
    twos[i] = _mm256_add_ps(_mm256_castpd_ps(_mm256_unpacklo_pd(even, odd)),
                            _mm256_castpd_ps(_mm256_unpackhi_pd(even, odd)));
  }
  return _mm256_add_ps(_mm256_shuffle_ps(twos[0], twos[1], 0x88),
                       _mm256_shuffle_ps(twos[0], twos[1], 0xDD));
}

TRACERT_INLINE __m256d joinRows(const __m256d (&rows)[4]) {
  __m256d twos[2];
  for (int i = 0; i < 2; ++i) {
    twos[i] = _mm256_add_pd(_mm256_permute2f128_pd(rows[i], rows[i + 2], 0x20),
                            _mm256_permute2f128_pd(rows[i], rows[i + 2], 0x31));
  }
  return _mm256_add_pd(_mm256_unpacklo_pd(twos[0], twos[1]), _mm256_unpackhi_pd(twos[0], twos[1]));
}

#elif defined(__aarch64__)

/// The same halves as below, gathered with zip: lane i is row i, joined 0 with 2 and 1 with 3.
TRACERT_INLINE float32x4_t joinRows(const float32x4_t (&rows)[4]) {
  float64x2_t twos[2];
  for (int i = 0; i < 2; ++i) {
    float64x2_t even = vreinterpretq_f64_f32(rows[2 * i]);
    float64x2_t odd = vreinterpretq_f64_f32(rows[2 * i + 1]);
    twos[i] = vreinterpretq_f64_f32(vaddq_f32(vreinterpretq_f32_f64(vzip1q_f64(even, odd)),
                                              vreinterpretq_f32_f64(vzip2q_f64(even, odd))));
  }
  float32x4_t first = vreinterpretq_f32_f64(twos[0]), second = vreinterpretq_f32_f64(twos[1]);
  return vaddq_f32(vuzp1q_f32(first, second), vuzp2q_f32(first, second));
}

TRACERT_INLINE float64x2_t joinRows(const float64x2_t (&rows)[2]) {
  return vaddq_f64(vzip1q_f64(rows[0], rows[1]), vzip2q_f64(rows[0], rows[1]));
}

#else

TRACERT_INLINE __m128 joinRows(const __m128 (&rows)[4]) {
  __m128 twos[2];
  for (int i = 0; i < 2; ++i) {
    twos[i] = _mm_add_ps(_mm_movelh_ps(rows[2 * i], rows[2 * i + 1]),
                         _mm_movehl_ps(rows[2 * i + 1], rows[2 * i]));
  }
  return _mm_add_ps(_mm_shuffle_ps(twos[0], twos[1], 0x88), _mm_shuffle_ps(twos[0], twos[1], 0xDD));
}

TRACERT_INLINE __m128d joinRows(const __m128d (&rows)[2]) {
  return _mm_add_pd(_mm_unpacklo_pd(rows[0], rows[1]), _mm_unpackhi_pd(rows[0], rows[1]));
}

#endif

} // namespace tracert::TRACERT_ISA
