// Traced functions called from several threads, and what they keep for the next call.
#include "tracec/Functional.h"
#include "tracec/Trace.h"
#include "tracert/CacheLimits.h"
#include "tracert/ThreadPool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <thread>

namespace tracec {
namespace {

using tracert::OpKind;

std::shared_ptr<TracedFunction> makeFunction() {
  TraceOptions options;
  options.name = "f";
  return TracedFunction::create(options);
}

Value filled(const Dims &shape, float first) {
  Result<Value> value = allocateValue({DType::Float32, shape});
  EXPECT_TRUE(value.ok());
  auto *data = static_cast<float *>((*value)->view().data);
  for (int64_t i = 0; i < (*value)->view().elementCount(); ++i) {
    data[i] = first + static_cast<float>(i);
  }
  return *value;
}

/// 3 * x + x: one segment, one kernel. `inside` runs in the middle of the call.
Status call(const std::shared_ptr<TracedFunction> &function, const Value &input, Value &result,
            const std::function<void()> &inside = {}) {
  CallArguments arguments;
  arguments.tensors = {Tensor::fromValue(input)};
  arguments.names = {"x"};
  arguments.structure = "x=tensor";
  CallScope scope(function);
  TRACERT_TRY(scope.begin(arguments));
  TRACERT_ASSIGN(Value x, arguments.tensors[0].read());
  Operand product[] = {Operand::of(x), Operand::of({PythonScalar::Kind::Float, 0, 3.0, false})};
  TRACERT_ASSIGN(Value scaled, pointwise(OpKind::mul, product));
  if (inside) {
    inside();
  }
  Operand sum[] = {Operand::of(scaled), Operand::of(x)};
  TRACERT_ASSIGN(Value total, pointwise(OpKind::add, sum));
  Tensor returned = Tensor::fromValue(std::move(total));
  TRACERT_TRY(scope.finish({&returned, 1}));
  TRACERT_ASSIGN(result, returned.readForHost());
  return {};
}

/// How many elements are wrong; a failure counts as one.
int64_t wrongElements(const std::shared_ptr<TracedFunction> &function, const Dims &shape,
                      float first) {
  Value input = filled(shape, first), result;
  if (Status status = call(function, input, result); !status.ok()) {
    ADD_FAILURE() << status.message();
    return 1;
  }
  if (!(result->type() == input->type())) {
    return 1;
  }
  int64_t wrong = 0;
  for (int64_t i = 0; i < input->view().elementCount(); ++i) {
    float x = static_cast<const float *>(input->view().data)[i];
    wrong += static_cast<const float *>(result->view().data)[i] != 3.0f * x + x;
  }
  return wrong;
}

/// More kinds of calls than a function keeps specialisations.
std::vector<Dims> kindsOfShapes() {
  std::vector<Dims> shapes;
  for (int ones = 0; ones < 8; ++ones) {
    shapes.push_back({ones & 1 ? 1 : 2, ones & 2 ? 1 : 3, ones & 4 ? 1 : 4});
  }
  for (const Dims &shape : {Dims{}, Dims{1}, Dims{7}, Dims{5, 1}}) {
    shapes.push_back(shape);
  }
  return shapes;
}

TEST(TraceThreads, ReplayWhileOthersRecordAndEvict) {
  auto function = makeFunction();
  std::vector<Dims> shapes = kindsOfShapes();
  ASSERT_GT(shapes.size(), tracert::kMaxSpecialisations);
  std::atomic<int64_t> wrong{0};
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] {
      for (int round = 0; round < 60; ++round) {
        // Two threads stay with one kind, two walk over all of them.
        size_t kind = thread < 2 ? 0 : (round * 5 + thread) % shapes.size();
        wrong += wrongElements(function, shapes[kind], static_cast<float>(round));
      }
    });
  }
  for (std::thread &thread : threads) {
    thread.join();
  }
  EXPECT_EQ(wrong, 0);
  TracedFunction::Stats stats = function->stats();
  EXPECT_LE(stats.specialisations, tracert::kMaxSpecialisations);
  EXPECT_GT(stats.launches, 0u);
  EXPECT_EQ(stats.launchesReplaced, 0u);
}

TEST(TraceThreads, ThreadsThatRecordTheSameAtOnceLeaveOneRecord) {
  auto function = makeFunction();
  std::latch recording(3);
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 3; ++thread) {
    threads.emplace_back([&, thread] {
      Value result;
      Status status = call(function, filled({4}, static_cast<float>(thread)), result,
                           [&] { recording.arrive_and_wait(); });
      EXPECT_TRUE(status.ok()) << status.message();
      EXPECT_EQ(static_cast<const float *>(result->view().data)[1], 4.0f * (thread + 1));
    });
  }
  for (std::thread &thread : threads) {
    thread.join();
  }
  EXPECT_EQ(function->stats().specialisations, 1u);
  EXPECT_EQ(function->stats().replays, 0u);
  EXPECT_EQ(wrongElements(function, {9}, 1), 0);
  EXPECT_EQ(function->stats().replays, 1u);
}

TEST(TraceThreads, AFewExecutorsWaitForTheNextCall) {
  auto function = makeFunction();
  EXPECT_EQ(wrongElements(function, {5}, 1), 0);
  std::vector<std::weak_ptr<tracert::ThreadPool>> pools;
  const size_t count = 3 * tracert::kMaxIdleExecutorsPerSegment;
  std::shared_ptr<tracert::ThreadPool> before = evalOptions().pool;
  for (size_t i = 0; i < count; ++i) {
    // An executor is made for a pool, and shares it.
    auto pool = std::make_shared<tracert::ThreadPool>(2);
    pools.push_back(pool);
    evalOptions().pool = pool;
    EXPECT_EQ(wrongElements(function, {5}, 1), 0);
  }
  evalOptions().pool = before;
  size_t alive = 0;
  for (const auto &pool : pools) {
    alive += !pool.expired();
  }
  EXPECT_EQ(alive, tracert::kMaxIdleExecutorsPerSegment);
  // The most recent ones.
  EXPECT_TRUE(pools.front().expired());
  EXPECT_FALSE(pools.back().expired());
  EXPECT_EQ(function->stats().replays, count);
}

TEST(TraceThreads, AForgottenSpecialisationGoesWithItsMemory) {
  auto function = makeFunction();
  std::vector<Dims> shapes = kindsOfShapes();
  size_t first = 0;
  for (int round = 0; round < 6; ++round) {
    for (const Dims &shape : shapes) {
      EXPECT_EQ(wrongElements(function, shape, 2), 0);
      EXPECT_EQ(wrongElements(function, shape, 3), 0);
    }
    size_t inUse = tracert::processAllocator().usage().bytesInUse;
    first = round == 0 ? inUse : first;
    EXPECT_EQ(inUse, first) << "round " << round;
  }
  EXPECT_EQ(function->stats().specialisations, tracert::kMaxSpecialisations);
}

} // namespace
} // namespace tracec
