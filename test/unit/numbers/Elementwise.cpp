// Elementwise ops and casts: all variants and compiled kernels against gcc's portable scalar lanes;
// casts also against a reference written from Numbers.md.
#include "CompiledKernels.h"
#include "Inputs.h"
#include "Loops.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace numbers {
namespace {

struct Operands {
  std::vector<std::vector<uint8_t>> data;
  std::vector<const void *> pointers;
  std::vector<int64_t> strides;
  Operands(const Loop &loop, int64_t count, uint64_t seed) {
    for (DType dtype : loop.operands) {
      data.push_back(hardValues(dtype, count, seed + data.size()));
      strides.push_back(int64_t(dtypeSize(dtype)));
    }
    for (auto &bytes : data) {
      pointers.push_back(bytes.data());
    }
  }
};

std::string describe(const Loop &loop, const Operands &operands, int64_t at) {
  std::string text = loop.name() + " at element " + std::to_string(at) + ", operand bits";
  for (size_t i = 0; i < loop.operands.size(); ++i) {
    uint64_t bits = 0;
    size_t size = dtypeSize(loop.operands[i]);
    std::memcpy(&bits, operands.data[i].data() + size_t(at) * size, size);
    char hex[24];
    std::snprintf(hex, sizeof(hex), " %llx", static_cast<unsigned long long>(bits));
    text += hex;
  }
  return text;
}

/// Every variant on `count` contiguous elements (a multiple of 7); returns results compared.
int64_t compareVariants(const Loop &loop, int64_t count, uint64_t seed) {
  Operands operands(loop, count, seed);
  int64_t resultSize = int64_t(dtypeSize(loop.result));
  std::vector<uint8_t> expected(size_t(count * resultSize)), actual(expected.size());
  int64_t compared = 0;
  bool isFirst = true;
  auto check = [&](const std::string &name) {
    int64_t first = 0;
    int64_t different = countDifferent(loop.result, expected.data(), actual.data(), count, &first);
    EXPECT_EQ(different, 0) << name << ": " << describe(loop, operands, first);
    compared += count;
  };
  for (const CoreVariant &variant : coreVariants()) {
    auto &target = isFirst ? expected : actual;
    loop.find (*variant.cores)(operands.pointers.data(), operands.strides.data(), target.data(),
                               resultSize, count);
    if (!isFirst) {
      check(variant.name);
    }
    isFirst = false;
  }
  compareCompiled(loop.expression(), operands.pointers, actual.data(), count, check);
  return compared;
}

/// Neither a whole number of vectors nor of their tails' lanes, and above 100,000.
constexpr int64_t manyElements = 7 * 14983;

TEST(Elementwise, everyOpAgreesOnHardValues) {
  int64_t compared = 0;
  for (const Loop &loop : allLoops()) {
    compared += compareVariants(loop, manyElements, 1);
  }
  std::printf("%zu loops, %lld results compared\n", allLoops().size(),
              static_cast<long long>(compared));
  size_t variants = coreVariants().size() - 1 + 3 * compiledTargets().size();
  EXPECT_EQ(compared, int64_t(allLoops().size() * variants) * manyElements);
}

TEST(Elementwise, mathOpsAgreeOnMillionsOfValues) {
  for (const Loop &loop : allLoops()) {
    if ((loop.op == "exp" || loop.op == "tanh") && loop.result != DType::Float16) {
      compareVariants(loop, 7 << 18, 7);
    }
  }
}

TEST(Elementwise, everyLengthAndStrideAgrees) {
  constexpr int64_t longest = 300;
  for (const Loop &loop : allLoops()) {
    // Twice as long, so that a stride of two elements stays inside.
    Operands operands(loop, 2 * longest + 2, 3);
    int64_t resultSize = int64_t(dtypeSize(loop.result));
    std::vector<uint8_t> expected(size_t(2 * longest * resultSize)), actual(expected.size());
    std::mt19937_64 random(11);
    for (int64_t count = 0; count <= longest; ++count) {
      std::vector<const void *> pointers;
      std::vector<int64_t> strides;
      for (size_t i = 0; i < loop.operands.size(); ++i) {
        int64_t size = operands.strides[i];
        static constexpr int64_t factors[] = {1, 1, 0, 2, -1};
        int64_t factor = factors[random() % 5];
        const uint8_t *base = operands.data[i].data() + size * int64_t(random() % 2);
        pointers.push_back(factor < 0 ? base + size * longest : base);
        strides.push_back(size * factor);
      }
      int64_t resultStride = resultSize * (random() % 4 == 0 ? 2 : 1);
      bool isFirst = true;
      for (const CoreVariant &variant : coreVariants()) {
        auto &target = isFirst ? expected : actual;
        std::fill(target.begin(), target.end(), 0x5A);
        loop.find (*variant.cores)(pointers.data(), strides.data(), target.data(), resultStride,
                                   count);
        if (!isFirst) {
          int64_t first = 0;
          ASSERT_EQ(
              countDifferent(loop.result, expected.data(), actual.data(), 2 * longest, &first), 0)
              << variant.name << " " << loop.name() << " length " << count << " at " << first;
        }
        isFirst = false;
      }
      // The strided result is the contiguous one of each element alone.
      std::vector<const void *> one(pointers);
      for (int64_t i = 0; i < count; i += 37) {
        for (size_t k = 0; k < one.size(); ++k) {
          one[k] = static_cast<const char *>(pointers[k]) + i * strides[k];
        }
        loop.find (*coreVariants()[0].cores)(one.data(), operands.strides.data(), actual.data(),
                                             resultSize, 1);
        ASSERT_EQ(countDifferent(loop.result, expected.data() + i * resultStride, actual.data(), 1),
                  0)
            << loop.name() << " length " << count << " element " << i;
      }
    }
  }
}

/// Straight from Numbers.md: truncate, saturate, NaN gives 0.
template <class To, class From> To referenceToInt(From value) {
  if (std::isnan(value)) {
    return 0;
  }
  long double whole = std::trunc(static_cast<long double>(value));
  if (whole > static_cast<long double>(std::numeric_limits<To>::max())) {
    return std::numeric_limits<To>::max();
  }
  if (whole < static_cast<long double>(std::numeric_limits<To>::min())) {
    return std::numeric_limits<To>::min();
  }
  return static_cast<To>(whole);
}

/// The nearest float16 by search over all of them, ties to the even one.
uint16_t referenceToHalf(double value) {
  static const std::vector<double> table = [] {
    std::vector<double> values;
    for (int bits = 0; bits <= 0x7C00; ++bits) {
      int exponent = bits >> 10, fraction = bits & 0x3FF;
      values.push_back(exponent == 0 ? std::ldexp(fraction, -24)
                                     : std::ldexp(1024 + fraction, exponent - 25));
    }
    return values; // the last one, 65536, stands for inf
  }();
  if (std::isnan(value)) {
    return 0x7E00;
  }
  uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  double magnitude = std::fabs(value);
  if (magnitude >= table.back()) {
    return sign | 0x7C00;
  }
  size_t above = size_t(std::upper_bound(table.begin(), table.end(), magnitude) - table.begin());
  double low = magnitude - table[above - 1], high = table[above] - magnitude;
  bool takeAbove = high < low || (high == low && above % 2 == 0);
  return sign | uint16_t(takeAbove ? above : above - 1);
}

template <class To, class From> void checkCast(DType from, DType to, To (*reference)(From)) {
  constexpr int64_t count = 200000;
  std::vector<uint8_t> values = hardValues(from, count, 5);
  std::vector<uint8_t> expected(size_t(count) * sizeof(To)), actual(expected.size());
  for (int64_t i = 0; i < count; ++i) {
    put(expected, i, reference(get<From>(values.data(), i)));
  }
  for (const CoreVariant &variant : coreVariants()) {
    const void *input = values.data();
    int64_t stride = sizeof(From);
    variant.cores->cast[int(from)][int(to)](&input, &stride, actual.data(), sizeof(To), count);
    int64_t first = 0;
    EXPECT_EQ(countDifferent(to, expected.data(), actual.data(), count, &first), 0)
        << variant.name << " " << shortName(from) << " to " << shortName(to) << " of "
        << double(get<From>(values.data(), first));
  }
}

TEST(Elementwise, castsAreTheReference) {
  checkCast<uint8_t, float>(DType::Float32, DType::UInt8, referenceToInt);
  checkCast<int32_t, float>(DType::Float32, DType::Int32, referenceToInt);
  checkCast<int64_t, float>(DType::Float32, DType::Int64, referenceToInt);
  checkCast<uint8_t, double>(DType::Float64, DType::UInt8, referenceToInt);
  checkCast<int32_t, double>(DType::Float64, DType::Int32, referenceToInt);
  checkCast<int64_t, double>(DType::Float64, DType::Int64, referenceToInt);
  checkCast<uint16_t, double>(DType::Float64, DType::Float16, referenceToHalf);
  checkCast<uint16_t, float>(
      DType::Float32, DType::Float16, +[](float value) { return referenceToHalf(value); });
  checkCast<uint16_t, int32_t>(
      DType::Int32, DType::Float16, +[](int32_t value) { return referenceToHalf(value); });
  checkCast<uint16_t, int64_t>(
      DType::Int64, DType::Float16, +[](int64_t value) {
        return referenceToHalf(
            double(std::min(std::max(value, int64_t(-1) << 20), int64_t(1) << 20)));
      });
}

TEST(Elementwise, everyVariantIsThere) {
  for (size_t i = 1; i < coreVariants().size(); ++i) {
    EXPECT_NE(coreVariants()[i].cores, coreVariants()[i - 1].cores);
  }
  if (tracert::bestTarget() < tracert::kX86V4) {
    GTEST_SKIP() << "this machine stops at " << tracert::targetName(tracert::bestTarget())
                 << ": the variants above it were not run";
  }
  EXPECT_EQ(coreVariants().size(), 6u);
  EXPECT_EQ(compiledTargets().size(), 2u);
}

} // namespace
} // namespace numbers
