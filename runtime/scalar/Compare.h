/// Compare.h: eq ne lt le gt ge, logical_and logical_or logical_not, where; one template each over
/// a lane type.
///
///   MaskOf<Lane> below = lt(x, limit);
///
/// Comparisons give mask lanes (the dtype bool). NaN is unequal to everything, itself too. False is
/// below True.
#pragma once

#include "Lanes.h"

namespace tracert::scalar::inline TRACERT_LEVEL {

template <class Lane> TRACERT_INLINE MaskOf<Lane> eq(Lane lhs, Lane rhs) {
  return toMask(comparable(lhs) == comparable(rhs));
}

template <class Lane> TRACERT_INLINE MaskOf<Lane> ne(Lane lhs, Lane rhs) {
  return toMask(comparable(lhs) != comparable(rhs));
}

template <class Lane> TRACERT_INLINE MaskOf<Lane> lt(Lane lhs, Lane rhs) {
  return toMask(comparable(lhs) < comparable(rhs));
}

template <class Lane> TRACERT_INLINE MaskOf<Lane> le(Lane lhs, Lane rhs) {
  return toMask(comparable(lhs) <= comparable(rhs));
}

template <class Lane> TRACERT_INLINE MaskOf<Lane> gt(Lane lhs, Lane rhs) {
  return toMask(comparable(lhs) > comparable(rhs));
}

template <class Lane> TRACERT_INLINE MaskOf<Lane> ge(Lane lhs, Lane rhs) {
  return toMask(comparable(lhs) >= comparable(rhs));
}

template <class Lane> TRACERT_INLINE Lane logical_and(Lane lhs, Lane rhs) {
  static_assert(isBoolLane<Lane>);
  return wrap<Lane>(lhs & rhs);
}

template <class Lane> TRACERT_INLINE Lane logical_or(Lane lhs, Lane rhs) {
  static_assert(isBoolLane<Lane>);
  return wrap<Lane>(lhs | rhs);
}

template <class Lane> TRACERT_INLINE Lane logical_not(Lane operand) {
  static_assert(isBoolLane<Lane>);
  if constexpr (widthOf<Lane> == 1) {
    return !operand;
  } else {
    return ~operand;
  }
}

/// Picks bits: a value passes unchanged, a NaN with its payload.
template <class Lane>
TRACERT_INLINE Lane where(MaskOf<Lane> condition, Lane whenTrue, Lane whenFalse) {
  return select(condition, whenTrue, whenFalse);
}

} // namespace tracert::scalar::inline TRACERT_LEVEL
