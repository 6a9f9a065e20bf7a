// Launches of compiled kernels: binding, splitting, joining, errors, replacement by ops.
#include "LaunchPrograms.h"

#include "tracert/ThreadPool.h"

using namespace tracert;
using namespace tracert::test;

namespace {

constexpr Target kIsa = kX86V3;

#define SKIP_WITHOUT_V3()                                                                          \
  if (!supports(kIsa)) {                                                                           \
    GTEST_SKIP() << "this processor has no x86-64-v3";                                             \
  }

SectionChoice native() { return {SectionChoice::Native, kIsa}; }

struct AddProgram {
  std::shared_ptr<const Program> program;
  explicit AddProgram(bool isFlat) {
    ProgramKit kit;
    ValueId x = kit.input("x", DType::Float32, {kUnknownDim, kUnknownDim}, {"n", "m"});
    ValueId y = kit.input("y", DType::Float32, {kUnknownDim, kUnknownDim}, {"n", "m"});
    ValueId sum = kit.op(OpKind::add, {}, {x, y});
    kit.output("sum", sum);
    KernelDef def = kernel(isFlat ? addF32 : addStrided, sum, isFlat ? 1 : 2);
    def.isFlat = isFlat;
    def.split = KernelSplit::OuterAxis;
    InnerStride stride = isFlat ? InnerStride::Contiguous : InnerStride::Any;
    def.accesses = {access(AccessKind::Load, x, stride), access(AccessKind::Load, y, stride),
                    access(AccessKind::Store, sum, stride)};
    addSection(kit, kIsa, def, {0});
    program = kit.finish();
  }
};

TEST(Launch, FlatKernelOverContiguousInputs) {
  SKIP_WITHOUT_V3();
  AddProgram made(/*isFlat=*/true);
  for (const Dims &shape : {Dims{3, 5}, Dims{0, 4}, Dims{1, 1}, Dims{100, 33}}) {
    Tensors inputs{iota(DType::Float32, shape), iota(DType::Float32, shape, 7)};
    EXPECT_EQ(run(made.program, inputs, native()), *reference(*made.program, inputs));
  }
}

TEST(Launch, StridesThatDoNotFitAreReplacedByOps) {
  SKIP_WITHOUT_V3();
  AddProgram flat(/*isFlat=*/true);
  AddProgram strided(/*isFlat=*/false);
  HostTensor base = iota(DType::Float32, {4, 6});
  TensorView transposed = base.view();
  transposed.shape = {6, 4};
  transposed.strides = {4, 24};
  HostTensor copied = copyOf(transposed);
  TensorView views[] = {transposed, copied.view()};
  Tensors inputs{copied, copied};
  for (auto &[program, replaced] :
       {std::pair(flat.program, uint64_t(2)), std::pair(strided.program, uint64_t(0))}) {
    std::unique_ptr<Executor> executor = executorOf(program, {.section = native()});
    for (int round = 0; round < 2; ++round) {
      std::vector<OwnedTensor> outputs;
      ASSERT_TRUE(executor->run(views, outputs).ok());
      EXPECT_EQ(copyOf(outputs[0].view), (*reference(*program, inputs))[0]);
    }
    Executor::Stats stats = executor->stats();
    EXPECT_EQ(stats.launchesReplacedByOps, replaced);
    EXPECT_EQ(stats.launchesRun, 2 - replaced);
    EXPECT_EQ(stats.libraryKernelsRun, replaced);
    EXPECT_EQ(stats.section, native().target);
  }
}

TEST(Launch, ThreadsGiveTheSameResult) {
  SKIP_WITHOUT_V3();
  AddProgram made(/*isFlat=*/true);
  Tensors inputs{iota(DType::Float32, {1000, 333}), iota(DType::Float32, {1000, 333}, 7)};
  Tensors expected = *reference(*made.program, inputs);
  for (int threads : {1, 2, 5}) {
    ThreadPool pool(threads);
    std::unique_ptr<Executor> executor =
        executorOf(made.program, {.section = native(), .pool = &pool});
    EXPECT_EQ(*tryRun(*executor, inputs), expected) << threads << " threads";
    EXPECT_EQ(executor->stats().launchesRun, 1u);
    EXPECT_EQ(executor->stats().libraryKernelsRun, 0u);
    EXPECT_EQ(pool.sharedLoops(), threads > 1 ? 1u : 0u);
  }
}

TEST(Launch, BlockPartialsAreJoined) {
  SKIP_WITHOUT_V3();
  auto program = blockSumProgram(kIsa);
  for (int threads : {1, 3}) {
    ThreadPool pool(threads);
    std::unique_ptr<Executor> executor = executorOf(program, {.section = native(), .pool = &pool});
    for (int64_t size : {0, 1, 4095, 4096, 4097, 50000}) {
      Tensors inputs{iota(DType::Int64, {size}, -7)};
      EXPECT_EQ(*tryRun(*executor, inputs), *reference(*program, inputs)) << size;
    }
    EXPECT_EQ(executor->stats().launchesRun, 6u);
    EXPECT_EQ(pool.sharedLoops() > 0, threads > 1);
  }
}

TEST(Launch, GatherAndItsIndexError) {
  SKIP_WITHOUT_V3();
  auto program = gatherProgram(kIsa);
  std::unique_ptr<Executor> executor = executorOf(program, {.section = native()});
  HostTensor xs = iota(DType::Float32, {5}, 10);
  Result<Tensors> good = tryRun(*executor, {xs, tensor<int64_t>({3}, {4, -5, -1})});
  ASSERT_TRUE(good.ok()) << good.status().message();
  EXPECT_EQ((*good)[0].values<float>(), (std::vector<float>{14, 10, 14}));
  Result<Tensors> bad = tryRun(*executor, {xs, tensor<int64_t>({3}, {1, -6, 9})});
  ASSERT_FALSE(bad.ok());
  EXPECT_EQ(bad.status().code(), StatusCode::IndexOutOfRange);
  EXPECT_EQ(bad.status().message(), "index -6 is out of range for axis 0 of size 5 (op #0 "
                                    "'indexing_multi_axis_vec' at model.py:10)");
  EXPECT_EQ(executor->failedOp(), 0u);
  EXPECT_EQ(executor->stats().launchesReplacedByOps, 0u);
  EXPECT_TRUE(tryRun(*executor, {xs, tensor<int64_t>({1}, {0})}).ok());
}

TEST(Launch, MaskedSumNeedsNoCountBefore) {
  SKIP_WITHOUT_V3();
  auto program = maskedSumProgram(kIsa);
  for (int64_t size : {0, 1, 10, 1000}) {
    Tensors inputs{iota(DType::Int64, {size}), iota(DType::Bool, {size})};
    EXPECT_EQ(run(program, inputs, native()), *reference(*program, inputs)) << size;
  }
}

TEST(Launch, CompactStoreFromAMaskInsideTheKernel) {
  SKIP_WITHOUT_V3();
  auto program = compactProgram(kIsa);
  std::unique_ptr<Executor> executor = executorOf(program, {.section = native()});
  for (int64_t size : {0, 1, 10, 100000, 3}) {
    Tensors inputs{iota(DType::Float32, {size}), iota(DType::Bool, {size})};
    Result<Tensors> outputs = tryRun(*executor, inputs);
    ASSERT_TRUE(outputs.ok()) << outputs.status().message();
    EXPECT_EQ(*outputs, *reference(*program, inputs)) << size;
  }
}

TEST(Launch, MaxOfNothingIsFoundAfterTheKernel) {
  SKIP_WITHOUT_V3();
  ProgramKit kit;
  ValueId x = kit.input("x", DType::Int64, {kUnknownDim}, {"n"});
  ValueId m = kit.input("m", DType::Bool, {kUnknownDim}, {"n"});
  ValueId both = kit.op(OpKind::logical_and, {}, {m, m});
  ValueId selected = kit.op(OpKind::indexing_multi_axis_vec, items({maskItem()}), {x, both});
  ValueId max = kit.op(OpKind::max, {AttrValue::ints({0}), AttrValue::boolean(false)}, {selected});
  kit.output("max", max);
  // The kernel sums, but only the check matters here.
  KernelDef def = kernel(maskedSum, x, 1);
  def.isFlat = true;
  def.reducedAxes = {0};
  def.countValue = selected;
  def.accesses = {access(AccessKind::Load, m, InnerStride::Contiguous),
                  access(AccessKind::Load, x, InnerStride::Contiguous),
                  access(AccessKind::ReduceStore, max)};
  addSection(kit, kIsa, def, {0, 1, 2});
  auto program = kit.finish();
  std::unique_ptr<Executor> executor = executorOf(program, {.section = native()});
  Result<Tensors> none = tryRun(*executor, {iota(DType::Int64, {3}), boolTensor({3}, {0, 0, 0})});
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.status().code(), StatusCode::InvalidArgument);
  EXPECT_EQ(executor->failedOp(), 2u);
  EXPECT_TRUE(tryRun(*executor, {iota(DType::Int64, {3}), boolTensor({3}, {0, 1, 0})}).ok());
}

/// t = x + x; t[1:-1:2] = value computed by `source`, in the kernel.
TEST(Launch, SetStoreCopiesOrOverwrites) {
  SKIP_WITHOUT_V3();
  for (bool readsItself : {false, true}) {
    ProgramKit kit;
    ValueId x = kit.input("x", DType::Float32, {kUnknownDim}, {"n"});
    ValueId y = kit.input("y", DType::Float32, {kUnknownDim}, {"k"});
    ValueId old = kit.op(OpKind::add, {}, {x, x});
    // Reading the part before the written one: the set must not run in place.
    ValueId shifted = kit.op(OpKind::subtensor, items({slice({}, -1)}), {old});
    ValueId source = readsItself ? shifted : y;
    ValueId twice = kit.op(OpKind::add, {}, {source, source});
    ValueId result = kit.setInPlace(OpKind::set_subtensor, items({slice(1, {})}), {old, twice});
    kit.output("result", result);
    KernelDef def = kernel(doubleIntoSet, twice, 1);
    def.split = KernelSplit::OuterAxis;
    def.accesses = {access(AccessKind::Load, source),
                    access(AccessKind::SetStore, result, InnerStride::Any, 3)};
    addSection(kit, kIsa, def, {2, 3});
    auto program = kit.finish();
    std::unique_ptr<Executor> executor = executorOf(program, {.section = native()});
    for (int64_t size : {2, 5, 64}) {
      Tensors inputs{iota(DType::Float32, {size}), iota(DType::Float32, {size - 1}, 50)};
      Result<Tensors> outputs = tryRun(*executor, inputs);
      ASSERT_TRUE(outputs.ok()) << outputs.status().message();
      EXPECT_EQ(*outputs, *reference(*program, inputs)) << size;
    }
    EXPECT_EQ(executor->stats().launchesReplacedByOps, 0u);
  }
}

TEST(Launch, SetDomainWithoutAValue) {
  SKIP_WITHOUT_V3();
  // A broadcast value: no value has the domain's shape.
  ProgramKit kit;
  ValueId x = kit.input("x", DType::Float32, {kUnknownDim}, {"n"});
  ValueId y = kit.input("y", DType::Float32, {});
  ValueId result = kit.op(OpKind::set_subtensor, items({slice({}, {}, 3)}), {x, y});
  kit.output("result", result);
  KernelDef def = kernel(doubleIntoSet, kNoIndex, 1);
  def.accesses = {access(AccessKind::Load, y, InnerStride::Zero),
                  access(AccessKind::SetStore, result, InnerStride::Any, 0)};
  addSection(kit, kIsa, def, {0});
  auto program = kit.finish();
  Tensors outputs = run(program, {iota(DType::Float32, {5}), tensor<float>({}, {4})}, native());
  EXPECT_EQ(outputs[0].values<float>(), (std::vector<float>{8, 1, 2, 8, 4}));
}

TEST(Launch, SurvivesTheFile) {
  SKIP_WITHOUT_V3();
  AddProgram made(/*isFlat=*/true);
  Result<std::string> bytes = serializeProgram(*made.program, {});
  ASSERT_TRUE(bytes.ok());
  std::span view(reinterpret_cast<const uint8_t *>(bytes->data()), bytes->size());
  auto loaded = loadProgram(view, nullptr, {.verifyAll = true});
  ASSERT_TRUE(loaded.ok()) << loaded.status().message();
  Tensors inputs{iota(DType::Float32, {3, 5}), iota(DType::Float32, {3, 5}, 7)};
  EXPECT_EQ(run(*loaded, inputs, native()), *reference(*made.program, inputs));
  auto portable = loadProgram(view, nullptr, {.portableOnly = true});
  ASSERT_TRUE(portable.ok());
  EXPECT_TRUE((*portable)->sections.empty());
  EXPECT_FALSE(Executor::create(*portable, {.section = native()}).ok());
}

} // namespace
