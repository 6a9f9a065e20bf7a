/// Arithmetic.h: add sub mul div minimum maximum, one template each over a lane type (Lanes.h).
///
///   add(1.0f, 2.0f);
///
/// Integers wrap (built with -fwrapv). bool: add is or, mul is and. div is for float lanes.
#pragma once

#include "Lanes.h"

namespace tracert::scalar::inline TRACERT_LEVEL {

template <class Lane> TRACERT_INLINE Lane add(Lane lhs, Lane rhs) {
  if constexpr (isBoolLane<Lane>) {
    return wrap<Lane>(lhs | rhs);
  } else {
    return wrap<Lane>(lhs + rhs);
  }
}

template <class Lane> TRACERT_INLINE Lane sub(Lane lhs, Lane rhs) {
  static_assert(!isBoolLane<Lane>, "bool has no subtraction");
  return wrap<Lane>(lhs - rhs);
}

template <class Lane> TRACERT_INLINE Lane mul(Lane lhs, Lane rhs) {
  if constexpr (isBoolLane<Lane>) {
    return wrap<Lane>(lhs & rhs);
  } else {
    return wrap<Lane>(lhs * rhs);
  }
}

template <class Lane> TRACERT_INLINE Lane div(Lane lhs, Lane rhs) {
  static_assert(isFloatLane<Lane>, "true division is on floats; integers are cast before it");
  return wrap<Lane>(lhs / rhs);
}

template <class Lane> TRACERT_INLINE Lane square(Lane x) { return mul(x, x); }

/// NaN if either is; -0.0 is below +0.0.
template <class Lane> TRACERT_INLINE Lane minimum(Lane lhs, Lane rhs) {
  if constexpr (isBoolLane<Lane>) {
    return wrap<Lane>(lhs & rhs);
  } else if constexpr (isFloatLane<Lane>) {
    // Equal: only zeros differ in bits, and or keeps the sign. Unordered: NaN or anything is NaN.
    using Bits = UnsignedLike<Lane>;
    Lane merged = bitCast<Lane>(wrap<Bits>(bitCast<Bits>(lhs) | bitCast<Bits>(rhs)));
    return select(toMask(lhs < rhs), lhs, select(toMask(rhs < lhs), rhs, merged));
  } else {
    return select(toMask(rhs < lhs), rhs, lhs);
  }
}

/// NaN if either is; +0.0 is above -0.0.
template <class Lane> TRACERT_INLINE Lane maximum(Lane lhs, Lane rhs) {
  if constexpr (isBoolLane<Lane>) {
    return wrap<Lane>(lhs | rhs);
  } else if constexpr (isFloatLane<Lane>) {
    // Equal: only zeros differ in bits, and and clears the sign. Unordered: the sum is NaN.
    using Bits = UnsignedLike<Lane>;
    Lane merged = bitCast<Lane>(wrap<Bits>(bitCast<Bits>(lhs) & bitCast<Bits>(rhs)));
    Lane unequal =
        select(toMask(lhs < rhs), rhs, select(toMask(rhs < lhs), lhs, wrap<Lane>(lhs + rhs)));
    return select(toMask(lhs == rhs), merged, unequal);
  } else {
    return select(toMask(lhs < rhs), rhs, lhs);
  }
}

} // namespace tracert::scalar::inline TRACERT_LEVEL
