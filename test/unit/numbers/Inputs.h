/// Inputs.h: values that find differences, and the comparison "equal bits or both NaN".
///
///   std::vector<uint8_t> data = hardValues(DType::Float32, 1 << 20, /*seed=*/1);
///   EXPECT_EQ(countDifferent(DType::Float32, a, b, n), 0);
#pragma once

#include "tracert/DType.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

namespace numbers {

using tracert::DType;
using tracert::dtypeSize;
using tracert::kAllDTypes;

/// The name that bitcode symbols use.
inline const char *shortName(DType dtype) { return tracert::dtypeShortName(dtype).data(); }

template <class Value> void put(std::vector<uint8_t> &bytes, int64_t index, Value value) {
  std::memcpy(bytes.data() + index * int64_t(sizeof(Value)), &value, sizeof(Value));
}
template <class Value> Value get(const void *bytes, int64_t index) {
  Value value;
  std::memcpy(&value, static_cast<const char *>(bytes) + index * int64_t(sizeof(Value)),
              sizeof(Value));
  return value;
}

template <class Float> Float hardFloat(std::mt19937_64 &random) {
  using Bits = std::conditional_t<sizeof(Float) == 4, uint32_t, uint64_t>;
  using Limits = std::numeric_limits<Float>;
  static const Float special[] = {Float(0),
                                  Float(-0.0),
                                  Limits::infinity(),
                                  -Limits::infinity(),
                                  Limits::quiet_NaN(),
                                  Limits::denorm_min(),
                                  -Limits::denorm_min(),
                                  Limits::min(),
                                  Limits::max(),
                                  Limits::lowest(),
                                  Float(1),
                                  Float(-1),
                                  Float(0.5),
                                  Float(255.5),
                                  Float(256),
                                  Float(-1e-3),
                                  Float(65504),
                                  Float(65519.99),
                                  Float(65520),
                                  Float(5.9604645e-8),
                                  Float(2.9802322e-8),
                                  Float(0x1p31),
                                  Float(-0x1p31),
                                  Float(0x1p63),
                                  Float(-0x1p63),
                                  Float(88.7228),
                                  Float(-103.97)};
  switch (random() % 8) {
  case 0:
    return special[random() % std::size(special)];
  case 1: // subnormal
    return std::ldexp(Float(int64_t(random() % (1 << 22)) - (1 << 21)),
                      Limits::min_exponent - Limits::digits);
  case 2:
    return Float(double(int64_t(random()) >> 11) * 0x1p-52 * 800);
  case 3:
    return Float(double(int64_t(random()) >> 11) * 0x1p-52 * 4);
  default: { // any bits
    Bits bits = Bits(random());
    Float value;
    std::memcpy(&value, &bits, sizeof(value));
    return value;
  }
  }
}

template <class Integer> Integer edgeInteger(uint64_t random) {
  using Limits = std::numeric_limits<Integer>;
  const Integer edges[] = {0,
                           1,
                           Limits::max(),
                           Limits::min(),
                           Integer(Limits::max() - 1),
                           Integer(Limits::max() / 2 + 1)};
  return edges[random % std::size(edges)];
}

/// Special values, subnormals, moderate values, and random bits; small dtypes go through all bits.
inline std::vector<uint8_t> hardValues(DType dtype, int64_t count, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<uint8_t> bytes(size_t(count) * dtypeSize(dtype) + 64);
  for (int64_t i = 0; i < count; ++i) {
    uint64_t bits = random();
    tracert::visitDType(dtype, [&](auto tag) {
      using D = decltype(tag);
      using Storage = typename D::Storage;
      if constexpr (tracert::isBoolTag<D>) {
        put(bytes, i, Storage(bits & 1));
      } else if constexpr (tracert::isNarrowFloatTag<D>) {
        put(bytes, i, Storage(seed % 2 ? uint64_t(i) : bits));
      } else if constexpr (tracert::isFloatTag<D>) {
        put(bytes, i, hardFloat<Storage>(random));
      } else {
        // Of every length, and the greatest and least.
        constexpr int width = 8 * sizeof(Storage);
        int shift = sizeof(Storage) == 1 ? 0 : int(random() % width);
        put(bytes, i,
            random() % 16 == 0 ? edgeInteger<Storage>(bits) : Storage(Storage(bits) >> shift));
      }
    });
  }
  return bytes;
}

/// Finite values of mixed size and sign, so that every order of a sum gives other bits.
inline std::vector<uint8_t> summable(DType dtype, int64_t count, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<uint8_t> bytes = hardValues(dtype, count, seed);
  for (int64_t i = 0; i < count; ++i) {
    double value = std::ldexp(double(int64_t(random()) >> 11) * 0x1p-52, int(random() % 12) - 6);
    if (dtype == DType::Float16) {
      uint16_t half = uint16_t(random() & 0xBFFF) % 0x5000 | uint16_t(random() & 0x8000);
      put(bytes, i, half);
    } else if (dtype == DType::BFloat16) {
      // From 2^-15 to 2^16.
      put(bytes, i, uint16_t((random() & 0x8000) | (0x3800 + random() % 0x1000)));
    } else if (dtype == DType::Float32) {
      put(bytes, i, float(value));
    } else if (dtype == DType::Float64) {
      put(bytes, i, value);
    }
  }
  return bytes;
}

/// A narrow float by its definition, with no code of the library.
inline double narrowToDouble(DType dtype, uint16_t bits) {
  int fractionBits = dtype == DType::Float16 ? 10 : 7;
  int bias = dtype == DType::Float16 ? 15 : 127;
  int exponent = (bits & 0x7FFF) >> fractionBits, fraction = bits & ((1 << fractionBits) - 1);
  double magnitude = exponent == 2 * bias + 1
                         ? (fraction ? NAN : INFINITY)
                         : std::ldexp(double(fraction + (exponent ? 1 << fractionBits : 0)),
                                      std::max(exponent, 1) - bias - fractionBits);
  return bits & 0x8000 ? -magnitude : magnitude;
}

/// Any element, exactly.
inline long double exactValue(DType dtype, const void *data, int64_t index) {
  return tracert::visitDType(dtype, [&](auto tag) -> long double {
    using D = decltype(tag);
    auto stored = get<typename D::Storage>(data, index);
    if constexpr (tracert::isNarrowFloatTag<D>) {
      return narrowToDouble(dtype, uint16_t(stored));
    } else {
      return stored;
    }
  });
}

inline bool isNan(DType dtype, const void *data, int64_t index) {
  return tracert::isFloat(dtype) && std::isnan(exactValue(dtype, data, index));
}

/// How many elements differ; `first` gets the first one's index.
inline int64_t countDifferent(DType dtype, const void *a, const void *b, int64_t count,
                              int64_t *first = nullptr) {
  size_t size = dtypeSize(dtype);
  if (std::memcmp(a, b, size_t(count) * size) == 0) {
    return 0;
  }
  int64_t different = 0;
  for (int64_t i = 0; i < count; ++i) {
    const char *left = static_cast<const char *>(a) + size_t(i) * size;
    const char *right = static_cast<const char *>(b) + size_t(i) * size;
    if (std::memcmp(left, right, size) == 0 || (isNan(dtype, a, i) && isNan(dtype, b, i))) {
      continue;
    }
    if (different++ == 0 && first) {
      *first = i;
    }
  }
  return different;
}

} // namespace numbers
