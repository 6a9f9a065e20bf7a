// Kernels without reductions: every op and dtype, strides, tails, splits, sets.
#include "KernelHarness.h"

using namespace tracec::test;
using namespace tracert;

namespace {

class Map : public AtEachTarget {};
TRACEC_AT_EACH_ISA(Map);

std::string access(const std::string &kind, DType dtype, const std::string &stride) {
  return "!kernel.access<" + kind + " " + typeText(dtype) + " " + stride + ">";
}

/// A kernel of one op over rank 1: operand i has stride class strides[i].
std::string opKernel(const ScalarOp &op, const std::vector<std::string> &strides) {
  std::string arguments, loads, names, types;
  for (int i = 0; i < op.arity; ++i) {
    DType dtype = op.name == "where" && i == 0 ? DType::Bool : op.dtype;
    std::string n = std::to_string(i), type = access("load", dtype, strides[i]);
    arguments += "%a" + n + ": " + type + ", ";
    loads += "%v" + n + " = kernel.load %a" + n + " : " + type + "\n";
    names += (i ? ", %v" : "%v") + n;
    types += (i ? ", " : "") + typeText(dtype);
  }
  std::string store = access("store", op.result, "contiguous");
  return "kernel.func @k domain 1 (" + arguments + "%o: " + store + ") {\n" + loads +
         "%r = kernel.apply \"" + op.name + "\"(" + names + ") : (" + types + ") -> " +
         typeText(op.result) + "\nkernel.store %r to %o : " + store + "\n}";
}

void checkOp(const ScalarOp &op, Target target, const std::vector<std::string> &classes,
             const std::vector<int64_t> &steps) {
  RunnableKernel kernel(opKernel(op, classes), target);
  for (int64_t n = 0; n <= 40; ++n) {
    std::vector<Array> operands;
    KernelCall call{.domain = {n}};
    for (int i = 0; i < op.arity; ++i) {
      DType dtype = op.name == "where" && i == 0 ? DType::Bool : op.dtype;
      operands.push_back(Array::random(dtype, 3 * n + 1, n * 8 + i));
    }
    std::vector<int64_t> starts;
    for (int i = 0; i < op.arity; ++i) {
      starts.push_back(steps[i] < 0 ? -steps[i] * (n > 0 ? n - 1 : 0) : 0);
      call.add(operands[i].at(starts[i]), {steps[i] * operands[i].elementSize()});
    }
    Array got(op.result, n), wanted(op.result, n);
    call.add(got.at(), {got.elementSize()});
    for (int64_t j = 0; j < n; ++j) {
      const void *elements[3];
      for (int i = 0; i < op.arity; ++i) {
        elements[i] = operands[i].at(starts[i] + j * steps[i]);
      }
      op.apply(elements, wanted.at(j));
    }
    ASSERT_EQ(kernel.run(call), kKernelOk);
    ASSERT_TRUE(sameElements(got, wanted)) << op.name << " " << dtypeName(op.dtype) << " n=" << n;
  }
}

TEST_P(Map, EveryOpOfEveryDtypeEqualsTheScalarTemplate) {
  for (const ScalarOp &op : scalarOps()) {
    checkOp(op, GetParam(), {"contiguous", "any", "zero"}, {1, -2, 0});
  }
}

TEST_P(Map, StrideClassesOfEveryDtype) {
  for (DType dtype : kAllDTypes) {
    checkOp(scalarOp("maximum", dtype), GetParam(), {"zero", "contiguous"}, {0, 1});
    checkOp(scalarOp("maximum", dtype), GetParam(), {"any", "any"}, {3, 0});
  }
}

TEST_P(Map, EveryCast) {
  for (DType from : kAllDTypes) {
    for (DType to : kAllDTypes) {
      std::string load = access("load", from, "contiguous"),
                  store = access("store", to, "contiguous");
      RunnableKernel kernel("kernel.func @k domain 1 (%a: " + load + ", %o: " + store + ") {\n" +
                                "%0 = kernel.load %a : " + load +
                                "\n%1 = kernel.cast %0 : " + typeText(from) + " to " +
                                typeText(to) + "\nkernel.store %1 to %o : " + store + "\n}",
                            GetParam());
      for (int64_t n : {1, 16, 21, 500}) {
        Array in = Array::random(from, n, n), got(to, n), wanted(to, n);
        for (int64_t i = 0; i < n; ++i) {
          castElement(from, to, in.at(i), wanted.at(i));
        }
        KernelCall call{.domain = {n}};
        call.add(in.at(), {in.elementSize()});
        call.add(got.at(), {got.elementSize()});
        ASSERT_EQ(kernel.run(call), kKernelOk);
        ASSERT_TRUE(sameElements(got, wanted)) << dtypeName(from) << " to " << dtypeName(to);
      }
    }
  }
}

constexpr const char *addKernel = R"(
kernel.func @k domain 3 %s (%x: !kernel.access<load f32 contiguous>,
    %y: !kernel.access<load f32 any>, %o: !kernel.access<store f32 contiguous>) {
  %0 = kernel.load %x : !kernel.access<load f32 contiguous>
  %1 = kernel.load %y : !kernel.access<load f32 any>
  %2 = kernel.apply "add"(%0, %1) : (f32, f32) -> f32
  kernel.store %2 to %o : !kernel.access<store f32 contiguous>
})";

std::string withHeader(const char *text, const std::string &header) {
  std::string result = text;
  result.replace(result.find("%s"), 2, header);
  return result;
}

TEST_P(Map, RankThreeWithTransposedAndRepeatedOperands) {
  RunnableKernel kernel(withHeader(addKernel, ""), GetParam());
  for (int64_t inner : {0, 1, 7, 16, 35}) {
    const int64_t a = 3, b = 4, n = inner;
    Array x = Array::random(DType::Float32, b * n, 1);
    Array y = Array::random(DType::Float32, a * b * n, 2);
    Array got(DType::Float32, a * b * n), wanted(DType::Float32, a * b * n);
    KernelCall call{.domain = {a, b, n}};
    call.add(x.at(), {0, 4 * n, 4});
    call.add(y.at(), {4, 4 * a, 4 * a * b}); // axes reversed
    call.add(got.at(), {4 * b * n, 4 * n, 4});
    for (int64_t i = 0; i < a; ++i) {
      for (int64_t j = 0; j < b; ++j) {
        for (int64_t k = 0; k < n; ++k) {
          wanted.set((i * b + j) * n + k,
                     x.get<float>(j * n + k) + y.get<float>(i + a * j + a * b * k));
        }
      }
    }
    ASSERT_EQ(kernel.run(call), kKernelOk);
    ASSERT_TRUE(sameElements(got, wanted)) << n;
  }
}

TEST_P(Map, UnitAxesMoveTheVectorAxis) {
  RunnableKernel kernel(withHeader(addKernel, "unit [0, 2]"), GetParam());
  const int64_t n = 37;
  Array x = Array::random(DType::Float32, n, 1), y = Array::random(DType::Float32, 2 * n, 2);
  Array got(DType::Float32, n), wanted(DType::Float32, n);
  KernelCall call{.domain = {1, n, 1}};
  call.add(x.at(), {-1, 4, -1}); // strides of unit axes are never read
  call.add(y.at(), {-1, 8, -1});
  call.add(got.at(), {-1, 4, -1});
  for (int64_t i = 0; i < n; ++i) {
    wanted.set(i, x.get<float>(i) + y.get<float>(2 * i));
  }
  ASSERT_EQ(kernel.run(call), kKernelOk);
  ASSERT_TRUE(sameElements(got, wanted));
}

TEST_P(Map, SplitsOverTheOuterAxisMakeOneResult) {
  for (const char *header : {"split outer_axis", "unit [1, 2] split outer_axis"}) {
    bool isRankOne = std::string(header).starts_with("unit");
    RunnableKernel kernel(withHeader(addKernel, header), GetParam());
    const int64_t a = 29, n = isRankOne ? 1 : 5;
    Array x = Array::random(DType::Float32, a * n, 1), y = Array::random(DType::Float32, a * n, 2);
    Array got(DType::Float32, a * n), wanted(DType::Float32, a * n);
    for (int64_t i = 0; i < a * n; ++i) {
      wanted.set(i, x.get<float>(i) + y.get<float>(i));
    }
    for (auto [begin, end] : {std::pair<int64_t, int64_t>{20, 29}, {0, 3}, {3, 3}, {3, 20}}) {
      KernelCall call{.domain = {a, 1, n}, .begin = begin, .end = end};
      call.add(x.at(), {4 * n, 4 * n, 4});
      call.add(y.at(), {4 * n, 4 * n, 4});
      call.add(got.at(), {4 * n, 4 * n, 4});
      ASSERT_EQ(kernel.run(call), kKernelOk);
    }
    ASSERT_TRUE(sameElements(got, wanted));
  }
}

TEST_P(Map, RankZeroDomain) {
  RunnableKernel kernel(R"(kernel.func @k domain 0 (%x: !kernel.access<load f32 zero>,
      %o: !kernel.access<store f32 zero>) {
    %0 = kernel.load %x : !kernel.access<load f32 zero>
    %1 = kernel.apply "mul"(%0, %0) : (f32, f32) -> f32
    kernel.store %1 to %o : !kernel.access<store f32 zero>
  })",
                        GetParam());
  Array x(DType::Float32, 1), got(DType::Float32, 1), wanted(DType::Float32, 1);
  x.set(0, 3.0f);
  wanted.set(0, 9.0f);
  KernelCall call;
  call.add(x.at(), {});
  call.add(got.at(), {});
  ASSERT_EQ(kernel.run(call), kKernelOk);
  ASSERT_TRUE(sameElements(got, wanted));
}

TEST_P(Map, ConstantsAndPositions) {
  RunnableKernel kernel(R"(kernel.func @k domain 2 (%o: !kernel.access<store i64 contiguous>,
      %h: !kernel.access<store f16 contiguous>) {
    %0 = kernel.position : i64
    %1 = kernel.const 1000 : i64
    %2 = kernel.apply "add"(%0, %1) : (i64, i64) -> i64
    kernel.store %2 to %o : !kernel.access<store i64 contiguous>
    %3 = kernel.const 1.5 : f16
    kernel.store %3 to %h : !kernel.access<store f16 contiguous>
  })",
                        GetParam());
  const int64_t a = 3, n = 21;
  Array got(DType::Int64, a * n), wanted(DType::Int64, a * n);
  Array half(DType::Float16, a * n), wantedHalf(DType::Float16, a * n);
  for (int64_t i = 0; i < a * n; ++i) {
    wanted.set<int64_t>(i, 1000 + i);
    wantedHalf.set<uint16_t>(i, 0x3E00);
  }
  KernelCall call{.domain = {a, n}};
  call.add(got.at(), {8 * n, 8});
  call.add(half.at(), {2 * n, 2});
  ASSERT_EQ(kernel.run(call), kKernelOk);
  ASSERT_TRUE(sameElements(got, wanted));
  ASSERT_TRUE(sameElements(half, wantedHalf));
}

TEST_P(Map, SetStoreWritesOnlyTheView) {
  for (DType dtype : kAllDTypes) {
    std::string load = access("load", dtype, "contiguous"), set = access("set_store", dtype, "any");
    RunnableKernel kernel("kernel.func @k domain 1 (%a: " + load + ", %o: " + set + ") {\n" +
                              "%0 = kernel.load %a : " + load + "\nkernel.store %0 to %o : " + set +
                              "\n}",
                          GetParam());
    for (int64_t n = 0; n <= 40; ++n) {
      Array value = Array::random(dtype, n, 5);
      Array got = Array::random(dtype, 3 * n + 2, 6), wanted = got;
      const int64_t size = got.elementSize();
      for (int64_t i = 0; i < n; ++i) { // [3n-1 :: -3]
        std::memcpy(wanted.at(3 * (n - 1 - i) + 1), value.at(i), size);
      }
      KernelCall call{.domain = {n}};
      call.add(value.at(), {size});
      call.add(got.at(n > 0 ? 3 * (n - 1) + 1 : 0), {-3 * size});
      ASSERT_EQ(kernel.run(call), kKernelOk);
      ASSERT_TRUE(sameElements(got, wanted)) << dtypeName(dtype) << " " << n;
    }
  }
}

} // namespace
