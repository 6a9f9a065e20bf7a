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
    if ((loop.op == "exp" || loop.op == "tanh") && dtypeSize(loop.result) > 2) {
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
template <class To> To referenceToInt(long double value) {
  using Limits = std::numeric_limits<To>;
  if (std::isnan(value)) {
    return 0;
  }
  long double whole = std::trunc(value);
  return whole > Limits::max()   ? Limits::max()
         : whole < Limits::min() ? Limits::min()
                                 : static_cast<To>(whole);
}

/// The nearest narrow float by search over all of them, ties to the even one.
uint16_t referenceToNarrow(DType dtype, long double value) {
  static std::vector<double> tables[tracert::kDTypeLimit];
  std::vector<double> &table = tables[int(dtype)];
  auto infinity = uint16_t(dtype == DType::Float16 ? 0x7C00 : 0x7F80);
  if (table.empty()) {
    for (int bits = 0; bits < infinity; ++bits) {
      table.push_back(narrowToDouble(dtype, uint16_t(bits)));
    }
    // Where the next one would be stands for infinity.
    table.push_back(dtype == DType::Float16 ? 0x1p16 : 0x1p128);
  }
  if (std::isnan(value)) {
    return infinity + 1;
  }
  uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  long double magnitude = std::fabs(value);
  if (magnitude >= table.back()) {
    return sign | infinity;
  }
  size_t above = size_t(std::upper_bound(table.begin(), table.end(), magnitude) - table.begin());
  long double low = magnitude - table[above - 1], high = table[above] - magnitude;
  bool takeAbove = high < low || (high == low && above % 2 == 0);
  return sign | uint16_t(takeAbove ? above : above - 1);
}

template <class To> auto referenceCast(DType from, const void *data, int64_t index) {
  using Storage = typename To::Storage;
  long double value = exactValue(from, data, index);
  if constexpr (tracert::isBoolTag<To>) {
    return Storage(value != 0);
  } else if constexpr (tracert::isNarrowFloatTag<To>) {
    return Storage(referenceToNarrow(To::dtype, value));
  } else if constexpr (tracert::isFloatTag<To>) {
    return Storage(value);
  } else if (tracert::isFloat(from)) {
    return referenceToInt<Storage>(value);
  } else {
    return value < 0 ? Storage(int64_t(value)) : Storage(uint64_t(value));
  }
}

/// Numbers around which a rounding or a limit lies: each in all dtypes that hold it.
std::vector<uint8_t> castInputs(DType from, int64_t count) {
  std::vector<uint8_t> values = hardValues(from, count, 5);
  if (tracert::isInteger(from) && dtypeSize(from) > 2) {
    // Half way between two narrow floats, exactly and by one to either side.
    std::mt19937_64 random(9);
    for (int64_t i = 0; i < count / 4; ++i) {
      int top = int(random() % (8 * dtypeSize(from) - 10)) + 9;
      uint64_t bits = (uint64_t(256 + random() % 256) << (top - 8)) + (uint64_t(1) << (top - 9)) +
                      random() % 3 - 1;
      tracert::visitDType(from,
                          [&](auto tag) { put(values, i, typename decltype(tag)::Storage(bits)); });
    }
  }
  return values;
}

TEST(Elementwise, castsAreTheReference) {
  constexpr int64_t count = 100000;
  for (DType from : kAllDTypes) {
    std::vector<uint8_t> values = castInputs(from, count);
    for (DType to : kAllDTypes) {
      std::vector<uint8_t> expected(size_t(count) * dtypeSize(to)), actual(expected.size());
      tracert::visitDType(to, [&](auto tag) {
        for (int64_t i = 0; i < count; ++i) {
          put(expected, i, referenceCast<decltype(tag)>(from, values.data(), i));
        }
      });
      for (const CoreVariant &variant : coreVariants()) {
        const void *input = values.data();
        auto stride = int64_t(dtypeSize(from));
        variant.cores->cast[int(from)][int(to)](&input, &stride, actual.data(),
                                                int64_t(dtypeSize(to)), count);
        int64_t first = 0;
        EXPECT_EQ(countDifferent(to, expected.data(), actual.data(), count, &first), 0)
            << variant.name << " " << shortName(from) << " to " << shortName(to) << " of "
            << exactValue(from, values.data(), first);
      }
    }
  }
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
