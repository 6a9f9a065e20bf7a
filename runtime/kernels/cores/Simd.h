/// Simd.h: the registers that reductions and matmul are written over, equal in all compilers.
///
///   using S = Simd<float>;
///   typename S::Register acc = S::splat(-0.0f);
///   acc = S::add(acc, S::load(pointer));
///
/// Whole registers of the level's widest kind; loads and stores take any alignment. fma is
/// scalar/Fma.h's fma_ per lane. load also widens the bits of float16 (uint16_t) and bfloat16
/// (char16_t). loadFirst reads `count` elements (fewer than a register) and no byte beyond; the
/// other lanes get the padding.
#pragma once

#include "tracert/scalar/Dtypes.h"
#include "tracert/scalar/Fma.h"

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#else
#error "Simd needs the registers of this processor"
#endif

namespace tracert::TRACERT_ISA {

template <class Element> struct Simd;

TRACERT_INLINE float toAccumulator(float value) { return value; }
TRACERT_INLINE float toAccumulator(uint16_t half) { return scalar::halfBitsToFloat(half); }
TRACERT_INLINE float toAccumulator(char16_t bfloat) { return scalar::bfloatBitsToFloat(bfloat); }
TRACERT_INLINE double toAccumulator(double value) { return value; }

/// loadFirst without masked loads.
template <class S, class Stored>
TRACERT_INLINE typename S::Register loadPadded(const Stored *p, int64_t count, Stored padding) {
  Stored values[S::width];
  for (int lane = 0; lane < S::width; ++lane) {
    values[lane] = lane < count ? p[lane] : padding;
  }
  return S::load(values);
}

#if defined(__AVX512F__)

template <> struct Simd<float> {
  using Register = __m512;
  static constexpr int width = 16;
  TRACERT_INLINE static Register load(const float *p) { return _mm512_loadu_ps(p); }
  TRACERT_INLINE static Register load(const uint16_t *p) {
    return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i *>(p)));
  }
  TRACERT_INLINE static Register load(const char16_t *p) {
    return widen(_mm256_loadu_si256(reinterpret_cast<const __m256i *>(p)));
  }
  TRACERT_INLINE static Register loadFirst(const float *p, int64_t count, float padding) {
    return _mm512_mask_loadu_ps(splat(padding), __mmask16((1u << count) - 1), p);
  }
  TRACERT_INLINE static Register loadFirst(const uint16_t *p, int64_t count, uint16_t padding) {
    return _mm512_cvtph_ps(_mm256_mask_loadu_epi16(_mm256_set1_epi16(short(padding)),
                                                   __mmask16((1u << count) - 1), p));
  }
  TRACERT_INLINE static Register loadFirst(const char16_t *p, int64_t count, char16_t padding) {
    return widen(_mm256_mask_loadu_epi16(_mm256_set1_epi16(short(padding)),
                                         __mmask16((1u << count) - 1), p));
  }
  TRACERT_INLINE static void store(float *p, Register r) { _mm512_storeu_ps(p, r); }
  TRACERT_INLINE static Register splat(float value) { return _mm512_set1_ps(value); }
  TRACERT_INLINE static Register add(Register a, Register b) { return _mm512_add_ps(a, b); }
  TRACERT_INLINE static Register fma(Register a, Register b, Register c) {
    return _mm512_fmadd_ps(a, b, c);
  }

private:
  TRACERT_INLINE static Register widen(__m256i bfloats) {
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(bfloats), 16));
  }
};

template <> struct Simd<double> {
  using Register = __m512d;
  static constexpr int width = 8;
  TRACERT_INLINE static Register load(const double *p) { return _mm512_loadu_pd(p); }
  TRACERT_INLINE static Register loadFirst(const double *p, int64_t count, double padding) {
    return _mm512_mask_loadu_pd(splat(padding), __mmask8((1u << count) - 1), p);
  }
  TRACERT_INLINE static void store(double *p, Register r) { _mm512_storeu_pd(p, r); }
  TRACERT_INLINE static Register splat(double value) { return _mm512_set1_pd(value); }
  TRACERT_INLINE static Register add(Register a, Register b) { return _mm512_add_pd(a, b); }
  TRACERT_INLINE static Register fma(Register a, Register b, Register c) {
    return _mm512_fmadd_pd(a, b, c);
  }
};

#elif defined(__AVX2__)

template <> struct Simd<float> {
  using Register = __m256;
  static constexpr int width = 8;
  TRACERT_INLINE static Register load(const float *p) { return _mm256_loadu_ps(p); }
  TRACERT_INLINE static Register load(const uint16_t *p) {
    return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i *>(p)));
  }
  TRACERT_INLINE static Register load(const char16_t *p) {
    __m128i bfloats = _mm_loadu_si128(reinterpret_cast<const __m128i *>(p));
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(bfloats), 16));
  }
  template <class Stored>
  TRACERT_INLINE static Register loadFirst(const Stored *p, int64_t count, Stored padding) {
    return loadPadded<Simd>(p, count, padding);
  }
  TRACERT_INLINE static void store(float *p, Register r) { _mm256_storeu_ps(p, r); }
  TRACERT_INLINE static Register splat(float value) { return _mm256_set1_ps(value); }
  TRACERT_INLINE static Register add(Register a, Register b) { return _mm256_add_ps(a, b); }
  TRACERT_INLINE static Register fma(Register a, Register b, Register c) {
    return _mm256_fmadd_ps(a, b, c);
  }
};

template <> struct Simd<double> {
  using Register = __m256d;
  static constexpr int width = 4;
  TRACERT_INLINE static Register load(const double *p) { return _mm256_loadu_pd(p); }
  template <class Stored>
  TRACERT_INLINE static Register loadFirst(const Stored *p, int64_t count, Stored padding) {
    return loadPadded<Simd>(p, count, padding);
  }
  TRACERT_INLINE static void store(double *p, Register r) { _mm256_storeu_pd(p, r); }
  TRACERT_INLINE static Register splat(double value) { return _mm256_set1_pd(value); }
  TRACERT_INLINE static Register add(Register a, Register b) { return _mm256_add_pd(a, b); }
  TRACERT_INLINE static Register fma(Register a, Register b, Register c) {
    return _mm256_fmadd_pd(a, b, c);
  }
};

#elif defined(__aarch64__)

template <> struct Simd<float> {
  using Register = float32x4_t;
  static constexpr int width = 4;
  TRACERT_INLINE static Register load(const float *p) { return vld1q_f32(p); }
  TRACERT_INLINE static Register load(const uint16_t *p) {
    return vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(p)));
  }
  TRACERT_INLINE static Register load(const char16_t *p) {
    uint16x4_t bfloats = vld1_u16(reinterpret_cast<const uint16_t *>(p));
    return vreinterpretq_f32_u32(vshlq_n_u32(vmovl_u16(bfloats), 16));
  }
  template <class Stored>
  TRACERT_INLINE static Register loadFirst(const Stored *p, int64_t count, Stored padding) {
    return loadPadded<Simd>(p, count, padding);
  }
  TRACERT_INLINE static void store(float *p, Register r) { vst1q_f32(p, r); }
  TRACERT_INLINE static Register splat(float value) { return vdupq_n_f32(value); }
  TRACERT_INLINE static Register add(Register a, Register b) { return vaddq_f32(a, b); }
  TRACERT_INLINE static Register fma(Register a, Register b, Register c) {
    return vfmaq_f32(c, a, b);
  }
};

template <> struct Simd<double> {
  using Register = float64x2_t;
  static constexpr int width = 2;
  TRACERT_INLINE static Register load(const double *p) { return vld1q_f64(p); }
  template <class Stored>
  TRACERT_INLINE static Register loadFirst(const Stored *p, int64_t count, Stored padding) {
    return loadPadded<Simd>(p, count, padding);
  }
  TRACERT_INLINE static void store(double *p, Register r) { vst1q_f64(p, r); }
  TRACERT_INLINE static Register splat(double value) { return vdupq_n_f64(value); }
  TRACERT_INLINE static Register add(Register a, Register b) { return vaddq_f64(a, b); }
  TRACERT_INLINE static Register fma(Register a, Register b, Register c) {
    return vfmaq_f64(c, a, b);
  }
};

#else

template <> struct Simd<float> {
  using Register = __m128;
  static constexpr int width = 4;
  TRACERT_INLINE static Register load(const float *p) { return _mm_loadu_ps(p); }
  template <class Narrow> TRACERT_INLINE static Register load(const Narrow *p) {
    float values[width];
    for (int lane = 0; lane < width; ++lane) {
      values[lane] = toAccumulator(p[lane]);
    }
    return _mm_loadu_ps(values);
  }
  template <class Stored>
  TRACERT_INLINE static Register loadFirst(const Stored *p, int64_t count, Stored padding) {
    return loadPadded<Simd>(p, count, padding);
  }
  TRACERT_INLINE static void store(float *p, Register r) { _mm_storeu_ps(p, r); }
  TRACERT_INLINE static Register splat(float value) { return _mm_set1_ps(value); }
  TRACERT_INLINE static Register add(Register a, Register b) { return _mm_add_ps(a, b); }
  TRACERT_INLINE static Register fma(Register a, Register b, Register c) {
    float as[width], bs[width], cs[width];
    _mm_storeu_ps(as, a);
    _mm_storeu_ps(bs, b);
    _mm_storeu_ps(cs, c);
    for (int lane = 0; lane < width; ++lane) {
      cs[lane] = scalar::fma_(as[lane], bs[lane], cs[lane]);
    }
    return _mm_loadu_ps(cs);
  }
};

template <> struct Simd<double> {
  using Register = __m128d;
  static constexpr int width = 2;
  TRACERT_INLINE static Register load(const double *p) { return _mm_loadu_pd(p); }
  template <class Stored>
  TRACERT_INLINE static Register loadFirst(const Stored *p, int64_t count, Stored padding) {
    return loadPadded<Simd>(p, count, padding);
  }
  TRACERT_INLINE static void store(double *p, Register r) { _mm_storeu_pd(p, r); }
  TRACERT_INLINE static Register splat(double value) { return _mm_set1_pd(value); }
  TRACERT_INLINE static Register add(Register a, Register b) { return _mm_add_pd(a, b); }
  TRACERT_INLINE static Register fma(Register a, Register b, Register c) {
    double as[width], bs[width], cs[width];
    _mm_storeu_pd(as, a);
    _mm_storeu_pd(bs, b);
    _mm_storeu_pd(cs, c);
    for (int lane = 0; lane < width; ++lane) {
      cs[lane] = scalar::fma_(as[lane], bs[lane], cs[lane]);
    }
    return _mm_loadu_pd(cs);
  }
};

#endif

} // namespace tracert::TRACERT_ISA
