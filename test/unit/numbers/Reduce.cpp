// Sums, maxima and masked sums: every variant against references written straight from Numbers.md.
#include "Inputs.h"
#include "Variants.h"

#include "tracert/Op.h"

#include <gtest/gtest.h>

#include <functional>
#include <thread>

namespace numbers {
namespace {

using namespace tracert;

const ReduceCores &coresOf(const CoreVariant &variant, OpKind reduction, DType dtype) {
  return variant.cores->reduce[opInfo(reduction).reduction->index][int(dtype)];
}

// ---- the references: no shared code with the kernels ----

template <class Float> Float treeOf(const Float *blocks, size_t count) {
  if (count == 1) {
    return blocks[0];
  }
  size_t power = 1;
  while (power * 2 < count) {
    power *= 2;
  }
  return treeOf(blocks, power) + treeOf(blocks + power, count - power);
}

template <class Float> Float innerSum(const std::vector<Float> &sequence) {
  const size_t lanes = sizeof(Float) == 4 ? 128 : 64;
  std::vector<Float> blocks;
  for (size_t begin = 0; begin < sequence.size(); begin += 4096) {
    std::vector<Float> lane(lanes, Float(-0.0));
    for (size_t i = begin; i < std::min(begin + 4096, sequence.size()); ++i) {
      lane[(i - begin) % lanes] += sequence[i];
    }
    for (size_t half = lanes / 2; half > 0; half /= 2) {
      for (size_t l = 0; l < half; ++l) {
        lane[l] += lane[l + half];
      }
    }
    blocks.push_back(lane[0]);
  }
  return blocks.empty() ? Float(0) : treeOf(blocks.data(), blocks.size());
}

template <class Float> Float outerSum(const std::vector<Float> &sequence) {
  std::vector<Float> blocks;
  for (size_t begin = 0; begin < sequence.size(); begin += 4096) {
    Float chain = Float(-0.0);
    for (size_t i = begin; i < std::min(begin + 4096, sequence.size()); ++i) {
      chain += sequence[i];
    }
    blocks.push_back(chain);
  }
  return blocks.empty() ? Float(0) : treeOf(blocks.data(), blocks.size());
}

/// Through the reference variant's cast, which the elementwise test proves.
uint16_t floatToNarrow(DType dtype, float value) {
  const void *input = &value;
  int64_t stride = 4;
  uint16_t result;
  coreVariants()[0].cores->cast[int(DType::Float32)][int(dtype)](&input, &stride, &result, 2, 1);
  return result;
}

DType sumType(DType dtype) {
  return isFloat(dtype) ? dtype : isUnsigned(dtype) ? DType::UInt64 : DType::Int64;
}

/// The sum of elements given by byte offsets, as bytes of the result's dtype.
std::vector<uint8_t> referenceSum(DType dtype, const uint8_t *data,
                                  const std::vector<int64_t> &offsets, bool isInner) {
  std::vector<uint8_t> result(8);
  std::vector<float> floats;
  std::vector<double> doubles;
  uint64_t integer = 0;
  for (int64_t offset : offsets) {
    const uint8_t *at = data + offset;
    if (dtype == DType::Float64) {
      doubles.push_back(get<double>(at, 0));
    } else if (isFloat(dtype)) {
      floats.push_back(float(exactValue(dtype, at, 0)));
    } else if (isBool(dtype)) {
      integer += *at != 0;
    } else {
      long double value = exactValue(dtype, at, 0);
      integer += value < 0 ? uint64_t(int64_t(value)) : uint64_t(value);
    }
  }
  if (dtype == DType::Float64) {
    put(result, 0, isInner ? innerSum(doubles) : outerSum(doubles));
  } else if (dtype == DType::Float32) {
    put(result, 0, isInner ? innerSum(floats) : outerSum(floats));
  } else if (isFloat(dtype)) {
    put(result, 0, floatToNarrow(dtype, isInner ? innerSum(floats) : outerSum(floats)));
  } else {
    put(result, 0, integer);
  }
  return result;
}

std::vector<int64_t> offsetsOf(const std::vector<int64_t> &sizes,
                               const std::vector<int64_t> &strides) {
  std::vector<int64_t> offsets = {0};
  for (size_t axis = 0; axis < sizes.size(); ++axis) {
    std::vector<int64_t> next;
    for (int64_t base : offsets) {
      for (int64_t i = 0; i < sizes[axis]; ++i) {
        next.push_back(base + i * strides[axis]);
      }
    }
    offsets = next;
  }
  return offsets;
}

int64_t blocksOf(int64_t count) { return (count + 4095) / 4096; }

/// Calls work(part, parts) on `parts` threads.
void onThreads(int parts, const std::function<void(int, int)> &work) {
  std::vector<std::thread> threads;
  for (int part = 1; part < parts; ++part) {
    threads.emplace_back(work, part, parts);
  }
  work(0, parts);
  for (std::thread &thread : threads) {
    thread.join();
  }
}

void checkInner(DType dtype, const uint8_t *data, const std::vector<int64_t> &sizes,
                const std::vector<int64_t> &strides) {
  std::vector<int64_t> offsets = offsetsOf(sizes, strides);
  std::vector<uint8_t> expected = referenceSum(dtype, data, offsets, /*isInner=*/true);
  ReducedAxes axes = {int32_t(sizes.size()), sizes.data(), strides.data()};
  int64_t blocks = blocksOf(int64_t(offsets.size()));
  for (const CoreVariant &variant : coreVariants()) {
    const ReduceCores &cores = coresOf(variant, OpKind::sum, dtype);
    std::vector<uint8_t> actual(8);
    cores.rows(data, axes, KeptAxis{}, actual.data());
    ASSERT_EQ(countDifferent(sumType(dtype), expected.data(), actual.data(), 1), 0)
        << variant.name << " sum " << shortName(dtype) << " of " << offsets.size();
    for (int threads : {1, 2}) {
      std::vector<uint8_t> partials(size_t(blocks * cores.partialSize) + 8);
      onThreads(threads, [&](int part, int parts) {
        int64_t begin = blocks * part / parts, end = blocks * (part + 1) / parts;
        cores.blocks(data, axes, begin, end, partials.data() + begin * cores.partialSize);
      });
      cores.combine(partials.data(), blocks, actual.data());
      ASSERT_EQ(countDifferent(sumType(dtype), expected.data(), actual.data(), 1), 0)
          << variant.name << " sum " << shortName(dtype) << " of " << offsets.size() << " by "
          << threads << " threads";
    }
  }
}

const std::vector<int64_t> &lengths() {
  static const std::vector<int64_t> all = [] {
    std::vector<int64_t> lengths;
    for (int64_t n = 0; n <= 300; ++n) {
      lengths.push_back(n);
    }
    for (int64_t n : {1000, 4095, 4096, 4097, 8191, 8192, 12288, 12289, 40000, 100003}) {
      lengths.push_back(n);
    }
    return lengths;
  }();
  return all;
}

TEST(Reduce, innerSumIsTheReference) {
  for (DType dtype : kAllDTypes) {
    int64_t size = int64_t(dtypeSize(dtype));
    constexpr int64_t room = 210000;
    for (bool hard : {false, true}) {
      std::vector<uint8_t> data = hard ? hardValues(dtype, room, 2) : summable(dtype, room, 2);
      for (int64_t n : lengths()) {
        checkInner(dtype, data.data(), {n}, {size});
        checkInner(dtype, data.data(), {n}, {2 * size});
        checkInner(dtype, data.data() + n * size, {n}, {-size});
      }
      // Transposed and nested axes; 0 as a stride repeats.
      checkInner(dtype, data.data(), {100, 90}, {size, 100 * size});
      checkInner(dtype, data.data(), {7, 5, 333}, {3 * 333 * size, 333 * size, size});
      checkInner(dtype, data.data(), {3, 3000}, {0, size});
      checkInner(dtype, data.data(), {}, {});
    }
  }
}

TEST(Reduce, oneMillionElementsAgree) {
  for (DType dtype : {DType::Float16, DType::BFloat16, DType::Float32, DType::Float64}) {
    std::vector<uint8_t> data = summable(dtype, 1 << 20, 4);
    checkInner(dtype, data.data(), {1 << 20}, {int64_t(dtypeSize(dtype))});
  }
}

void checkOuter(DType dtype, const uint8_t *data, const std::vector<int64_t> &sizes,
                const std::vector<int64_t> &strides, int64_t columns, int64_t columnStride) {
  std::vector<int64_t> offsets = offsetsOf(sizes, strides);
  int64_t resultSize = int64_t(dtypeSize(sumType(dtype)));
  std::vector<uint8_t> expected(size_t(columns * resultSize) + 8), actual(expected.size());
  for (int64_t column = 0; column < columns; ++column) {
    std::vector<uint8_t> one =
        referenceSum(dtype, data + column * columnStride, offsets, /*isInner=*/false);
    std::memcpy(expected.data() + column * resultSize, one.data(), size_t(resultSize));
  }
  ReducedAxes axes = {int32_t(sizes.size()), sizes.data(), strides.data()};
  for (const CoreVariant &variant : coreVariants()) {
    for (int threads : {1, 2}) {
      onThreads(threads, [&](int part, int parts) {
        int64_t begin = columns * part / parts, end = columns * (part + 1) / parts;
        coresOf(variant, OpKind::sum, dtype)
            .columns(data + begin * columnStride, axes,
                     KeptAxis{end - begin, columnStride, resultSize},
                     actual.data() + begin * resultSize);
      });
      ASSERT_EQ(countDifferent(sumType(dtype), expected.data(), actual.data(), columns), 0)
          << variant.name << " columns " << shortName(dtype) << " " << offsets.size() << " x "
          << columns << ", " << threads << " threads";
    }
  }
}

TEST(Reduce, outerSumIsTheReference) {
  for (DType dtype : kAllDTypes) {
    int64_t size = int64_t(dtypeSize(dtype));
    std::vector<uint8_t> data = summable(dtype, 310 * 310 + 400000, 9);
    for (int64_t n = 0; n <= 300; ++n) {
      int64_t columns = 1 + (n * 7) % 300;
      checkOuter(dtype, data.data(), {n}, {columns * size}, columns, size);
      checkOuter(dtype, data.data(), {columns}, {columns * size}, n, size);
    }
    checkOuter(dtype, data.data(), {9000}, {33 * size}, 33, size);
    checkOuter(dtype, data.data(), {50, 200}, {size * 40, size * 2000}, 37, size);
    checkOuter(dtype, data.data(), {300}, {size}, 150, 300 * size); // transposed
    checkOuter(dtype, data.data() + 400 * size, {300}, {500 * size}, 150, -2 * size);
  }
}

/// One chain of the combiner.
std::vector<uint8_t> referenceChain(const ReductionInfo &reduction, DType dtype,
                                    const uint8_t *data, int64_t n) {
  int64_t size = int64_t(dtypeSize(dtype));
  std::vector<uint8_t> result(data, data + size);
  for (int64_t i = 1; i < n; ++i) {
    const void *inputs[] = {result.data(), data + i * size};
    int64_t strides[] = {size, size};
    const KernelCores &cores = *coreVariants()[0].cores;
    cores.elementwise[opInfo(reduction.combiner).elementwiseIndex][int(dtype)](
        inputs, strides, result.data(), size, 1);
  }
  return result;
}

/// The first element that no other replaces, as NumPy's argmax and argmin find it.
int64_t referencePosition(const ReductionInfo &reduction, DType dtype, const uint8_t *data,
                          int64_t n) {
  int64_t size = int64_t(dtypeSize(dtype)), best = 0;
  const KernelCores &cores = *coreVariants()[0].cores;
  auto holds = [&](OpKind op, int64_t a, int64_t b) {
    const void *inputs[] = {data + a * size, data + b * size};
    int64_t strides[] = {size, size};
    uint8_t result = 0;
    cores.elementwise[opInfo(op).elementwiseIndex][int(dtype)](inputs, strides, &result, 1, 1);
    return result != 0;
  };
  for (int64_t i = 1; i < n && !holds(OpKind::ne, best, best); ++i) {
    best = holds(reduction.combiner, i, best) || holds(OpKind::ne, i, i) ? i : best;
  }
  return best;
}

/// Rows, columns and joined blocks of one reduction of the first n elements.
void checkAnyOrder(OpKind op, DType dtype, const std::vector<uint8_t> &data, int64_t n) {
  const ReductionInfo &reduction = *opInfo(op).reduction;
  int64_t size = int64_t(dtypeSize(dtype));
  DType resultDType = reduction.isIndexed ? DType::Int64 : dtype;
  std::vector<uint8_t> expected(8);
  if (reduction.isIndexed) {
    int64_t position = referencePosition(reduction, dtype, data.data(), n);
    std::memcpy(expected.data(), &position, 8);
  } else {
    expected = referenceChain(reduction, dtype, data.data(), n);
  }
  for (const CoreVariant &variant : coreVariants()) {
    const ReduceCores &cores = coresOf(variant, op, dtype);
    std::vector<uint8_t> actual(8), partials(size_t(blocksOf(n) * cores.partialSize));
    ReducedAxes axes = {1, &n, &size};
    std::string what = std::string(variant.name) + " " + std::string(opInfo(op).name) + " " +
                       shortName(dtype) + " of " + std::to_string(n);
    cores.rows(data.data(), axes, KeptAxis{}, actual.data());
    ASSERT_EQ(countDifferent(resultDType, expected.data(), actual.data(), 1), 0) << "rows " << what;
    cores.blocks(data.data(), axes, 0, blocksOf(n), partials.data());
    cores.combine(partials.data(), blocksOf(n), actual.data());
    ASSERT_EQ(countDifferent(resultDType, expected.data(), actual.data(), 1), 0)
        << "blocks " << what;
    cores.columns(data.data(), axes, KeptAxis{}, actual.data());
    ASSERT_EQ(countDifferent(resultDType, expected.data(), actual.data(), 1), 0)
        << "columns " << what;
  }
}

TEST(Reduce, anyOrderIsTheReference) {
  int tried = 0;
  for (int kind = 0; kind < opCount(); ++kind) {
    const OpInfo &info = opInfo(OpKind(kind));
    if (!info.reduction || info.reduction->isWidened) {
      continue;
    }
    ++tried;
    for (DType dtype : kAllDTypes) {
      for (int seed = 0; seed < 2; ++seed) {
        std::vector<uint8_t> data =
            seed ? hardValues(dtype, 210000, 3) : summable(dtype, 210000, 3);
        for (int64_t n : lengths()) {
          if (n > 0) {
            checkAnyOrder(OpKind(kind), dtype, data, n);
          }
        }
      }
    }
  }
  EXPECT_GE(tried, 1);
}

TEST(Reduce, compactPacksTheSelected) {
  std::mt19937_64 random(6);
  for (DType dtype : kAllDTypes) {
    int64_t size = int64_t(dtypeSize(dtype));
    std::vector<uint8_t> data = summable(dtype, 210000, 8);
    for (int64_t n : lengths()) {
      for (int density : {0, 1, 50, 99, 100}) {
        if (n <= 300 && density == 1) {
          continue;
        }
        bool strided = random() % 4 == 0;
        int64_t stride = strided ? 2 * size : size;
        std::vector<uint8_t> mask(size_t(n) + 1);
        std::vector<int64_t> selected;
        for (int64_t i = 0; i < n; ++i) {
          // Runs of equal values reach the paths of all-true and all-false words.
          bool sameAsBefore = density == 99 && i % 200 && random() % 64;
          mask[size_t(i)] =
              sameAsBefore ? mask[size_t(i - 1)] : uint8_t(int(random() % 100) < density);
          if (mask[size_t(i)]) {
            selected.push_back(i * stride);
            mask[size_t(i)] = random() % 8 ? 1 : 128; // any byte but zero is true
          }
        }
        int64_t count = int64_t(selected.size());
        MaskedSequence sequence = {data.data(), stride, mask.data(), 1, n};
        for (const CoreVariant &variant : coreVariants()) {
          const KernelCores &cores = *variant.cores;
          ASSERT_EQ(cores.countTrue(mask.data(), 1, n), count);

          // Exactly as much room as needed: no store may pass the end.
          int log2 = __builtin_ctz(unsigned(size));
          std::vector<uint8_t> packed(size_t(count * size) + 64, 0x77);
          ASSERT_EQ(cores.compact[log2](sequence, packed.data(), count), count) << variant.name;
          for (int64_t i = 0; i < count; ++i) {
            ASSERT_EQ(std::memcmp(packed.data() + i * size, data.data() + selected[size_t(i)],
                                  size_t(size)),
                      0)
                << variant.name << " compact " << n << " at " << i;
          }
          for (int64_t i = count * size; i < count * size + 64; ++i) {
            ASSERT_EQ(packed[size_t(i)], 0x77) << variant.name << " wrote past the end";
          }
        }
      }
    }
  }
}

TEST(Reduce, sumsOfNothingAndOfMinusZero) {
  float values[300];
  std::fill(std::begin(values), std::end(values), -0.0f);
  int64_t stride = 4;
  for (const CoreVariant &variant : coreVariants()) {
    for (int64_t n : {0, 1, 7, 128, 300}) {
      ReducedAxes axes = {1, &n, &stride};
      float inner = 5, outer = 5;
      coresOf(variant, OpKind::sum, DType::Float32).rows(values, axes, KeptAxis{}, &inner);
      coresOf(variant, OpKind::sum, DType::Float32).columns(values, axes, KeptAxis{}, &outer);
      EXPECT_EQ(inner, 0.0f);
      EXPECT_EQ(std::signbit(inner), n > 0) << variant.name << " " << n;
      EXPECT_EQ(std::signbit(outer), n > 0) << variant.name << " " << n;
    }
  }
}

} // namespace
} // namespace numbers
