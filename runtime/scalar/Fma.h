/// Fma.h: the one fused multiply-add of the number contract; no other code may contract a multiply
/// and an add.
///
///   acc = fma_(a, b, acc);  // a * b + acc, rounded once, on float and double lanes
///
/// One instruction from x86-64-v3 up and on aarch64. Below that float goes through double with
/// round to odd and double through libm's fma, with equal bits.
#pragma once

#include "Lanes.h"

#include <cmath>

namespace tracert::scalar::inline TRACERT_LEVEL {

#if !defined(__FMA__) && !defined(__NVPTX__) && !defined(__aarch64__)
#define TRACERT_EMULATED_FMA 1

/// float: the product is exact in double; the sum is rounded to odd, which makes the last rounding
/// correct.
template <class Lane> TRACERT_INLINE Lane emulatedFma(Lane a, Lane b, Lane c) {
  using Double = Like<double, Lane>;
  using Bits = Like<uint64_t, Lane>;
  Double product = convertLanes<double>(a) * convertLanes<double>(b);
  Double addend = convertLanes<double>(c);
  Double sum = product + addend;
  Double addendPart = sum - product;
  Double error = (product - (sum - addendPart)) + (addend - addendPart);
  Bits sumBits = bitCast<Bits>(sum);
  // Step one unit towards the exact value when the sum is inexact and its last bit is even.
  MaskOf<Lane> inexact = toMask((error > 0.0) | (error < 0.0));
  MaskOf<Lane> even = toMask((sumBits & 1u) == 0u);
  Bits away = sumBits + 1u;
  Bits toward = sumBits - 1u;
  Bits stepped = select(toMask((error > 0.0) == (sum > 0.0)), away, toward);
  Bits odd = select(wrap<MaskOf<Lane>>(inexact & even), stepped, sumBits);
  return convertLanes<float>(bitCast<Double>(odd));
}
#endif

template <class Lane> TRACERT_INLINE Lane fma_(Lane a, Lane b, Lane c) {
  static_assert(isFloatLane<Lane>);
#if defined(TRACERT_EMULATED_FMA)
  if constexpr (std::is_same_v<ElementOf<Lane>, float>) {
    return emulatedFma(a, b, c);
  } else if constexpr (widthOf<Lane> == 1) {
    return std::fma(a, b, c);
  } else {
    Lane result;
    for (int lane = 0; lane < widthOf<Lane>; ++lane) {
      result[lane] = std::fma(a[lane], b[lane], c[lane]);
    }
    return result;
  }
#elif TRACERT_VECTOR_LANES
  return __builtin_elementwise_fma(a, b, c);
#else
  if constexpr (std::is_same_v<Lane, float>) {
    return __builtin_fmaf(a, b, c);
  } else {
    return __builtin_fma(a, b, c);
  }
#endif
}

} // namespace tracert::scalar::inline TRACERT_LEVEL
