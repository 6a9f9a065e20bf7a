// Masks: packed stores, masked reductions, counts.
#include "KernelHarness.h"

using namespace tracec::test;
using namespace tracert;

namespace {

class Mask : public AtEachTarget {};
TRACEC_AT_EACH_ISA(Mask);

DType sumDType(DType dtype) {
  return isFloat(dtype) ? dtype : isUnsigned(dtype) ? DType::UInt64 : DType::Int64;
}

std::string maskKernel(DType dtype) {
  std::string type = typeText(dtype), sumType = typeText(sumDType(dtype));
  std::string text = R"(kernel.func @k domain 2 reduced [0, 1] (
      %x: !kernel.access<load T contiguous>, %m: !kernel.access<load i1 contiguous>,
      %c: !kernel.access<compact_store T zero>, %s: !kernel.access<reduce_store S zero>,
      %b: !kernel.access<reduce_store T zero>, %p: !kernel.access<compact_store i64 zero>,
      %all: !kernel.access<store T contiguous>) {
    %0 = kernel.load %x : !kernel.access<load T contiguous>
    %1 = kernel.load %m : !kernel.access<load i1 contiguous>
    %2 = kernel.apply "add"(%0, %0) : (T, T) -> T
    %3 = kernel.position : i64
    kernel.compact %2 where %1 to %c : !kernel.access<compact_store T zero>
    kernel.reduce "sum"(%2) where %1 to %s : !kernel.access<reduce_store S zero>, T
    kernel.reduce "max"(%2) where %1 to %b : !kernel.access<reduce_store T zero>, T
    kernel.compact %3 where %1 to %p : !kernel.access<compact_store i64 zero>
    kernel.store %2 to %all : !kernel.access<store T contiguous>
  })";
  for (const auto &[from, to] : {std::pair<std::string, std::string>{"T", type}, {"S", sumType}}) {
    for (const char *end : {" ", ",", ")", "\n"}) {
      for (const char *start : {" ", "("}) {
        std::string pattern = start + from + end;
        for (size_t at = text.find(pattern); at != std::string::npos; at = text.find(pattern, at)) {
          text.replace(at + 1, from.size(), to);
        }
      }
    }
  }
  return text;
}

TEST_P(Mask, CompactSumMaxAndCountOfEveryDtype) {
  for (DType dtype : kAllDTypes) {
    RunnableKernel kernel(maskKernel(dtype), GetParam());
    for (int64_t n : {0, 1, 2, 7, 8, 9, 15, 16, 17, 31, 33, 40, 300, 5000}) {
      for (int percent : {0, 3, 50, 97, 100}) {
        const int64_t rows = 3, total = rows * n;
        Array x = Array::randomTerms(dtype, total, n), mask(DType::Bool, total);
        std::vector<int64_t> positions;
        Array doubled(dtype, total);
        for (int64_t i = 0; i < total; ++i) {
          bool selected = static_cast<int>((i * 2654435761u >> 7) % 100) < percent;
          mask.set<uint8_t>(i, selected);
          const void *operands[] = {x.at(i), x.at(i)};
          scalarOp("add", dtype).apply(operands, doubled.at(i));
          if (selected) {
            positions.push_back(i);
          }
        }
        const int64_t count = static_cast<int64_t>(positions.size());
        Array terms(dtype, count), wantedPositions(DType::Int64, count);
        for (int64_t i = 0; i < count; ++i) {
          std::memcpy(terms.at(i), doubled.at(positions[i]), x.elementSize());
          wantedPositions.set(i, positions[i]);
        }
        Array packed(dtype, count), packedPositions(DType::Int64, count), all(dtype, total);
        Array sum(sumDType(dtype), 1), max(dtype, 1), wantedSum = sum, wantedMax = max;
        referenceSum(terms, Order::Inner, sum.dtype, wantedSum.at());
        KernelCall call{.domain = {rows, n}};
        call.add(x.at(), {x.elementSize() * n, x.elementSize()});
        call.add(mask.at(), {n, 1});
        call.add(packed.at(), {0, 0});
        call.add(sum.at(), {0, 0});
        call.add(max.at(), {0, 0});
        call.add(packedPositions.at(), {0, 0});
        call.add(all.at(), {x.elementSize() * n, x.elementSize()});
        ASSERT_EQ(kernel.run(call), kKernelOk);
        std::string what = std::string(dtypeName(dtype)) + " n=" + std::to_string(n) + " " +
                           std::to_string(percent) + "%";
        ASSERT_EQ(call.count, count) << what;
        ASSERT_TRUE(packed.guardIsIntact(64)) << what;
        ASSERT_TRUE(packedPositions.guardIsIntact(64)) << what;
        for (int64_t i = 0; i < count; ++i) {
          ASSERT_EQ(packedPositions.get<int64_t>(i), positions[i]) << what;
        }
        // Packed stores may run over into the slack.
        Array kept(dtype, count);
        std::memcpy(kept.at(), packed.at(), count * x.elementSize());
        ASSERT_TRUE(sameElements(kept, terms)) << what;
        ASSERT_TRUE(sameElements(sum, wantedSum)) << what;
        ASSERT_TRUE(sameElements(all, doubled)) << what;
        if (count > 0) {
          referenceMax(terms, wantedMax.at());
          ASSERT_TRUE(sameElements(max, wantedMax)) << what;
        }
      }
    }
  }
}

TEST_P(Mask, ComparedInTheKernelOverManyBlocks) {
  RunnableKernel kernel(R"(kernel.func @k domain 1 reduced [0] flat (
      %x: !kernel.access<load f32 contiguous>, %s: !kernel.access<reduce_store f32 zero>) {
    %0 = kernel.load %x : !kernel.access<load f32 contiguous>
    %1 = kernel.const 0.5 : f32
    %2 = kernel.apply "gt"(%0, %1) : (f32, f32) -> i1
    %3 = kernel.apply "mul"(%0, %1) : (f32, f32) -> f32
    kernel.reduce "sum"(%3) where %2 to %s : !kernel.access<reduce_store f32 zero>, f32
  })",
                        GetParam());
  for (int64_t n : {4096, 30011, 100000}) {
    Array x = Array::randomTerms(DType::Float32, n, 76);
    std::vector<float> selected;
    for (int64_t i = 0; i < n; ++i) {
      if (x.get<float>(i) > 0.5f) {
        selected.push_back(x.get<float>(i) * 0.5f);
      }
    }
    Array terms(DType::Float32, static_cast<int64_t>(selected.size()));
    std::memcpy(terms.at(), selected.data(), selected.size() * 4);
    Array sum(DType::Float32, 1), wanted = sum;
    referenceSum(terms, Order::Inner, DType::Float32, wanted.at());
    KernelCall call{.domain = {n}};
    call.add(x.at(), {4});
    call.add(sum.at(), {0});
    ASSERT_EQ(kernel.run(call), kKernelOk);
    ASSERT_EQ(call.count, terms.count);
    ASSERT_TRUE(sameElements(sum, wanted)) << n;
  }
}

} // namespace
