/// Cast.h: cast between any two dtypes, on stored lanes.
///
///   Vec<uint8_t, 16> bytes = cast<dtype::f32, dtype::u8, 16>(floats);
///
/// Total, never poison: float to integer truncates and saturates, NaN gives 0; integer to narrower
/// integer wraps; to bool is "not zero", so NaN is True; to float rounds once, to nearest even,
/// from every source (float16 from float64 and from int64 too); overflow gives inf.
#pragma once

#include "Dtypes.h"

#include <limits>

namespace tracert::scalar::inline TRACERT_LEVEL {

template <class To, class Lane> TRACERT_INLINE Like<To, Lane> saturatingToInt(Lane value) {
  using From = ElementOf<Lane>;
  using Result = Like<To, Lane>;
  // For the narrow types convert through int32, which both ISAs do in one instruction.
  using Wide = std::conditional_t<(sizeof(To) < 4), int32_t, To>;
  // 2^bits of the type: exact in every float type, and its negation is the lowest value of a signed
  // type.
  constexpr From limit = sizeof(To) == 8        ? From(0x1p63)
                         : sizeof(To) == 4      ? From(0x1p31)
                         : std::is_signed_v<To> ? From(128)
                                                : From(256);
  constexpr From lowest = std::is_signed_v<To> ? -limit : From(0);
  MaskOf<Lane> tooHigh = toMask(value >= limit);
  MaskOf<Lane> tooLow = toMask(value < lowest);
  MaskOf<Lane> inRange = toMask((value >= lowest) & (value < limit));
  Lane safe = select(inRange, value, splat<Lane>(From(0)));
  Result result = convertLanes<To>(convertLanes<Wide>(safe));
  result = select(tooHigh, splat<Result>(std::numeric_limits<To>::max()), result);
  return select(tooLow, splat<Result>(std::numeric_limits<To>::min()), result);
}

template <class From, class To, int width>
TRACERT_INLINE Vec<typename To::Storage, width> cast(Vec<typename From::Storage, width> stored) {
  using FromCompute = typename From::Compute;
  using ToCompute = typename To::Compute;
  Vec<FromCompute, width> value = loadLanes<From, width>(stored);
  if constexpr (std::is_same_v<From, To>) {
    return stored;
  } else if constexpr (std::is_same_v<ToCompute, bool>) {
    return convertLanes<uint8_t>(toMask(value != FromCompute(0)));
  } else if constexpr (std::is_same_v<To, dtype::f16> && std::is_same_v<From, dtype::f64>) {
    return floatToHalfBits(doubleToStickyFloat(value));
  } else if constexpr (std::is_same_v<To, dtype::f16> && std::is_integral_v<FromCompute> &&
                       sizeof(FromCompute) > 1) {
    // 2^17 overflows float16 as every larger value does, and float holds all that is left exactly.
    using Lane = Vec<FromCompute, width>;
    constexpr FromCompute bound = 1 << 17;
    Lane clamped = select(toMask(value > bound), splat<Lane>(bound), value);
    clamped = select(toMask(clamped < -bound), splat<Lane>(-bound), clamped);
    return floatToHalfBits(convertLanes<float>(convertLanes<int32_t>(clamped)));
  } else if constexpr (std::is_floating_point_v<FromCompute> && std::is_integral_v<ToCompute>) {
    return saturatingToInt<ToCompute>(value);
  } else {
    return storeLanes<To, width>(convertLanes<ToCompute>(value));
  }
}

} // namespace tracert::scalar::inline TRACERT_LEVEL
