#include "tracert/Element.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace tracert {
namespace {

template <class T> T load(const void *data) {
  T value;
  std::memcpy(&value, data, sizeof value);
  return value;
}

uint64_t bitsAt(const void *data, DType dtype) {
  uint64_t bits = 0;
  std::memcpy(&bits, data, dtypeSize(dtype));
  return bits;
}

/// The exponent of the least normal float.
int leastExponent(DType dtype) {
  int exponentBits = static_cast<int>(8 * dtypeSize(dtype)) - 1 - dtypeRecord(dtype).fractionBits;
  return 2 - (1 << (exponentBits - 1));
}

/// A float of fewer bits than a double, from its fields.
double narrowFloat(uint64_t bits, DType dtype) {
  int fractionBits = dtypeRecord(dtype).fractionBits;
  uint64_t signBit = uint64_t(1) << (8 * dtypeSize(dtype) - 1);
  uint64_t magnitude = bits & ~signBit;
  uint64_t fraction = magnitude & ((uint64_t(1) << fractionBits) - 1);
  int exponent = static_cast<int>(magnitude >> fractionBits);
  double value = std::numeric_limits<double>::infinity();
  if (magnitude > infinityBits(dtype)) {
    value = std::numeric_limits<double>::quiet_NaN();
  } else if (magnitude != infinityBits(dtype)) {
    uint64_t hidden = exponent == 0 ? 0 : uint64_t(1) << fractionBits;
    value = std::ldexp(static_cast<double>(fraction + hidden),
                       std::max(exponent, 1) - 1 + leastExponent(dtype) - fractionBits);
  }
  return bits & signBit ? -value : value;
}

/// Counts `value` in units of the last place of its binade, which puts the rounding into one
/// nearbyint; a carry runs on into the exponent and, from the greatest float, to infinity.
uint64_t narrowBits(double value, DType dtype) {
  uint64_t signBit = uint64_t(1) << (8 * dtypeSize(dtype) - 1);
  uint64_t sign = std::signbit(value) ? signBit : 0;
  if (std::isnan(value)) {
    return sign | (infinityBits(dtype) + 1);
  }
  int fractionBits = dtypeRecord(dtype).fractionBits;
  double magnitude = std::fabs(value);
  if (magnitude == 0 || std::isinf(magnitude)) {
    return sign | (magnitude == 0 ? 0 : infinityBits(dtype));
  }
  int least = leastExponent(dtype);
  int exponent = std::max(std::ilogb(magnitude), least);
  if (exponent > -least + 1) {
    return sign | infinityBits(dtype);
  }
  auto units =
      static_cast<uint64_t>(std::nearbyint(std::ldexp(magnitude, fractionBits - exponent)));
  uint64_t bits = (static_cast<uint64_t>(exponent - least) << fractionBits) + units;
  return sign | std::min(bits, infinityBits(dtype));
}

} // namespace

int64_t integerAt(const void *data, DType dtype) {
  uint64_t bits = bitsAt(data, dtype);
  int shift = static_cast<int>(64 - 8 * dtypeSize(dtype));
  if (isSigned(dtype)) {
    return static_cast<int64_t>(bits << shift) >> shift;
  }
  return static_cast<int64_t>(std::min(bits, uint64_t(std::numeric_limits<int64_t>::max())));
}

std::string integerText(const void *data, DType dtype) {
  return isSigned(dtype) ? std::to_string(integerAt(data, dtype))
                         : std::to_string(bitsAt(data, dtype));
}

bool integerFits(int64_t integer, DType dtype) {
  int bits = static_cast<int>(8 * dtypeSize(dtype));
  if (!isInteger(dtype)) {
    return true;
  }
  if (isUnsigned(dtype)) {
    return integer >= 0 && (bits == 64 || integer >> bits == 0);
  }
  int64_t above = integer >> (bits - 1);
  return above == 0 || above == -1;
}

double floatAt(const void *data, DType dtype) {
  if (dtypeSize(dtype) == sizeof(double)) {
    return load<double>(data);
  }
  if (dtypeSize(dtype) == sizeof(float)) {
    return static_cast<double>(load<float>(data));
  }
  return narrowFloat(bitsAt(data, dtype), dtype);
}

bool isNaNAt(const void *data, DType dtype) {
  uint64_t signBit = uint64_t(1) << (8 * dtypeSize(dtype) - 1);
  return isFloat(dtype) && (bitsAt(data, dtype) & ~signBit) > infinityBits(dtype);
}

uint64_t floatBits(double value, DType dtype) {
  uint64_t bits = 0;
  if (dtypeSize(dtype) == sizeof(double)) {
    std::memcpy(&bits, &value, sizeof value);
    return bits;
  }
  if (dtypeSize(dtype) == sizeof(float)) {
    auto narrow = static_cast<float>(value);
    std::memcpy(&bits, &narrow, sizeof narrow);
    return bits;
  }
  return narrowBits(value, dtype);
}

uint64_t floatBitsOfInteger(int64_t integer, bool isUInt64, DType dtype) {
  auto bits = static_cast<uint64_t>(integer);
  bool isNegative = !isUInt64 && integer < 0;
  uint64_t magnitude = isNegative ? -bits : bits;
  if (dtypeSize(dtype) < sizeof(double)) {
    // Drops to odd what a double cannot hold: the rounding after that is the only one.
    constexpr uint64_t low = 0x7FF;
    bool isLong = magnitude >> 53 != 0;
    magnitude = isLong && (magnitude & low) ? (magnitude & ~low) | (low + 1) : magnitude;
  }
  auto value = static_cast<double>(magnitude);
  return floatBits(isNegative ? -value : value, dtype);
}

} // namespace tracert
