/// Dtypes.h: how each dtype is stored and with which lanes it computes.
///
///   using D = dtype::f16;
///   Vec<float, 16> x = loadLanes<D, 16>(bits);       // bits: 16 x uint16_t
///   Vec<uint16_t, 16> y = storeLanes<D, 16>(x + x);  // rounds once, to nearest even
///
/// Storage is what lies in memory; Compute is the lane element. They differ for bool (a byte 0 / 1,
/// one bit) and for float16 (16 bits, float). The conversions of float16 are exact or correctly
/// rounded; a NaN stays a NaN of any payload.
#pragma once

#include "Lanes.h"

#if defined(__F16C__)
#include <immintrin.h>
#endif

namespace tracert::scalar::inline TRACERT_LEVEL {

/// A float16 in memory. Never an arithmetic type.
struct Half {
  uint16_t bits;
};

/// Exact, with integer operations only.
template <class Bits> TRACERT_INLINE Like<float, Bits> widenHalf(Bits half) {
  using Word = Like<uint32_t, Bits>;
  using Float = Like<float, Bits>;
  Word word = convertLanes<uint32_t>(half);
  Word sign = (word & 0x8000u) << 16;
  Word magnitude = word & 0x7FFFu;
  Word normal = (magnitude << 13) + 0x38000000u;
  Word special = (magnitude << 13) + 0x70000000u;
  // A subnormal is a small integer times 2^-24: exact in float.
  Float unscaled = convertLanes<float>(convertLanes<int32_t>(magnitude));
  Word subnormal = bitCast<Word>(wrap<Float>(unscaled * splat<Float>(0x1p-24f)));
  Word result = select(toMask(magnitude < 0x0400u), subnormal, normal);
  result = select(toMask(magnitude >= 0x7C00u), special, result);
  return bitCast<Float>(wrap<Word>(result | sign));
}

/// Nearest, ties to even, with integer operations and one float addition.
template <class Float> TRACERT_INLINE Like<uint16_t, Float> narrowToHalf(Float value) {
  using Word = Like<uint32_t, Float>;
  Word word = bitCast<Word>(value);
  Word sign = (word >> 16) & 0x8000u;
  Word magnitude = word & 0x7FFFFFFFu;
  // Rounding at bit 13: half minus one, plus one when the kept last bit is odd.
  Word rounded = magnitude + 0xFFFu + ((magnitude >> 13) & 1u);
  Word normal = (rounded - 0x38000000u) >> 13;
  // Below 2^-14 adding 0.5 leaves the subnormal, rounded by the adder, in the low bits.
  Float shifted = bitCast<Float>(magnitude) + splat<Float>(0.5f);
  Word subnormal = bitCast<Word>(shifted) - 0x3F000000u;
  Word result = select(toMask(magnitude < 0x38800000u), subnormal, normal);
  result = select(toMask(magnitude >= 0x477FF000u), splat<Word>(0x7C00u), result);
  result = select(toMask(magnitude > 0x7F800000u), splat<Word>(0x7E00u), result);
  return convertLanes<uint16_t>(wrap<Word>(result | sign));
}

/// As widenHalf, by the ISA's instruction where there is one for the width.
template <class Bits> TRACERT_INLINE Like<float, Bits> halfBitsToFloat(Bits half) {
#if defined(__F16C__)
  if constexpr (widthOf<Bits> == 1) {
    return _cvtsh_ss(half);
  } else if constexpr (widthOf<Bits> == 8) {
    return bitCast<Like<float, Bits>>(_mm256_cvtph_ps(bitCast<__m128i>(half)));
  }
#if defined(__AVX512F__)
  else if constexpr (widthOf<Bits> == 16) {
    return bitCast<Like<float, Bits>>(_mm512_cvtph_ps(bitCast<__m256i>(half)));
  }
#endif
  else
#endif
  {
    return widenHalf(half);
  }
}

/// As narrowToHalf. The intrinsics, and not a conversion to _Float16: LLVM would fold that into
/// arithmetic on half.
template <class Float> TRACERT_INLINE Like<uint16_t, Float> floatToHalfBits(Float value) {
#if defined(__F16C__)
  if constexpr (widthOf<Float> == 1) {
    return _cvtss_sh(value, _MM_FROUND_TO_NEAREST_INT);
  } else if constexpr (widthOf<Float> == 8) {
    return bitCast<Like<uint16_t, Float>>(
        _mm256_cvtps_ph(bitCast<__m256>(value), _MM_FROUND_TO_NEAREST_INT));
  }
#if defined(__AVX512F__)
  else if constexpr (widthOf<Float> == 16) {
    return bitCast<Like<uint16_t, Float>>(
        _mm512_cvtps_ph(bitCast<__m512>(value), _MM_FROUND_TO_NEAREST_INT));
  }
#endif
  else
#endif
  {
    return narrowToHalf(value);
  }
}

/// One rounding from double: first to 24 bits with a sticky last bit, which float holds exactly.
template <class Double> TRACERT_INLINE Like<float, Double> doubleToStickyFloat(Double value) {
  using Bits = Like<uint64_t, Double>;
  Bits bits = bitCast<Bits>(value);
  Bits dropped = bits & splat<Bits>(0x1FFFFFFFu);
  Bits sticky = select(toMask(dropped != 0u), splat<Bits>(0x20000000u), splat<Bits>(0u));
  Bits kept = (bits & splat<Bits>(~uint64_t(0x1FFFFFFFu))) | sticky;
  return convertLanes<float>(bitCast<Double>(kept));
}

/// The dtypes by short name; the same names appear in the bitcode's symbols.
namespace dtype {
struct b1 {
  using Storage = uint8_t;
  using Compute = bool;
};
struct u8 {
  using Storage = uint8_t;
  using Compute = uint8_t;
};
struct i32 {
  using Storage = int32_t;
  using Compute = int32_t;
};
struct i64 {
  using Storage = int64_t;
  using Compute = int64_t;
};
struct f16 {
  using Storage = uint16_t;
  using Compute = float;
  static constexpr Storage one = 0x3C00;
  static constexpr Storage infinity = 0x7C00;
};
struct f32 {
  using Storage = float;
  using Compute = float;
};
struct f64 {
  using Storage = double;
  using Compute = double;
};

/// The dtype in which sums of D are accumulated: floats of 16 bits in f32, integers in 64 bits.
template <class D>
using Accumulator =
    std::conditional_t<std::is_floating_point_v<typename D::Compute>,
                       std::conditional_t<std::is_same_v<typename D::Compute, double>, f64, f32>,
                       i64>;
} // namespace dtype

/// M(short name, arguments...) for each dtype of a set; the sets are those that ElementwiseOps.inc
/// names.
#define TRACERT_FOR_BoolDType(M, ...) M(b1, __VA_ARGS__)
#define TRACERT_FOR_FloatDTypes(M, ...) M(f16, __VA_ARGS__) M(f32, __VA_ARGS__) M(f64, __VA_ARGS__)
#define TRACERT_FOR_NumericDTypes(M, ...)                                                          \
  M(u8, __VA_ARGS__) M(i32, __VA_ARGS__) M(i64, __VA_ARGS__) TRACERT_FOR_FloatDTypes(M, __VA_ARGS__)
#define TRACERT_FOR_AllDTypes(M, ...)                                                              \
  TRACERT_FOR_BoolDType(M, __VA_ARGS__) TRACERT_FOR_NumericDTypes(M, __VA_ARGS__)

template <class D, int width>
TRACERT_INLINE Vec<typename D::Compute, width> loadLanes(Vec<typename D::Storage, width> stored) {
  if constexpr (std::is_same_v<D, dtype::b1>) {
    return toMask(stored != uint8_t(0));
  } else if constexpr (std::is_same_v<D, dtype::f16>) {
    return halfBitsToFloat(stored);
  } else {
    return stored;
  }
}

template <class D, int width>
TRACERT_INLINE Vec<typename D::Storage, width> storeLanes(Vec<typename D::Compute, width> value) {
  if constexpr (std::is_same_v<D, dtype::b1>) {
    return convertLanes<uint8_t>(value);
  } else if constexpr (std::is_same_v<D, dtype::f16>) {
    return floatToHalfBits(value);
  } else {
    return value;
  }
}

} // namespace tracert::scalar::inline TRACERT_LEVEL
