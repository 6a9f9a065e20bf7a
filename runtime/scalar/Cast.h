/// Cast.h: cast between any two dtypes, on stored lanes.
///
///   Vec<uint8_t, 16> bytes = cast<dtype::f32, dtype::u8, 16>(floats);
///
/// Total, never poison: float to integer truncates and saturates, NaN gives 0; integer to narrower
/// integer wraps; to bool is "not zero", so NaN is True; to float rounds once, to nearest even,
/// from every source (narrow floats from float64 and from int64 too); overflow gives inf.
#pragma once

#include "Dtypes.h"

#include <limits>

namespace tracert::scalar::inline TRACERT_LEVEL {

template <class To, class Lane> TRACERT_INLINE Like<To, Lane> saturatingToInt(Lane value) {
  using From = ElementOf<Lane>;
  using Result = Like<To, Lane>;
  // For the narrow types convert through int32, which all ISAs do in one instruction.
  using Wide = std::conditional_t<(sizeof(To) < 4), int32_t, To>;
  // One more than the greatest value: a power of two, so exact in every float type; its negation is
  // the lowest value of a signed type.
  constexpr From limit = From(2) * From(uint64_t(std::numeric_limits<To>::max() / 2 + 1));
  constexpr From lowest = std::is_signed_v<To> ? -limit : From(0);
  MaskOf<Lane> tooHigh = toMask(value >= limit);
  MaskOf<Lane> tooLow = toMask(value < lowest);
  MaskOf<Lane> inRange = toMask((value >= lowest) & (value < limit));
  Lane safe = select(inRange, value, splat<Lane>(From(0)));
  Result result = convertLanes<To>(convertLanes<Wide>(safe));
  result = select(tooHigh, splat<Result>(std::numeric_limits<To>::max()), result);
  return select(tooLow, splat<Result>(std::numeric_limits<To>::min()), result);
}

/// Drops the low bits of an integer of more than `kept` bits to odd: the last kept bit is set when
/// one that is dropped was. The result fits a float type of `kept` bits, and rounded further gives
/// what the integer would.
template <int kept, class Lane> TRACERT_INLINE Lane integerToOdd(Lane value) {
  using Element = ElementOf<Lane>;
  constexpr int dropped = 8 * sizeof(Element) - kept;
  if constexpr (dropped <= 0) {
    return value;
  } else {
    constexpr auto unit = Element(Element(1) << dropped);
    constexpr auto bound = Element(Element(1) << (kept - 1));
    MaskOf<Lane> isLong = toMask(value >= bound);
    if constexpr (std::is_signed_v<Element>) {
      isLong = wrap<MaskOf<Lane>>(isLong | toMask(value <= Element(-bound)));
    }
    Lane low = wrap<Lane>(value & Element(unit - 1));
    Lane high = wrap<Lane>(value & Element(~(unit - 1)));
    Lane odd = select(toMask(low != Element(0)), wrap<Lane>(high | unit), high);
    return select(isLong, odd, value);
  }
}

/// A number as a float from which every narrow float is one rounding away.
template <class Lane> TRACERT_INLINE Like<float, Lane> oddFloat(Lane value) {
  using Element = ElementOf<Lane>;
  if constexpr (std::is_same_v<Element, double>) {
    return doubleToOddFloat(value);
  } else if constexpr (sizeof(Element) == 8) {
    return doubleToOddFloat(convertLanes<double>(integerToOdd<53>(value)));
  } else if constexpr (sizeof(Element) == 4 && std::is_integral_v<Element>) {
    return convertLanes<float>(integerToOdd<24>(value));
  } else {
    return convertLanes<float>(value);
  }
}

template <class From, class To, int width>
TRACERT_INLINE Vec<typename To::Storage, width> cast(Vec<typename From::Storage, width> stored) {
  using FromCompute = typename From::Compute;
  using ToCompute = typename To::Compute;
  Vec<FromCompute, width> value = loadLanes<From, width>(stored);
  if constexpr (std::is_same_v<From, To>) {
    return stored;
  } else if constexpr (isBoolTag<To>) {
    return convertLanes<uint8_t>(toMask(value != FromCompute(0)));
  } else if constexpr (isNarrowFloatTag<To>) {
    return narrowFloat<To>(oddFloat(value));
  } else if constexpr (isFloatTag<From> && isIntegerTag<To>) {
    return saturatingToInt<ToCompute>(value);
  } else {
    return storeLanes<To, width>(convertLanes<ToCompute>(value));
  }
}

} // namespace tracert::scalar::inline TRACERT_LEVEL
