/// Dtypes.h: how each dtype is stored and with which lanes it computes.
///
///   using D = dtype::f16;
///   Vec<float, 16> x = loadLanes<D, 16>(bits);       // bits: 16 x uint16_t
///   Vec<uint16_t, 16> y = storeLanes<D, 16>(x + x);  // rounds once, to nearest even
///
/// Storage is what lies in memory; Compute is the lane element. They differ for bool (a byte 0 / 1,
/// one bit) and for the narrow floats, float16 and bfloat16 (16 bits, float), whose conversions are
/// exact or correctly rounded; a NaN stays a NaN of any payload.
#pragma once

#include "Lanes.h"
#include "tracert/DType.h"
#include "tracert/generated/DTypeSets.h"

#if defined(__F16C__)
#include <immintrin.h>
#endif

namespace tracert::scalar::inline TRACERT_LEVEL {

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

/// Exact: a bfloat16 is the upper half of a float.
template <class Bits> TRACERT_INLINE Like<float, Bits> bfloatBitsToFloat(Bits bfloat) {
  using Word = Like<uint32_t, Bits>;
  return bitCast<Like<float, Bits>>(wrap<Word>(convertLanes<uint32_t>(bfloat) << 16));
}

/// Nearest, ties to even; the carry runs into the exponent, up to infinity.
template <class Float> TRACERT_INLINE Like<char16_t, Float> floatToBfloatBits(Float value) {
  using Word = Like<uint32_t, Float>;
  Word word = bitCast<Word>(value);
  Word rounded = (word + 0x7FFFu + ((word >> 16) & 1u)) >> 16;
  Word quiet = (word >> 16) | 0x40u;
  return convertLanes<char16_t>(
      select(toMask(value != value), wrap<Word>(quiet), wrap<Word>(rounded)));
}

/// Whether |a| < |b|; false for NaN.
template <class Lane> TRACERT_INLINE MaskOf<Lane> magnitudeLess(Lane a, Lane b) {
  using Bits = UnsignedLike<Lane>;
  Bits rest = splat<Bits>(ElementOf<Bits>(~ElementOf<Bits>(0)) >> 1);
  return toMask(bitCast<Lane>(wrap<Bits>(bitCast<Bits>(a) & rest)) <
                bitCast<Lane>(wrap<Bits>(bitCast<Bits>(b) & rest)));
}

/// One of the two floats around the double, that with an odd last bit when it is none itself:
/// rounded further to fewer bits, it gives what the double would.
template <class Double> TRACERT_INLINE Like<float, Double> doubleToOddFloat(Double value) {
  using Float = Like<float, Double>;
  using Word = Like<uint32_t, Double>;
  Float nearest = convertLanes<float>(value);
  Double back = convertLanes<double>(nearest);
  Word word = bitCast<Word>(nearest);
  // Both zero for a double that a float holds, and for NaN.
  Word isShort = convertLanes<uint32_t>(magnitudeLess(back, value));
  Word isLong = convertLanes<uint32_t>(magnitudeLess(value, back));
  Word isEven = ~word & 1u;
  return bitCast<Float>(wrap<Word>(word + (isShort & isEven) - (isLong & isEven)));
}

/// The tags of the dtypes; their names appear in the bitcode's symbols.
namespace dtype = ::tracert::dtype;

/// The bits of a narrow float as its lane, exactly.
template <class D, class Bits> TRACERT_INLINE auto widenFloat(Bits bits) {
  if constexpr (std::is_same_v<D, dtype::f16>) {
    return halfBitsToFloat(bits);
  } else {
    static_assert(std::is_same_v<D, dtype::bf16>);
    return bfloatBitsToFloat(bits);
  }
}

/// The lane as the bits of a narrow float, rounded once.
template <class D, class Lane> TRACERT_INLINE auto narrowFloat(Lane value) {
  if constexpr (std::is_same_v<D, dtype::f16>) {
    return floatToHalfBits(value);
  } else {
    static_assert(std::is_same_v<D, dtype::bf16>);
    return floatToBfloatBits(value);
  }
}

template <class D, int width>
TRACERT_INLINE Vec<typename D::Compute, width> loadLanes(Vec<typename D::Storage, width> stored) {
  if constexpr (isBoolTag<D>) {
    return toMask(stored != uint8_t(0));
  } else if constexpr (isNarrowFloatTag<D>) {
    return widenFloat<D>(stored);
  } else {
    return stored;
  }
}

template <class D, int width>
TRACERT_INLINE Vec<typename D::Storage, width> storeLanes(Vec<typename D::Compute, width> value) {
  if constexpr (isBoolTag<D>) {
    return convertLanes<uint8_t>(value);
  } else if constexpr (isNarrowFloatTag<D>) {
    return narrowFloat<D>(value);
  } else {
    return value;
  }
}

} // namespace tracert::scalar::inline TRACERT_LEVEL
