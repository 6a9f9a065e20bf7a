// Programs on a device: where values lie, what is copied, and that results are the portable ones.
#include "DevicePlans.h"

#include "tracert/RunControl.h"
#include "tracert/ThreadPool.h"

#include <atomic>
#include <thread>

using namespace tracert;
using namespace tracert::test;

namespace {

constexpr DType kF32 = DType::Float32;
constexpr DType kI64 = DType::Int64;

FakeDevice::Counts counted(uint64_t in, uint64_t out, uint64_t within, uint64_t launches) {
  return {in, out, within, launches, 0};
}

TEST(DevicePlan, AChainLaunchesOnTheDevice) {
  RegisteredFake fake;
  auto program = chainProgram();
  DeviceRunner runner(fake, program);
  EXPECT_EQ(fake->counts().loads, 1u);
  EXPECT_EQ(runner.executor->stats().section, kFakeTarget);
  for (int64_t size : {4, 1, 0, 100, 4}) {
    bool isFirst = runner.executor->stats().runs == 0;
    Tensors inputs{iota(kF32, {size, 3}), iota(kF32, {size, 3}, 7)};
    Result<Tensors> got = runner.run(inputs);
    ASSERT_TRUE(got.ok()) << got.status().message();
    EXPECT_EQ(*got, *reference(*program, inputs)) << size;
    // The constant once, inputs each time, nothing back.
    EXPECT_EQ(runner.last, counted((size ? 2 : 0) + isFirst, 0, 0, 2)) << size;
    EXPECT_EQ(runner.libraryKernels, 0u);
  }
  EXPECT_EQ(runner.executor->stats().plans, 4u);
  EXPECT_EQ(runner.executor->stats().launchesReplacedByOps, 0u);
  EXPECT_GT(runner.executor->stats().arenaBytes, 0u);
}

TEST(DevicePlan, StridedInputsKeepTheirStrides) {
  RegisteredFake fake;
  auto program = chainProgram();
  DeviceRunner runner(fake, program);
  HostTensor wide = iota(kF32, {3, 8}), flipped = iota(kF32, {4, 3}, 5);
  TensorView x = wide.view(), y = flipped.view();
  x.shape = {4, 3};
  x.strides = {8, 32}; // every second column, transposed
  y.data = static_cast<char *>(y.data) + 3 * 12;
  y.strides = {-12, 4};
  Result<Tensors> got = runner.run(std::vector<TensorView>{x, y});
  ASSERT_TRUE(got.ok()) << got.status().message();
  EXPECT_EQ(*got, *reference(*program, {copyOf(x), copyOf(y)}));
  EXPECT_EQ(runner.last, counted(3, 0, 0, 2));
  TensorView repeated = wide.view();
  repeated.shape = {4, 3};
  repeated.strides = {0, 4};
  got = runner.run(std::vector<TensorView>{repeated, repeated});
  ASSERT_TRUE(got.ok()) << got.status().message();
  EXPECT_EQ(*got, *reference(*program, {copyOf(repeated), copyOf(repeated)}));
}

TEST(DevicePlan, InputsOnTheDeviceAreUsedWhereTheyLie) {
  RegisteredFake fake, other("fake1");
  auto program = chainProgram();
  DeviceRunner runner(fake, program);
  HostTensor x = iota(kF32, {2, 3}), y = iota(kF32, {2, 3}, 7);
  HostCopies copies(*fake, processAllocator());
  Result<CopiedTensor> placed = copies.send(x.view(), fake->allocator(), BufferRef());
  ASSERT_TRUE(placed.ok());
  ASSERT_TRUE(runner.run(Tensors{x, y}).ok());
  Result<Tensors> got = runner.run(std::vector<TensorView>{placed->view, y.view()});
  ASSERT_TRUE(got.ok()) << got.status().message();
  EXPECT_EQ(*got, *reference(*program, {x, y}));
  EXPECT_EQ(runner.last, counted(1, 0, 0, 2));
  got = runner.run(std::vector<TensorView>{placed->view, placed->view});
  ASSERT_TRUE(got.ok()) << got.status().message();
  EXPECT_EQ(runner.last, counted(0, 0, 0, 2));

  std::unique_ptr<Executor> host = executorOf(program);
  std::vector<OwnedTensor> outputs;
  TensorView both[] = {placed->view, y.view()};
  Status status = host->run(both, outputs);
  EXPECT_EQ(status.code(), StatusCode::InvalidArgument);
  EXPECT_EQ(status.message(), "input 'x' lies on fake0, the executor runs on cpu0; copy the input, "
                              "or make the executor on fake0");
  DeviceRunner elsewhere(other, program);
  EXPECT_EQ(elsewhere.run(std::vector<TensorView>{y.view(), placed->view}).status().message(),
            "input 'y' lies on fake0, the executor runs on fake1; copy the input, or make the "
            "executor on fake0");
}

TEST(DevicePlan, CountsComeBackFromLaunches) {
  RegisteredFake fake;
  auto masked = maskedSumProgram(kFakeTarget), compact = compactProgram(kFakeTarget);
  DeviceRunner sum(fake, masked), selecting(fake, compact);
  for (int64_t size : {10, 0, 1, 1000}) {
    Tensors inputs{iota(kI64, {size}), iota(DType::Bool, {size})};
    Result<Tensors> got = sum.run(inputs);
    ASSERT_TRUE(got.ok()) << got.status().message();
    EXPECT_EQ(*got, *reference(*masked, inputs)) << size;
    // The check of the op counts a mask that is there, so that comes out.
    EXPECT_EQ(sum.last, counted(size ? 2 : 0, size ? 1 : 0, 0, 1)) << size;
    inputs[0] = iota(kF32, {size});
    got = selecting.run(inputs);
    ASSERT_TRUE(got.ok()) << got.status().message();
    EXPECT_EQ(*got, *reference(*compact, inputs)) << size;
    // One op has no kernel: its two operands come out, its result goes in.
    EXPECT_EQ(selecting.last, size ? counted(3, 2, 0, 1) : counted(0, 0, 0, 1)) << size;
    EXPECT_EQ(selecting.libraryKernels, 1u);
  }
  // A buffer at its bound is not kept for much less.
  Tensors inputs{iota(kF32, {100'000}), iota(DType::Bool, {100'000})};
  EXPECT_EQ(*selecting.run(inputs), *reference(*compact, inputs));
  EXPECT_EQ(selecting.last, counted(3, 2, 1, 1));
}

TEST(DevicePlan, PartialSumsAreJoinedThere) {
  RegisteredFake fake;
  auto program = blockSumProgram(kFakeTarget);
  for (int threads : {1, 3}) {
    ThreadPool pool(threads);
    DeviceRunner runner(fake, program, {.pool = &pool});
    for (int64_t size : {0, 1, 4096, 4097, 50'000}) {
      Tensors inputs{iota(kI64, {size}, -7)};
      Result<Tensors> got = runner.run(inputs);
      ASSERT_TRUE(got.ok()) << got.status().message();
      EXPECT_EQ(*got, *reference(*program, inputs)) << size;
      EXPECT_EQ(runner.last, counted(size ? 1 : 0, 0, 0, 1)) << size;
    }
  }
}

TEST(DevicePlan, ABadIndexIsTheOpsError) {
  RegisteredFake fake;
  auto program = gatherProgram(kFakeTarget);
  DeviceRunner runner(fake, program);
  HostTensor x = iota(kF32, {5}, 10);
  Tensors inputs{x, tensor<int64_t>({3}, {4, -5, -1})};
  EXPECT_EQ(*runner.run(inputs), *reference(*program, inputs));
  EXPECT_EQ(runner.last, counted(2, 0, 0, 1));
  Result<Tensors> bad = runner.run(Tensors{x, tensor<int64_t>({3}, {1, -6, 9})});
  ASSERT_FALSE(bad.ok());
  EXPECT_EQ(bad.status().code(), StatusCode::IndexOutOfRange);
  EXPECT_EQ(bad.status().message(), "index -6 is out of range for axis 0 of size 5 (op #0 "
                                    "'indexing_multi_axis_vec' at model.py:10)");
  EXPECT_EQ(runner.executor->failedOp(), 0u);
  // Nothing to look at.
  for (int64_t count : {0, 1}) {
    inputs[1] = tensor<int64_t>({count}, std::vector<int64_t>(static_cast<size_t>(count), 2));
    EXPECT_EQ(*runner.run(inputs), *reference(*program, inputs));
  }
}

TEST(DevicePlan, SetsOverwriteOrCopy) {
  RegisteredFake fake;
  auto program = setProgram();
  DeviceRunner runner(fake, program);
  for (int64_t size : {5, 1, 64}) {
    Tensors inputs{iota(kF32, {size}), iota(kF32, {size - 1}, 50)};
    Result<Tensors> got = runner.run(inputs);
    ASSERT_TRUE(got.ok()) << got.status().message();
    EXPECT_EQ(*got, *reference(*program, inputs)) << size;
    // x + x on the host's copies; the set in the place of its old value.
    EXPECT_EQ(runner.last, counted(size > 1 ? 3 : 2, 2, 0, 1)) << size;
  }
}

TEST(DevicePlan, SizesInDataAreCopiedOut) {
  RegisteredFake fake;
  auto program = sliceProgram();
  DeviceRunner runner(fake, program);
  for (int64_t begin : {2, -3, 5, 9}) {
    Tensors inputs{iota(kF32, {5}), tensor<int64_t>({}, {begin})};
    Result<Tensors> got = runner.run(inputs);
    ASSERT_TRUE(got.ok()) << got.status().message();
    EXPECT_EQ(*got, *reference(*program, inputs)) << begin;
    EXPECT_EQ(runner.last.launches, 1u);
    EXPECT_EQ(runner.last.copiesIn, 2u);
    EXPECT_GT(runner.last.copiesOut, 0u);
    EXPECT_EQ(runner.libraryKernels, 0u);
  }
}

TEST(DevicePlan, StateStaysOnTheDevice) {
  RegisteredFake fake;
  DeviceRunner runner(fake, counterProgram());
  HostTensor step = tensor<float>({3}, {1, 2, 3});
  auto next = [&] { return runner.run(Tensors{step}); };
  Tensors got = *next();
  EXPECT_EQ(got[0].values<float>(), (std::vector<float>{101, 102, 103}));
  EXPECT_EQ(got[1].values<float>(), (std::vector<float>{100, 100, 100}));
  // The constant and the step in; one copy for the output, one for the new state.
  EXPECT_EQ(runner.last, counted(2, 0, 2, 1));
  got = *next();
  EXPECT_EQ(got[0].values<float>(), (std::vector<float>{102, 104, 106}));
  EXPECT_EQ(got[1].values<float>(), (std::vector<float>{101, 102, 103}));
  EXPECT_EQ(runner.last, counted(1, 0, 2, 1));
  fake->failLaunchesAfter(0);
  EXPECT_FALSE(next().ok());
  fake->failLaunchesAfter(-1);
  EXPECT_EQ((*next())[0].values<float>(), (std::vector<float>{103, 106, 109}));
  HostTensor given = tensor<float>({3}, {0, 0, 0});
  EXPECT_EQ((*runner.run(Tensors{given, step}))[0].values<float>(), (std::vector<float>{1, 2, 3}));
  EXPECT_EQ((*next())[0].values<float>(), (std::vector<float>{2, 4, 6}));
}

TEST(DevicePlan, OpsWithoutASectionRunOnCopies) {
  RegisteredFake fake;
  auto program = sampleProgram();
  for (SectionChoice::Kind kind : {SectionChoice::Best, SectionChoice::Portable}) {
    DeviceRunner runner(fake, program, {.section = {kind, kPortable}});
    Tensors inputs = sampleInputs();
    Result<Tensors> got = runner.run(inputs);
    ASSERT_TRUE(got.ok()) << got.status().message();
    EXPECT_EQ(*got, *reference(*program, inputs));
    EXPECT_EQ(runner.executor->stats().section, kPortable);
    EXPECT_EQ(runner.last.launches, 0u);
    EXPECT_GT(runner.libraryKernels, 0u);
    std::vector<TensorView> views{inputs[0].view()};
    std::vector<OwnedTensor> values;
    ASSERT_TRUE(runner.executor->runKeepingValues(views, values).ok());
    Tensors want = *reference(*program, inputs);
    for (size_t i = 0; i < program->outputs.size(); ++i) {
      EXPECT_EQ(fetch(*fake, values[program->outputs[i].value].view), want[i]);
    }
  }
}

TEST(DevicePlan, TheHostDoesNotTakeTheSection) {
  RegisteredFake fake;
  auto program = chainProgram();
  Tensors inputs{iota(kF32, {2, 3}), iota(kF32, {2, 3}, 7)};
  std::unique_ptr<Executor> host = executorOf(program);
  EXPECT_EQ(*tryRun(*host, inputs), *reference(*program, inputs));
  EXPECT_EQ(host->stats().section, kPortable);
  Status status =
      Executor::create(program, {.section = {SectionChoice::Native, kFakeTarget}}).status();
  EXPECT_EQ(status.code(), StatusCode::Unsupported);
  EXPECT_EQ(status.message(), "the section for nvptx-sm_80 cannot run on this processor; use the "
                              "portable section");
  EXPECT_EQ(fake->counts(), FakeDevice::Counts());
}

TEST(DevicePlan, CreatingChecksDeviceAndAllocator) {
  RegisteredFake fake;
  auto program = chainProgram();
  FakeDevice unknown("fake1", 4096);
  EXPECT_EQ(Executor::create(program, {.device = &unknown}).status().message(),
            "device 'fake1' is not registered");
  Status status =
      Executor::create(program, {.allocator = &processAllocator(), .device = &*fake}).status();
  EXPECT_EQ(status.message(), "the executor's allocator is for cpu0, its device is fake0");
  EXPECT_EQ(
      Executor::create(program, {.section = {SectionChoice::Native, kX86V3}, .device = &*fake})
          .status()
          .code(),
      StatusCode::Unsupported);
}

TEST(DevicePlan, TwoExecutorsShareCodeAndNothingElse) {
  RegisteredFake fake;
  auto program = chainProgram();
  DeviceRunner first(fake, program), second(fake, program);
  EXPECT_EQ(fake->counts().loads, 1u);
  Tensors inputs{iota(kF32, {4, 3}), iota(kF32, {4, 3}, 7)};
  Tensors want = *reference(*program, inputs);
  for (int round = 0; round < 3; ++round) {
    EXPECT_EQ(*first.run(inputs), want);
    EXPECT_EQ(*second.run(inputs), want);
  }
  Status status = unregisterDevice(*fake);
  EXPECT_EQ(status.code(), StatusCode::InvalidArgument);
  EXPECT_NE(status.message().find("device 'fake0' is in use: 2 executors, "), std::string::npos)
      << status.message();
  first.executor.reset();
  EXPECT_EQ(*second.run(inputs), want);
}

TEST(DevicePlan, ThreadsShareTheDevice) {
  RegisteredFake fake;
  auto program = compactProgram(kFakeTarget);
  Tensors inputs{iota(kF32, {50}), iota(DType::Bool, {50})};
  Tensors want = *reference(*program, inputs);
  std::vector<TensorView> views{inputs[0].view(), inputs[1].view()};
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 3; ++thread) {
    threads.emplace_back([&] {
      for (int round = 0; round < 40; ++round) {
        auto executor = Executor::create(program, {.device = &*fake});
        std::vector<OwnedTensor> outputs;
        bool isRight = executor.ok() && (*executor)->run(views, outputs).ok();
        wrong += !isRight || !(fetch(*fake, outputs[0].view) == want[0]);
      }
    });
  }
  for (std::thread &thread : threads) {
    thread.join();
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(fake->counts().launches, 120u);
}

TEST(DevicePlan, AnOutputKeepsTheDevice) {
  RegisteredFake fake;
  std::vector<OwnedTensor> outputs;
  {
    DeviceRunner runner(fake, chainProgram(), {.memoryLimit = 1 << 20});
    Tensors inputs{iota(kF32, {4, 3}), iota(kF32, {4, 3}, 7)};
    std::vector<TensorView> views{inputs[0].view(), inputs[1].view()};
    ASSERT_TRUE(runner.executor->run(views, outputs).ok());
  }
  EXPECT_EQ(unregisterDevice(*fake).message(), "device 'fake0' is in use: 0 executors, 48 bytes");
  EXPECT_EQ(fetch(*fake, outputs[0].view).values<float>()[0], 8);
}

TEST(DevicePlan, TheLimitHoldsThere) {
  RegisteredFake fake;
  auto program = chainProgram();
  Tensors inputs{iota(kF32, {1000, 3}), iota(kF32, {1000, 3}, 7)};
  DeviceRunner small(fake, program, {.memoryLimit = 20'000});
  Result<Tensors> got = small.run(inputs);
  ASSERT_FALSE(got.ok());
  EXPECT_EQ(got.status().code(), kResourceExhausted);
  EXPECT_NE(got.status().message().find("the run needs more than its limit of 20000 bytes"),
            std::string::npos)
      << got.status().message();
  DeviceRunner large(fake, program, {.memoryLimit = 100'000});
  EXPECT_EQ(*large.run(inputs), *reference(*program, inputs));
  RegisteredFake tiny("fake1", 8192);
  DeviceRunner full(tiny, program);
  EXPECT_EQ(full.run(inputs).status().code(), StatusCode::OutOfMemory);
}

/// Whatever copy or launch fails is reported, loses nothing, and the next run is right.
TEST(DevicePlan, EveryFailureOfTheDeviceIsReported) {
  RegisteredFake fake;
  Tensors floats{iota(kF32, {9}), iota(kF32, {8}, 50)};
  Tensors masks{iota(kF32, {9}), iota(DType::Bool, {9})};
  Tensors sliced{iota(kF32, {9}), tensor<int64_t>({}, {3})};
  std::vector<std::pair<std::shared_ptr<const Program>, Tensors>> cases{
      {setProgram(), floats}, {compactProgram(kFakeTarget), masks}, {sliceProgram(), sliced}};
  for (auto &[program, inputs] : cases) {
    Tensors want = *reference(*program, inputs);
    int64_t failures = 0;
    for (bool isCopy : {true, false}) {
      for (int64_t after = 0;; ++after) {
        DeviceRunner runner(fake, program);
        isCopy ? fake->failCopiesAfter(after) : fake->failLaunchesAfter(after);
        std::vector<TensorView> views{inputs[0].view(), inputs[1].view()};
        std::vector<OwnedTensor> outputs;
        Status status = runner.executor->run(views, outputs);
        fake->failCopiesAfter(-1);
        fake->failLaunchesAfter(-1);
        EXPECT_EQ(*runner.run(inputs), want);
        if (status.ok()) {
          break;
        }
        ++failures;
        EXPECT_EQ(status.code(), StatusCode::Io);
        EXPECT_NE(status.message().find("fake0 was told to fail this"), std::string::npos);
        EXPECT_TRUE(outputs.empty());
      }
    }
    EXPECT_GT(failures, 2);
    EXPECT_EQ(fake->allocator().usage().bytesInUse, 0u);
  }
}

} // namespace
