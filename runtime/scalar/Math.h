/// Math.h: exp log tanh sqrt, one template each over float and double lanes.
///
///   Vec<float, 16> y = tanh(x);
///
/// Branch-free, for every argument: subnormal results, -0.0, inf and NaN included. Measured bounds
/// stand in Numbers.md. Only IEEE operations and fma_, in one written order: every compiler, ISA
/// and lane width gives the same bits. Integers come from floats by adding 1.5 * 2^mantissa, which
/// is defined for NaN too.
#pragma once

#include "Fma.h"

namespace tracert::scalar::inline TRACERT_LEVEL {

template <class Element> struct MathConstants;

/// expTail approximates (exp(r) - 1 - r) / r^2 for |r| <= ln2 / 2, tanhTail (tanh(x) / x - 1) / x^2
/// over x^2 for |x| < tanhSplit, logTail (atanh(s) - s) * 2 / s^3 over s^2 for the s that log uses;
/// all lowest power first, interpolated at Chebyshev nodes with 60 digits.
template <> struct MathConstants<float> {
  static constexpr float roundMagic = 0x1.8p23f;
  static constexpr int mantissaBits = 23;
  static constexpr int exponentBias = 127;
  static constexpr float log2OfE = 0x1.715476p+0f;
  static constexpr float ln2High = 0x1.62e43p-1f;
  static constexpr float ln2Low = -0x1.05c61p-29f;
  static constexpr float expLowest = -105.0f;
  static constexpr float expHighest = 90.0f;
  static constexpr float expTail[] = {0x1.00000001p-1f,   0x1.5555555a8p-3f, 0x1.5554e8a22p-5f,
                                      0x1.1110e0c5c8p-7f, 0x1.6d43af18p-10f, 0x1.a1256cd2fp-13f};
  static constexpr float tanhSplit = 0.625f;
  static constexpr float tanhOne = 20.0f;
  static constexpr float tanhTail[] = {-0x1.55555539ap-2f, 0x1.1110e919f8p-3f,  -0x1.ba08c4e66p-5f,
                                       0x1.64a9766b3ap-6f, -0x1.116a168e18p-7f, 0x1.2c83c002p-9f};
  static constexpr float smallestNormal = 0x1p-126f;
  static constexpr int subnormalBits = 24;
  static constexpr float sqrtHalf = 0x1.6a09e6p-1f;
  static constexpr float logTail[] = {0x1.5555554bb2b2cp-1f, 0x1.9999eb5d84f14p-2f,
                                      0x1.245c438323e9ap-2f, 0x1.ddced7078dd3ap-3f};
};

template <> struct MathConstants<double> {
  static constexpr double roundMagic = 0x1.8p52;
  static constexpr int mantissaBits = 52;
  static constexpr int exponentBias = 1023;
  static constexpr double log2OfE = 0x1.71547652b82fep+0;
  static constexpr double ln2High = 0x1.62e42fefa39efp-1;
  static constexpr double ln2Low = 0x1.abc9e3b39803fp-56;
  static constexpr double expLowest = -747.0;
  static constexpr double expHighest = 711.0;
  static constexpr double expTail[] = {
      0x1.0000000000000p-1,  0x1.5555555555557p-3,  0x1.5555555555556p-5,  0x1.11111111100bep-7,
      0x1.6c16c16c162c3p-10, 0x1.a01a01abf85abp-13, 0x1.a01a01a6e1e2ap-16, 0x1.71de01fdbf9cap-19,
      0x1.27e4db46cddd1p-22, 0x1.af4e554377204p-26, 0x1.1f7340dbc337ep-29};
  static constexpr double tanhSplit = 0.55;
  static constexpr double tanhOne = 22.0;
  static constexpr double tanhTail[] = {
      -0x1.5555555555555p-2,  0x1.1111111111109p-3,  -0x1.ba1ba1ba1a732p-5,  0x1.664f48822e9a5p-6,
      -0x1.226e3539b9272p-7,  0x1.d6d3c60009e9cp-9,  -0x1.7da25da5066b5p-10, 0x1.3547bfaa42508p-11,
      -0x1.f41d11ba745a0p-13, 0x1.8c93b7d5aba25p-14, -0x1.1adede7706052p-15, 0x1.08378067f032ap-17};
  static constexpr double smallestNormal = 0x1p-1022;
  static constexpr int subnormalBits = 53;
  static constexpr double sqrtHalf = 0x1.6a09e667f3bcdp-1;
  static constexpr double logTail[] = {
      0x1.5555555555555p-1, 0x1.9999999999a38p-2, 0x1.2492492476cccp-2, 0x1.c71c720159177p-3,
      0x1.745cf9048dd95p-3, 0x1.3b1c355a8f7a2p-3, 0x1.0fbe95d716020p-3, 0x1.0c039c49989c6p-3};
};

/// coefficients[0] + x * (coefficients[1] + x * ...), each step one fma_.
template <class Lane, int count>
TRACERT_INLINE Lane horner(Lane x, const ElementOf<Lane> (&coefficients)[count]) {
  Lane result = splat<Lane>(coefficients[count - 1]);
#pragma GCC unroll 16
  for (int power = count - 2; power >= 0; --power) {
    result = fma_(result, x, splat<Lane>(coefficients[power]));
  }
  return result;
}

/// exp(x) = (1 + fraction) * 2^exponent, |fraction| below 0.42; x within MathConstants' exp bounds,
/// or NaN.
template <class Lane> struct ExpParts {
  Lane fraction;
  SignedLike<Lane> exponent;
};

template <class Lane> TRACERT_INLINE ExpParts<Lane> expParts(Lane x) {
  using C = MathConstants<ElementOf<Lane>>;
  using Int = SignedLike<Lane>;
  Lane shifted = fma_(x, splat<Lane>(C::log2OfE), splat<Lane>(C::roundMagic));
  Lane whole = shifted - splat<Lane>(C::roundMagic);
  Lane rest = fma_(whole, splat<Lane>(-C::ln2High), x);
  rest = fma_(whole, splat<Lane>(-C::ln2Low), rest);
  Lane tail = horner(rest, C::expTail);
  Lane fraction = fma_(wrap<Lane>(rest * rest), tail, rest);
  // A NaN gives an exponent of no meaning; the fraction is NaN then.
  return {fraction, wrap<Int>(bitCast<Int>(shifted) - bitCast<Int>(splat<Lane>(C::roundMagic)))};
}

/// 2^exponent for an exponent that gives a normal number.
template <class Lane> TRACERT_INLINE Lane powerOfTwo(SignedLike<Lane> exponent) {
  using C = MathConstants<ElementOf<Lane>>;
  using Bits = UnsignedLike<Lane>;
  Bits biased = convertLanes<ElementOf<Bits>>(exponent) + ElementOf<Bits>(C::exponentBias);
  return bitCast<Lane>(wrap<Bits>(biased << C::mantissaBits));
}

template <class Lane> TRACERT_INLINE Lane exp(Lane x) {
  using C = MathConstants<ElementOf<Lane>>;
  Lane bounded = select(toMask(x > C::expHighest), splat<Lane>(C::expHighest), x);
  bounded = select(toMask(bounded < C::expLowest), splat<Lane>(C::expLowest), bounded);
  ExpParts<Lane> parts = expParts(bounded);
  // Two steps: 2^exponent itself may be subnormal or inf where the result is not.
  SignedLike<Lane> half = parts.exponent >> 1;
  Lane mantissa = parts.fraction + splat<Lane>(1);
  return mantissa * powerOfTwo<Lane>(half) * powerOfTwo<Lane>(parts.exponent - half);
}

/// x = m * 2^k, m around 1: log(x) = k ln2 + f - f^2/2 + s (f^2/2 + R(s^2)) with f = m - 1 and
/// s = f / (2 + f), the arrangement of FDLIBM's e_log.c. -inf of zeros, NaN below.
template <class Lane> TRACERT_INLINE Lane log(Lane x) {
  using Element = ElementOf<Lane>;
  using C = MathConstants<Element>;
  using Int = SignedLike<Lane>;
  auto isSmall = toMask(x < C::smallestNormal);
  Lane scaled =
      select(isSmall, wrap<Lane>(x * splat<Lane>(Element(int64_t(1) << C::subnormalBits))), x);
  Int bits = bitCast<Int>(scaled);
  Int exponent = (bits - bitCast<Int>(splat<Lane>(C::sqrtHalf))) >> C::mantissaBits;
  Lane mantissa = bitCast<Lane>(wrap<Int>(bits - (exponent << C::mantissaBits)));
  // Exact, as everywhere here, by way of the mantissa of a large number.
  Lane whole = bitCast<Lane>(wrap<Int>(exponent + bitCast<Int>(splat<Lane>(C::roundMagic)))) -
               splat<Lane>(C::roundMagic);
  whole = whole - select(isSmall, splat<Lane>(Element(C::subnormalBits)), splat<Lane>(0));

  Lane f = mantissa - splat<Lane>(1);
  Lane s = f / (f + splat<Lane>(2));
  Lane square = s * s;
  Lane tail = square * horner(square, C::logTail);
  Lane halfF = f * splat<Lane>(0.5f);
  Lane half = halfF * f;
  Lane halfLow = fma_(halfF, f, wrap<Lane>(-half));
  Lane inner = fma_(s, wrap<Lane>(half + tail), wrap<Lane>(whole * splat<Lane>(C::ln2Low)));
  Lane rest = f - ((half - inner) + halfLow);
  Lane result = fma_(whole, splat<Lane>(C::ln2High), rest);

  constexpr Element infinity = Element(__builtin_inf());
  result = select(toMask(x < infinity), result, x);
  Lane outside = select(toMask(x == Element(0)), splat<Lane>(-infinity),
                        splat<Lane>(Element(__builtin_nan(""))));
  return select(toMask(x > Element(0)), result, outside);
}

template <class Lane> TRACERT_INLINE Lane tanh(Lane x) {
  using C = MathConstants<ElementOf<Lane>>;
  using Bits = UnsignedLike<Lane>;
  constexpr ElementOf<Bits> signBit = ElementOf<Bits>(1) << (8 * sizeof(ElementOf<Bits>) - 1);
  Bits sign = bitCast<Bits>(x) & signBit;
  Lane magnitude = bitCast<Lane>(wrap<Bits>(bitCast<Bits>(x) & ~signBit));

  Lane square = magnitude * magnitude;
  Lane small = fma_(wrap<Lane>(magnitude * square), horner(square, C::tanhTail), magnitude);

  Lane twice = magnitude + magnitude;
  Lane bounded = select(toMask(twice > 2 * C::tanhOne), splat<Lane>(2 * C::tanhOne), twice);
  ExpParts<Lane> parts = expParts(bounded);
  Lane power = powerOfTwo<Lane>(parts.exponent);
  // exp(2|x|) + 1 in two parts; power + 1 is exact wherever the quotient still matters.
  Lane powerPlusOne = power + splat<Lane>(1);
  Lane divisor = fma_(parts.fraction, power, powerPlusOne);
  Lane divisorLow = fma_(parts.fraction, power, wrap<Lane>(powerPlusOne - divisor));
  Lane quotient = splat<Lane>(2) / divisor;
  // What the quotient and 1 - quotient lost, added back before the last rounding.
  Lane remainder = fma_(wrap<Lane>(-quotient), divisor, splat<Lane>(2));
  remainder = fma_(wrap<Lane>(-quotient), divisorLow, remainder);
  Lane correction = remainder * (quotient * splat<Lane>(0.5f));
  Lane difference = splat<Lane>(1) - quotient;
  Lane differenceLow = (splat<Lane>(1) - difference) - quotient;
  Lane large = difference + (differenceLow - correction);

  Lane result = select(toMask(magnitude < C::tanhSplit), small, large);
  return bitCast<Lane>(wrap<Bits>(bitCast<Bits>(result) | sign));
}

template <class Lane> TRACERT_INLINE Lane sqrt(Lane x) {
#if TRACERT_VECTOR_LANES
  return __builtin_elementwise_sqrt(x);
#else
  if constexpr (std::is_same_v<Lane, float>) {
    return __builtin_sqrtf(x);
  } else {
    return __builtin_sqrt(x);
  }
#endif
}

} // namespace tracert::scalar::inline TRACERT_LEVEL
