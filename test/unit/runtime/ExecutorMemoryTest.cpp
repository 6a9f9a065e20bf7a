// What an executor holds between runs does not grow with the calls it has seen.
#include "ProgramKit.h"

using namespace tracert;
using namespace tracert::test;

namespace {

/// Runs with [0, size) and drops the outputs.
void runWith(Executor &executor, int64_t size) {
  HostTensor input = iota(DType::Float32, {size}, 1);
  TensorView view = input.view();
  std::vector<OwnedTensor> outputs;
  Status status = executor.run(std::span(&view, 1), outputs);
  ASSERT_TRUE(status.ok()) << status.message();
}

/// ((x + x) + x) + ...: needs an arena of two values.
std::shared_ptr<const Program> chainProgram() {
  ProgramKit kit;
  ValueId x = kit.input("x", DType::Float32, {kUnknownDim}, {"n"});
  ValueId current = x;
  for (int i = 0; i < 5; ++i) {
    current = kit.op(OpKind::add, {}, {current, x});
  }
  kit.output("y", current);
  return kit.finish();
}

/// x[x > 0] * x[x > 0], whose size is known only at run time.
std::shared_ptr<const Program> maskProgram() {
  ProgramKit kit;
  ValueId x = kit.input("x", DType::Float32, {kUnknownDim}, {"n"});
  ValueId zero = kit.constant(tensor<float>({}, {0}));
  ValueId mask = kit.op(OpKind::gt, {}, {x, zero});
  ValueId chosen = kit.op(OpKind::indexing_multi_axis_vec, items({maskItem()}), {x, mask});
  kit.output("y", kit.op(OpKind::mul, {}, {chosen, chosen}));
  return kit.finish();
}

TEST(ExecutorMemory, ManyShapesKeepAFewPlans) {
  std::unique_ptr<Allocator> allocator = makeCachingAllocator();
  for (const auto &program : {chainProgram(), maskProgram()}) {
    std::unique_ptr<Executor> executor =
        executorOf(program, {.section = {}, .allocator = allocator.get()});
    size_t afterFirst = 0;
    for (int64_t size = 1; size <= 400; ++size) {
      runWith(*executor, size);
      if (size == 100) {
        afterFirst = allocator->usage().bytesInUse;
      }
    }
    EXPECT_EQ(executor->stats().plans, 400u);
    // Four times the size, not four times the plans.
    EXPECT_LE(allocator->usage().bytesInUse, 4 * afterFirst + 4096);
  }
}

TEST(ExecutorMemory, OneLargeCallIsForgotten) {
  std::unique_ptr<Allocator> allocator = makeCachingAllocator();
  std::unique_ptr<Executor> executor =
      executorOf(chainProgram(), {.section = {}, .allocator = allocator.get()});
  runWith(*executor, 1'000'000);
  EXPECT_GE(allocator->usage().bytesInUse, 4'000'000u);
  EXPECT_GE(executor->stats().arenaBytes, 4'000'000u);
  for (int64_t size = 1; size <= 20; ++size) {
    runWith(*executor, size);
  }
  EXPECT_LE(allocator->usage().bytesInUse, 10'000u);
  EXPECT_LE(executor->stats().arenaBytes, 10'000u);
  // The same memory serves small plans without being made again, and the large one comes back.
  runWith(*executor, 1'000'000);
  EXPECT_GE(executor->stats().arenaBytes, 4'000'000u);
}

TEST(ExecutorMemory, ValuesOfARunEndWithIt) {
  std::unique_ptr<Allocator> allocator = makeCachingAllocator();
  std::unique_ptr<Executor> executor =
      executorOf(maskProgram(), {.section = {}, .allocator = allocator.get()});
  runWith(*executor, 10);
  size_t small = allocator->usage().bytesInUse;
  runWith(*executor, 1'000'000);
  runWith(*executor, 10);
  // The mask lies in the arena; what has the size of the count goes with the run.
  size_t arena = executor->stats().arenaBytes;
  EXPECT_LE(allocator->usage().bytesInUse, small + 2 * arena + 4096);
  for (int64_t size = 11; size <= 30; ++size) {
    runWith(*executor, size);
  }
  EXPECT_LE(allocator->usage().bytesInUse, small + 4096);
}

TEST(ExecutorMemory, AFailedRunKeepsNothing) {
  ProgramKit kit;
  ValueId x = kit.input("x", DType::Float32, {kUnknownDim}, {"n"});
  ValueId zero = kit.constant(tensor<float>({}, {0}));
  ValueId mask = kit.op(OpKind::gt, {}, {x, zero});
  ValueId chosen = kit.op(OpKind::indexing_multi_axis_vec, items({maskItem()}), {x, mask});
  ValueId other = kit.constant(tensor<float>({3}, {1, 2, 3}));
  kit.output("y", kit.op(OpKind::add, {}, {chosen, other}));
  std::unique_ptr<Allocator> allocator = makeCachingAllocator();
  std::unique_ptr<Executor> executor =
      executorOf(kit.finish(), {.section = {}, .allocator = allocator.get()});
  runWith(*executor, 3);
  size_t before = allocator->usage().bytesInUse;
  Result<Tensors> failed = tryRun(*executor, {iota(DType::Float32, {200'000}, 1)});
  ASSERT_FALSE(failed.ok());
  // The arena with the mask, but not the elements.
  size_t arena = executor->stats().arenaBytes;
  EXPECT_LE(allocator->usage().bytesInUse, before + 2 * arena + 4096);
  EXPECT_LT(arena, 300'000u);
}

} // namespace
