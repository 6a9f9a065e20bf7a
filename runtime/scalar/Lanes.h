/// Lanes.h: the lane types every elementwise op is written over.
///
///   template <class Lane> Lane twice(Lane x) { return wrap<Lane>(x + x); }
///   twice(2.0f);            // scalar lane, any C++20 compiler
///   twice(Vec<float, 16>);  // vector lanes, clang only
///
/// A lane type is bool, uint8_t, int32_t, int64_t, float, double, or (clang) an ext_vector_type of
/// one of them. bool is the dtype bool, one bit in registers; a comparison gives MaskOf<Lane>,
/// which is a lane type too. float16 is no lane type: Dtypes.h widens it to float and rounds after
/// each op. Every function here is pure and never traps.
#pragma once

#ifdef __FAST_MATH__
#error "the number contract (Numbers.md) does not hold under -ffast-math"
#endif

#include <cstdint>
#include <type_traits>

#if defined(__clang__)
#define TRACERT_VECTOR_LANES 1
#else
#define TRACERT_VECTOR_LANES 0
#endif

// One namespace per ISA level: a function that two levels share by name would be kept once by the
// linker, perhaps in the form that this machine cannot run.
#if defined(__AVX512F__)
#define TRACERT_LEVEL avx512
#elif defined(__AVX2__)
#define TRACERT_LEVEL v3
#else
#define TRACERT_LEVEL portable
#endif

#define TRACERT_INLINE [[gnu::always_inline]] inline

namespace tracert::scalar::inline TRACERT_LEVEL {

template <class Lane> struct LaneTraits {
  using Element = Lane;
  static constexpr int width = 1;
};

template <class Element, int width> struct LaneOf {
  using Type = Element;
  static_assert(width == 1, "vector lanes need clang");
};

#if TRACERT_VECTOR_LANES
template <class Element, int width>
using VectorOf = Element __attribute__((ext_vector_type(width)));

template <class E, int n> struct LaneTraits<E __attribute__((ext_vector_type(n)))> {
  using Element = E;
  static constexpr int width = n;
};
template <class Element, int width>
  requires(width > 1)
struct LaneOf<Element, width> {
  using Type = VectorOf<Element, width>;
};
#endif

/// `width` lanes of Element: Element itself for width 1.
template <class Element, int width> using Vec = typename LaneOf<Element, width>::Type;

template <class Lane> using ElementOf = typename LaneTraits<Lane>::Element;
template <class Lane> inline constexpr int widthOf = LaneTraits<Lane>::width;
/// As many lanes as Lane, of another element type.
template <class Element, class Lane> using Like = Vec<Element, widthOf<Lane>>;
template <class Lane> using MaskOf = Like<bool, Lane>;

template <class Lane> inline constexpr bool isBoolLane = std::is_same_v<ElementOf<Lane>, bool>;
template <class Lane> inline constexpr bool isFloatLane = std::is_floating_point_v<ElementOf<Lane>>;

template <int bytes, bool isSigned> struct IntOfSize;
template <> struct IntOfSize<1, true> {
  using Type = int8_t;
};
template <> struct IntOfSize<1, false> {
  using Type = uint8_t;
};
template <> struct IntOfSize<2, true> {
  using Type = int16_t;
};
template <> struct IntOfSize<2, false> {
  using Type = uint16_t;
};
template <> struct IntOfSize<4, true> {
  using Type = int32_t;
};
template <> struct IntOfSize<4, false> {
  using Type = uint32_t;
};
template <> struct IntOfSize<8, true> {
  using Type = int64_t;
};
template <> struct IntOfSize<8, false> {
  using Type = uint64_t;
};
/// Integer lanes of the same element size.
template <class Lane>
using SignedLike = Like<typename IntOfSize<sizeof(ElementOf<Lane>), true>::Type, Lane>;
template <class Lane>
using UnsignedLike = Like<typename IntOfSize<sizeof(ElementOf<Lane>), false>::Type, Lane>;

template <class To, class From> TRACERT_INLINE To bitCast(From value) {
  static_assert(sizeof(To) == sizeof(From));
  return __builtin_bit_cast(To, value);
}

/// Undoes C's promotion to int, so that narrow integers wrap.
template <class Lane, class Value> TRACERT_INLINE Lane wrap(Value value) {
  return static_cast<Lane>(value);
}

/// Lane-wise static_cast. Float to integer needs a value in range: see Cast.h for the total one.
template <class Element, class Lane> TRACERT_INLINE Like<Element, Lane> convertLanes(Lane value) {
#if TRACERT_VECTOR_LANES
  if constexpr (widthOf<Lane> > 1) {
    return __builtin_convertvector(value, Like<Element, Lane>);
  } else {
    return static_cast<Element>(value);
  }
#else
  return static_cast<Element>(value);
#endif
}

/// The result of a comparison (C++ bool, or a vector of 0 / -1) as mask lanes.
template <class Comparison> TRACERT_INLINE auto toMask(Comparison comparison) {
  return convertLanes<bool>(comparison);
}

template <class Lane> TRACERT_INLINE Lane splat(ElementOf<Lane> value) {
  return static_cast<Lane>(value);
}

/// mask ? whenTrue : whenFalse per lane; both sides are evaluated.
template <class Lane> TRACERT_INLINE Lane select(MaskOf<Lane> mask, Lane whenTrue, Lane whenFalse) {
#if TRACERT_VECTOR_LANES
  if constexpr (widthOf<Lane> > 1 && isBoolLane<Lane>) {
    return (mask & whenTrue) | (~mask & whenFalse);
  } else if constexpr (widthOf<Lane> > 1) {
    // A vector condition tests the sign bit, so 0 / 1 becomes 0 / -1.
    return -__builtin_convertvector(mask, SignedLike<Lane>) ? whenTrue : whenFalse;
  } else {
    return mask ? whenTrue : whenFalse;
  }
#else
  return mask ? whenTrue : whenFalse;
#endif
}

/// Lanes that compare in the usual order: bool as uint8, the rest as they are.
template <class Lane> TRACERT_INLINE auto comparable(Lane value) {
  if constexpr (isBoolLane<Lane>) {
    return convertLanes<uint8_t>(value);
  } else {
    return value;
  }
}

} // namespace tracert::scalar::inline TRACERT_LEVEL
