// Gathers: every dtype, both index types, checks, masks.
#include "KernelHarness.h"

#include <random>

using namespace tracec::test;
using namespace tracert;

namespace {

class Gather : public AtEachTarget {};
TRACEC_AT_EACH_ISA(Gather);

/// out[r, i] = table[r, index[i]] over a rank-2 domain.
std::string gatherKernel(DType dtype, const std::string &index, const std::string &flags) {
  std::string table = "!kernel.access<gather " + typeText(dtype) + " zero axes 1>";
  std::string indices = "!kernel.access<index " + index + " contiguous>";
  std::string store = "!kernel.access<store " + typeText(dtype) + " contiguous>";
  return "kernel.func @k domain 2 (%t: " + table + ", %i: " + indices + ", %o: " + store + ") {\n" +
         "%0 = kernel.load %i : " + indices + "\n%1 = kernel.gather %t[%0] " + flags + " : " +
         table + ", " + index + "\nkernel.store %1 to %o : " + store + "\n}";
}

void fillIndices(Array &indices, int64_t size, uint64_t seed) {
  std::mt19937_64 random(seed);
  for (int64_t i = 0; i < indices.count; ++i) {
    int64_t value = static_cast<int64_t>(random() % (2 * size)) - size;
    indices.dtype == DType::Int64 ? indices.set<int64_t>(i, value)
                                  : indices.set<int32_t>(i, static_cast<int32_t>(value));
  }
}

TEST_P(Gather, EveryDtypeWithNegativeIndices) {
  for (DType dtype : kAllDTypes) {
    for (DType indexType : {DType::Int32, DType::Int64}) {
      RunnableKernel kernel(gatherKernel(dtype, typeText(indexType), ""), GetParam());
      for (int64_t n = 0; n <= 40; ++n) {
        const int64_t rows = 2, size = 11;
        Array table = Array::random(dtype, rows * size, 4), indices(indexType, n);
        fillIndices(indices, size, n);
        Array got(dtype, rows * n), wanted(dtype, rows * n);
        for (int64_t i = 0; i < rows * n; ++i) {
          int64_t index =
              indexType == DType::Int64 ? indices.get<int64_t>(i % n) : indices.get<int32_t>(i % n);
          index += index < 0 ? size : 0;
          std::memcpy(wanted.at(i), table.at(i / n * size + index), table.elementSize());
        }
        const int64_t bytes = table.elementSize();
        KernelCall call{.domain = {rows, n}, .gathers = {size, bytes}};
        call.add(table.at(), {size * bytes, 0});
        call.add(indices.at(), {0, indices.elementSize()});
        call.add(got.at(), {n * bytes, bytes});
        ASSERT_EQ(kernel.run(call), kKernelOk);
        ASSERT_TRUE(sameElements(got, wanted)) << dtypeName(dtype) << " " << n;
      }
    }
  }
}

TEST_P(Gather, ReportsTheFirstIndexOutOfRange) {
  RunnableKernel kernel(gatherKernel(DType::Float32, "i64", ""), GetParam());
  const int64_t size = 11;
  for (int64_t n : {1, 16, 17, 40}) {
    for (int64_t bad = 0; bad < n; ++bad) {
      for (int64_t value : {size, -size - 1, INT64_MAX, INT64_MIN}) {
        Array table = Array::random(DType::Float32, size, 4), indices(DType::Int64, n);
        fillIndices(indices, size, n);
        indices.set(bad, value);
        indices.set<int64_t>(n - 1, n - 1 == bad ? value : size + 5);
        Array got(DType::Float32, 3 * n);
        KernelCall call{.domain = {3, n}, .gathers = {size, 4}};
        call.add(table.at(), {0, 0});
        call.add(indices.at(), {0, 8});
        call.add(got.at(), {4 * n, 4});
        ASSERT_EQ(kernel.run(call), kKernelIndexOutOfRange);
        ASSERT_EQ(call.errorPosition, bad) << n;
        ASSERT_EQ(call.errorAccess, 1);
        ASSERT_TRUE(got.guardIsIntact());
      }
    }
  }
}

TEST_P(Gather, EmptyTableIsAnErrorForEveryIndex) {
  RunnableKernel kernel(gatherKernel(DType::Float32, "i64", ""), GetParam());
  Array indices(DType::Int64, 3), got(DType::Float32, 3);
  fillIndices(indices, 2, 1);
  KernelCall call{.domain = {1, 3}, .gathers = {0, 4}};
  call.add(nullptr, {0, 0});
  call.add(indices.at(), {0, 8});
  call.add(got.at(), {12, 4});
  ASSERT_EQ(kernel.run(call), kKernelIndexOutOfRange);
  ASSERT_EQ(call.errorPosition, 0);
}

TEST_P(Gather, UncheckedClamps) {
  for (DType dtype : {DType::UInt8, DType::Float32, DType::Float64}) {
    RunnableKernel kernel(gatherKernel(dtype, "i64", "unchecked"), GetParam());
    const int64_t size = 5, n = 21, bytes = static_cast<int64_t>(dtypeSize(dtype));
    Array table = Array::random(dtype, size, 4), indices(DType::Int64, n);
    fillIndices(indices, 3 * size, 9);
    indices.set(3, INT64_MIN);
    Array got(dtype, n), wanted(dtype, n);
    for (int64_t i = 0; i < n; ++i) {
      int64_t index = indices.get<int64_t>(i);
      index += index < 0 ? size : 0;
      index = std::max<int64_t>(0, std::min(index, size - 1));
      std::memcpy(wanted.at(i), table.at(index), bytes);
    }
    KernelCall call{.domain = {1, n}, .gathers = {size, bytes}};
    call.add(table.at(), {0, 0});
    call.add(indices.at(), {0, 8});
    call.add(got.at(), {bytes * n, bytes});
    ASSERT_EQ(kernel.run(call), kKernelOk);
    ASSERT_TRUE(sameElements(got, wanted)) << dtypeName(dtype);
  }
}

TEST_P(Gather, TwoIndexedAxesAndAStridedBase) {
  // out[i, j] = table[a[i], j, b[j]] with table of shape (6, n, 5).
  RunnableKernel kernel(R"(kernel.func @k domain 2 (%t: !kernel.access<gather f64 any axes 2>,
      %a: !kernel.access<index i64 zero>, %b: !kernel.access<index i32 contiguous>,
      %o: !kernel.access<store f64 contiguous>) {
    %0 = kernel.load %a : !kernel.access<index i64 zero>
    %1 = kernel.load %b : !kernel.access<index i32 contiguous>
    %2 = kernel.gather %t[%0, %1] : !kernel.access<gather f64 any axes 2>, i64, i32
    kernel.store %2 to %o : !kernel.access<store f64 contiguous>
  })",
                        GetParam());
  for (int64_t n : {1, 8, 16, 27}) {
    const int64_t rows = 4;
    Array table = Array::random(DType::Float64, 6 * n * 5, 4);
    Array a(DType::Int64, rows), b(DType::Int32, n);
    fillIndices(a, 6, 1);
    fillIndices(b, 5, 2);
    Array got(DType::Float64, rows * n), wanted(DType::Float64, rows * n);
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t j = 0; j < n; ++j) {
        int64_t first = a.get<int64_t>(i), last = b.get<int32_t>(j);
        first += first < 0 ? 6 : 0;
        last += last < 0 ? 5 : 0;
        wanted.set(i * n + j, table.get<double>((first * n + j) * 5 + last));
      }
    }
    KernelCall call{.domain = {rows, n}, .gathers = {6, 8 * n * 5, 5, 8}};
    call.add(table.at(), {0, 8 * 5});
    call.add(a.at(), {8, 0});
    call.add(b.at(), {0, 4});
    call.add(got.at(), {8 * n, 8});
    ASSERT_EQ(kernel.run(call), kKernelOk);
    ASSERT_TRUE(sameElements(got, wanted)) << n;
  }
}

TEST_P(Gather, MaskedLanesAreNeitherCheckedNorRead) {
  RunnableKernel kernel(R"(kernel.func @k domain 1 reduced [0] (
      %t: !kernel.access<gather f32 zero axes 1>, %i: !kernel.access<index i64 contiguous>,
      %m: !kernel.access<load i1 contiguous>, %s: !kernel.access<reduce_store f32 zero>) {
    %0 = kernel.load %i : !kernel.access<index i64 contiguous>
    %1 = kernel.load %m : !kernel.access<load i1 contiguous>
    %2 = kernel.gather %t[%0] where %1 : !kernel.access<gather f32 zero axes 1>, i64
    kernel.reduce "sum"(%2) where %1 to %s : !kernel.access<reduce_store f32 zero>, f32
  })",
                        GetParam());
  const int64_t size = 9;
  for (int64_t n : {3, 16, 37}) {
    Array table = Array::random(DType::Float32, size, 4), indices(DType::Int64, n);
    Array mask(DType::Bool, n), sum(DType::Float32, 1), wanted = sum;
    std::vector<float> selected;
    for (int64_t i = 0; i < n; ++i) {
      mask.set<uint8_t>(i, i % 3 != 0);
      indices.set<int64_t>(i, i % 3 != 0 ? i % size : int64_t(1) << 50);
      if (i % 3 != 0) {
        selected.push_back(table.get<float>(i % size));
      }
    }
    Array terms(DType::Float32, static_cast<int64_t>(selected.size()));
    std::memcpy(terms.at(), selected.data(), selected.size() * 4);
    referenceSum(terms, Order::Inner, DType::Float32, wanted.at());
    KernelCall call{.domain = {n}, .gathers = {size, 4}};
    call.add(table.at(), {0});
    call.add(indices.at(), {8});
    call.add(mask.at(), {1});
    call.add(sum.at(), {0});
    ASSERT_EQ(kernel.run(call), kKernelOk);
    ASSERT_TRUE(sameElements(sum, wanted)) << n;
    mask.set<uint8_t>(0, 1);
    ASSERT_EQ(kernel.run(call), kKernelIndexOutOfRange);
    ASSERT_EQ(call.errorPosition, 0);
  }
}

TEST_P(Gather, TheEarlierGatherIsReportedFirst) {
  RunnableKernel kernel(R"(kernel.func @k domain 1 (
      %t: !kernel.access<gather f32 zero axes 1>, %i: !kernel.access<index i64 contiguous>,
      %u: !kernel.access<gather f32 zero axes 1>, %j: !kernel.access<index i64 contiguous>,
      %o: !kernel.access<store f32 contiguous>) {
    %0 = kernel.load %i : !kernel.access<index i64 contiguous>
    %1 = kernel.gather %t[%0] : !kernel.access<gather f32 zero axes 1>, i64
    %2 = kernel.load %j : !kernel.access<index i64 contiguous>
    %3 = kernel.gather %u[%2] : !kernel.access<gather f32 zero axes 1>, i64
    %4 = kernel.apply "add"(%1, %3) : (f32, f32) -> f32
    kernel.store %4 to %o : !kernel.access<store f32 contiguous>
  })",
                        GetParam());
  const int64_t n = 50, size = 4;
  Array table = Array::random(DType::Float32, size, 1), got(DType::Float32, n);
  Array first(DType::Int64, n), second(DType::Int64, n);
  fillIndices(first, size, 1);
  fillIndices(second, size, 2);
  first.set<int64_t>(44, 4);
  second.set<int64_t>(2, 4);
  KernelCall call{.domain = {n}, .gathers = {size, 4, size, 4}};
  call.add(table.at(), {0});
  call.add(first.at(), {8});
  call.add(table.at(), {0});
  call.add(second.at(), {8});
  call.add(got.at(), {4});
  ASSERT_EQ(kernel.run(call), kKernelIndexOutOfRange);
  ASSERT_EQ(call.errorPosition, 44);
  ASSERT_EQ(call.errorAccess, 1);
}

} // namespace
