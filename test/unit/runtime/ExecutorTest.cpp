#include "ProgramKit.h"

#include <random>

using namespace tracert;
using namespace tracert::test;

namespace {

AttrList reduceAttrs(Dims axes, bool keepdims = false) {
  return {AttrValue::ints(std::move(axes)), AttrValue::boolean(keepdims)};
}

TEST(Executor, RunsPointwiseOpsAndReductions) {
  ProgramKit kit;
  ValueId x = kit.input("x", DType::Float32, {2, 3});
  ValueId y = kit.input("y", DType::Float32, {3});
  ValueId sum = kit.op(OpKind::add, {}, {x, y});
  kit.output("sum", sum);
  kit.output("total", kit.op(OpKind::sum, reduceAttrs({0, 1}), {sum}));
  Tensors outputs =
      run(kit.finish(), {iota(DType::Float32, {2, 3}), iota(DType::Float32, {3}, 10)});
  ASSERT_EQ(outputs.size(), 2u);
  EXPECT_EQ(outputs[0].values<float>(), (std::vector<float>{10, 12, 14, 13, 15, 17}));
  EXPECT_EQ(outputs[1].values<float>(), std::vector<float>{81});
}

TEST(Executor, PlansOncePerShape) {
  ProgramKit kit;
  ValueId x = kit.input("x", DType::Float32, {kUnknownDim}, {"n"});
  kit.output("y", kit.op(OpKind::mul, {}, {x, x}));
  std::unique_ptr<Executor> executor = executorOf(kit.finish());
  for (int64_t size : {3, 5, 3, 0, 5, 1, 3}) {
    Result<Tensors> outputs = tryRun(*executor, {iota(DType::Float32, {size})});
    ASSERT_TRUE(outputs.ok()) << outputs.status().message();
    std::vector<float> expected;
    for (int64_t i = 0; i < size; ++i) {
      expected.push_back(static_cast<float>(i * i));
    }
    EXPECT_EQ((*outputs)[0].values<float>(), expected);
  }
  EXPECT_EQ(executor->stats().plans, 4u);
  EXPECT_EQ(executor->stats().runs, 7u);
}

TEST(Executor, EmptyTensorsNeedNoMemory) {
  ProgramKit kit;
  ValueId x = kit.input("x", DType::Float32, {kUnknownDim}, {"n"});
  ValueId reversed = kit.op(OpKind::subtensor, items({slice({}, {}, -1)}), {x});
  kit.output("y", kit.op(OpKind::add, {}, {x, reversed}));
  std::unique_ptr<Executor> executor = executorOf(kit.finish());
  TensorView none = TensorView::contiguous(nullptr, {DType::Float32, {0}});
  std::vector<OwnedTensor> outputs;
  ASSERT_TRUE(executor->run(std::span(&none, 1), outputs).ok());
  EXPECT_EQ(outputs[0].view.shape, (Dims{0}));
}

TEST(Executor, ForgetsTheLeastRecentlyUsedPlan) {
  ProgramKit kit;
  ValueId x = kit.input("x", DType::Float32, {kUnknownDim}, {"n"});
  kit.output("y", kit.op(OpKind::add, {}, {x, x}));
  std::unique_ptr<Executor> executor = executorOf(kit.finish());
  for (int round = 0; round < 2; ++round) {
    for (int64_t size = 1; size <= 20; ++size) {
      Result<Tensors> outputs = tryRun(*executor, {iota(DType::Float32, {size})});
      ASSERT_TRUE(outputs.ok());
      EXPECT_EQ((*outputs)[0].values<float>().back(), static_cast<float>(2 * (size - 1)));
    }
  }
  EXPECT_EQ(executor->stats().plans, 40u);
}

TEST(Executor, TakesStridedAndReversedInputs) {
  ProgramKit kit;
  ValueId x = kit.input("x", DType::Int32, {2, 3});
  kit.output("y", kit.op(OpKind::add, {}, {x, x}));
  auto program = kit.finish();
  std::unique_ptr<Executor> executor = executorOf(program);
  HostTensor base = iota(DType::Int32, {3, 2});
  TensorView transposed = base.view();
  transposed.shape = {2, 3};
  transposed.strides = {4, 8};
  TensorView reversed = transposed;
  reversed.data = static_cast<char *>(transposed.data) + 2 * 8;
  reversed.strides = {4, -8};
  std::vector<OwnedTensor> outputs;
  ASSERT_TRUE(executor->run(std::span(&transposed, 1), outputs).ok());
  EXPECT_EQ(copyOf(outputs[0].view).values<int32_t>(), (std::vector<int32_t>{0, 4, 8, 2, 6, 10}));
  ASSERT_TRUE(executor->run(std::span(&reversed, 1), outputs).ok());
  EXPECT_EQ(copyOf(outputs[0].view).values<int32_t>(), (std::vector<int32_t>{8, 4, 0, 10, 6, 2}));
}

TEST(Executor, OutputsNeverAlias) {
  ProgramKit kit;
  ValueId x = kit.input("x", DType::Float32, {4});
  ValueId weights = kit.constant(iota(DType::Float32, {4}));
  ValueId sum = kit.op(OpKind::add, {}, {x, weights});
  ValueId view = kit.op(OpKind::reshape, {AttrValue::ints({2, 2})}, {sum});
  kit.output("input", x);
  kit.output("weights", weights);
  kit.output("sum", sum);
  kit.output("again", sum);
  kit.output("view", view);
  std::unique_ptr<Executor> executor = executorOf(kit.finish());
  HostTensor input = iota(DType::Float32, {4}, 5);
  TensorView view0 = input.view();
  std::vector<OwnedTensor> outputs;
  ASSERT_TRUE(executor->run(std::span(&view0, 1), outputs).ok());
  for (size_t i = 0; i < outputs.size(); ++i) {
    EXPECT_NE(outputs[i].view.data, view0.data);
    EXPECT_NE(outputs[i].view.data, executor->program().constants[0].data);
    for (size_t other = 0; other < i; ++other) {
      EXPECT_NE(outputs[i].view.data, outputs[other].view.data) << i << " and " << other;
    }
  }
  // Writing into an output must reach neither the next run nor the other outputs.
  std::vector<OwnedTensor> kept = outputs;
  std::memset(outputs[2].view.data, 0xFF, 16);
  EXPECT_EQ(copyOf(outputs[3].view).values<float>(), (std::vector<float>{5, 7, 9, 11}));
  EXPECT_EQ(copyOf(outputs[4].view).type.shape, (Dims{2, 2}));
  ASSERT_TRUE(executor->run(std::span(&view0, 1), outputs).ok());
  EXPECT_EQ(copyOf(outputs[2].view).values<float>(), (std::vector<float>{5, 7, 9, 11}));
}

TEST(Executor, SetsInPlaceOnlyWhatNobodySees) {
  // The old value is an input, a constant, an output, and finally a temporary.
  AttrList middle = items({slice(1, 3)});
  ProgramKit kit;
  ValueId x = kit.input("x", DType::Float32, {4});
  ValueId weights = kit.constant(iota(DType::Float32, {4}, 20));
  ValueId value = kit.constant(tensor<float>({}, {-1}));
  kit.output("from_input", kit.setInPlace(OpKind::set_subtensor, middle, {x, value}));
  kit.output("from_constant", kit.setInPlace(OpKind::set_subtensor, middle, {weights, value}));
  ValueId first = kit.op(OpKind::add, {}, {value, value});
  ValueId temporary = kit.op(OpKind::broadcast_to, {AttrValue::ints({4})}, {first});
  kit.output("from_view", kit.setInPlace(OpKind::set_subtensor, middle, {temporary, value}));
  auto program = kit.finish();
  Tensors inputs{iota(DType::Float32, {4})};
  std::unique_ptr<Executor> executor = executorOf(program);
  for (int round = 0; round < 2; ++round) {
    Result<Tensors> outputs = tryRun(*executor, inputs);
    ASSERT_TRUE(outputs.ok()) << outputs.status().message();
    EXPECT_EQ((*outputs)[0].values<float>(), (std::vector<float>{0, -1, -1, 3}));
    EXPECT_EQ((*outputs)[1].values<float>(), (std::vector<float>{20, -1, -1, 23}));
    EXPECT_EQ((*outputs)[2].values<float>(), (std::vector<float>{-2, -1, -1, -2}));
  }
  EXPECT_EQ(inputs[0], iota(DType::Float32, {4}));
}

TEST(Executor, InPlaceKeepsViewsOfTheOldValue) {
  ProgramKit kit;
  ValueId x = kit.input("x", DType::Float32, {4});
  ValueId temporary = kit.op(OpKind::add, {}, {x, x});
  ValueId oldView = kit.op(OpKind::subtensor, items({slice(1, 3)}), {temporary});
  ValueId value = kit.constant(tensor<float>({}, {-1}));
  // Nothing reads `temporary` later, but its view is read.
  ValueId written =
      kit.setInPlace(OpKind::set_subtensor, items({slice({}, {})}), {temporary, value});
  kit.output("written", written);
  kit.output("old", kit.op(OpKind::add, {}, {oldView, oldView}));
  Tensors outputs = run(kit.finish(), {iota(DType::Float32, {4}, 1)});
  EXPECT_EQ(outputs[0].values<float>(), (std::vector<float>{-1, -1, -1, -1}));
  EXPECT_EQ(outputs[1].values<float>(), (std::vector<float>{8, 12}));
}

TEST(Executor, ChainOfInPlaceSetsUsesOneBuffer) {
  ProgramKit kit;
  ValueId x = kit.input("x", DType::Float32, {1000});
  ValueId value = kit.constant(tensor<float>({}, {9}));
  ValueId current = kit.op(OpKind::add, {}, {x, x});
  for (int64_t i = 0; i < 10; ++i) {
    current = kit.setInPlace(OpKind::set_subtensor, items({slice(i, i + 1)}), {current, value});
  }
  kit.output("total", kit.op(OpKind::sum, reduceAttrs({0}), {current}));
  std::unique_ptr<Executor> executor = executorOf(kit.finish());
  Result<Tensors> outputs = tryRun(*executor, {iota(DType::Float32, {1000})});
  ASSERT_TRUE(outputs.ok());
  EXPECT_EQ((*outputs)[0].values<float>(), std::vector<float>{999000 - 90 + 90});
  EXPECT_LE(executor->stats().arenaBytes, 1000 * 4 + 2 * 128u);
}

TEST(Executor, ComputesSizesWhilePlanning) {
  // x.reshape(n * m, 1) with n and m taken from x.
  ProgramKit kit;
  ValueId x = kit.input("x", DType::Float32, {kUnknownDim, kUnknownDim}, {"n", "m"});
  ValueId n = kit.op(OpKind::axis_size, {AttrValue::ints({0})}, {x});
  ValueId m = kit.op(OpKind::axis_size, {AttrValue::ints({1})}, {x});
  ValueId one = kit.constant(tensor<int64_t>({}, {1}));
  ValueId count = kit.op(OpKind::mul, {}, {n, m});
  ValueId more = kit.op(OpKind::add, {}, {count, one});
  ValueId flat = kit.op(OpKind::reshape, {AttrValue::ints({kFromOperand, 1})}, {x, count});
  kit.output("flat", flat);
  kit.output("count", count);
  kit.output("ones", kit.op(OpKind::full,
                            {AttrValue::ints({kFromOperand}),
                             AttrValue::scalar(Scalar::of(DType::Int32, int32_t(1)))},
                            {more}));
  auto program = kit.finish();
  std::unique_ptr<Executor> executor = executorOf(program);
  for (int64_t size : {2, 3}) {
    Result<Tensors> outputs = tryRun(*executor, {iota(DType::Float32, {size, 4})});
    ASSERT_TRUE(outputs.ok()) << outputs.status().message();
    EXPECT_EQ((*outputs)[0].type.shape, (Dims{size * 4, 1}));
    EXPECT_EQ((*outputs)[1].values<int64_t>(), std::vector<int64_t>{size * 4});
    EXPECT_EQ((*outputs)[2].values<int32_t>(),
              std::vector<int32_t>(static_cast<size_t>(size * 4 + 1), 1));
  }
}

TEST(Executor, SizesFromInputDataAreReadEachRun) {
  ProgramKit kit;
  ValueId x = kit.input("x", DType::Float32, {6});
  ValueId end = kit.input("end", DType::Int64, {});
  IndexItem item = slice({}, 0);
  item.endIsOperand = true;
  ValueId part = kit.op(OpKind::subtensor, items({item}), {x, end});
  kit.output("part", part);
  kit.output("twice", kit.op(OpKind::add, {}, {part, part}));
  std::unique_ptr<Executor> executor = executorOf(kit.finish());
  for (int64_t size : {2, 5, 0, -1}) {
    Result<Tensors> outputs =
        tryRun(*executor, {iota(DType::Float32, {6}), tensor<int64_t>({}, {size})});
    ASSERT_TRUE(outputs.ok()) << outputs.status().message();
    EXPECT_EQ((*outputs)[0].type.shape, (Dims{size < 0 ? 5 : size}));
    EXPECT_EQ((*outputs)[1].type.shape, (Dims{size < 0 ? 5 : size}));
  }
  EXPECT_EQ(executor->stats().plans, 1u);
}

TEST(Executor, CountsBecomeKnownWhileRunning) {
  auto program = sampleProgram();
  std::unique_ptr<Executor> executor = executorOf(program);
  for (int64_t start : {-3, -100, 100, 0}) {
    Tensors inputs{iota(DType::Float32, {5, 4}, start)};
    Result<Tensors> expected = reference(*program, inputs);
    ASSERT_TRUE(expected.ok());
    Result<Tensors> outputs = tryRun(*executor, inputs);
    ASSERT_TRUE(outputs.ok()) << outputs.status().message();
    EXPECT_EQ(*outputs, *expected) << "start " << start;
  }
}

TEST(Executor, CountThatMeetsAnotherSizeIsChecked) {
  ProgramKit kit;
  ValueId x = kit.input("x", DType::Float32, {4});
  ValueId m = kit.input("m", DType::Bool, {4});
  ValueId y = kit.input("y", DType::Float32, {3});
  ValueId selected = kit.op(OpKind::indexing_multi_axis_vec, items({maskItem()}), {x, m});
  kit.output("sum", kit.op(OpKind::add, {}, {selected, y}));
  std::unique_ptr<Executor> executor = executorOf(kit.finish());
  HostTensor xs = iota(DType::Float32, {4});
  HostTensor ys = iota(DType::Float32, {3});
  Result<Tensors> three = tryRun(*executor, {xs, boolTensor({4}, {1, 1, 0, 1}), ys});
  ASSERT_TRUE(three.ok()) << three.status().message();
  EXPECT_EQ((*three)[0].values<float>(), (std::vector<float>{0, 2, 5}));
  Result<Tensors> one = tryRun(*executor, {xs, boolTensor({4}, {0, 0, 0, 1}), ys});
  ASSERT_TRUE(one.ok()) << one.status().message();
  EXPECT_EQ((*one)[0].values<float>(), (std::vector<float>{3, 4, 5}));
  Result<Tensors> two = tryRun(*executor, {xs, boolTensor({4}, {1, 0, 0, 1}), ys});
  ASSERT_FALSE(two.ok());
  EXPECT_EQ(two.status().code(), StatusCode::InvalidArgument);
  EXPECT_NE(two.status().message().find("(op #1 'add' at model.py:11)"), std::string::npos)
      << two.status().message();
}

TEST(Executor, MaxOfNothingFailsWhileRunning) {
  ProgramKit kit;
  ValueId x = kit.input("x", DType::Float32, {4});
  ValueId m = kit.input("m", DType::Bool, {4});
  ValueId selected = kit.op(OpKind::indexing_multi_axis_vec, items({maskItem()}), {x, m});
  kit.output("max", kit.op(OpKind::max, reduceAttrs({0}), {selected}));
  std::unique_ptr<Executor> executor = executorOf(kit.finish());
  HostTensor xs = iota(DType::Float32, {4});
  Result<Tensors> some = tryRun(*executor, {xs, boolTensor({4}, {1, 0, 1, 0})});
  ASSERT_TRUE(some.ok());
  EXPECT_EQ((*some)[0].values<float>(), std::vector<float>{2});
  Result<Tensors> none = tryRun(*executor, {xs, boolTensor({4}, {0, 0, 0, 0})});
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.status().code(), StatusCode::InvalidArgument);
  EXPECT_EQ(executor->failedOp(), 1u);
}

TEST(Executor, ReportsTheFirstErrorInProgramOrder) {
  // The reshape fails while planning, the index only when the op before it runs.
  ProgramKit kit;
  ValueId x = kit.input("x", DType::Float32, {kUnknownDim}, {"n"});
  ValueId i = kit.input("i", DType::Int64, {2});
  ValueId picked = kit.op(OpKind::indexing_multi_axis_vec, items({arrayItem()}), {x, i});
  ValueId pairs = kit.op(OpKind::reshape, {AttrValue::ints({2, -1})}, {x});
  kit.output("picked", picked);
  kit.output("pairs", pairs);
  std::unique_ptr<Executor> executor = executorOf(kit.finish());
  auto failure = [&](int64_t size, int64_t at) {
    Result<Tensors> result =
        tryRun(*executor, {iota(DType::Float32, {size}), tensor<int64_t>({2}, {0, at})});
    return result.ok() ? StatusCode::Ok : result.status().code();
  };
  EXPECT_EQ(failure(4, 1), StatusCode::Ok);
  EXPECT_EQ(failure(5, 1), StatusCode::InvalidArgument);
  EXPECT_EQ(executor->failedOp(), 1u);
  EXPECT_EQ(failure(5, 7), StatusCode::IndexOutOfRange);
  EXPECT_EQ(executor->failedOp(), 0u);
  EXPECT_EQ(failure(4, 3), StatusCode::Ok);
}

TEST(Executor, ChecksAnOpThatNothingReads) {
  ProgramKit kit;
  ValueId x = kit.input("x", DType::Float32, {4});
  ValueId m = kit.input("m", DType::Bool, {4});
  ValueId y = kit.input("y", DType::Float32, {2});
  ValueId selected = kit.op(OpKind::indexing_multi_axis_vec, items({maskItem()}), {x, m});
  kit.op(OpKind::add, {}, {selected, y});
  kit.output("y", kit.op(OpKind::square, {}, {y}));
  std::unique_ptr<Executor> executor = executorOf(kit.finish());
  auto result = [&](const std::vector<uint8_t> &mask) {
    return tryRun(*executor,
                  {iota(DType::Float32, {4}), boolTensor({4}, mask), tensor<float>({2}, {2, 3})});
  };
  EXPECT_EQ((*result({1, 0, 0, 1}))[0].values<float>(), (std::vector<float>{4, 9}));
  Result<Tensors> bad = result({1, 1, 0, 1});
  ASSERT_FALSE(bad.ok());
  EXPECT_EQ(bad.status().message(),
            "'add' operands of shape (3,) and (2,) do not broadcast (op #1 'add' at model.py:11)");
}

TEST(Executor, IndexErrorNamesOpAndLine) {
  ProgramKit kit;
  ValueId x = kit.input("x", DType::Float32, {5});
  ValueId i = kit.input("i", DType::Int64, {3});
  kit.output("y", kit.op(OpKind::indexing_multi_axis_vec, items({arrayItem()}), {x, i}));
  std::unique_ptr<Executor> executor = executorOf(kit.finish());
  HostTensor xs = iota(DType::Float32, {5});
  Result<Tensors> bad = tryRun(*executor, {xs, tensor<int64_t>({3}, {0, 7, 9})});
  ASSERT_FALSE(bad.ok());
  EXPECT_EQ(bad.status().code(), StatusCode::IndexOutOfRange);
  EXPECT_EQ(bad.status().message(), "index 7 is out of range for axis 0 of size 5 (op #0 "
                                    "'indexing_multi_axis_vec' at model.py:10)");
  EXPECT_EQ(executor->failedOp(), 0u);
  Result<Tensors> good = tryRun(*executor, {xs, tensor<int64_t>({3}, {0, -1, 4})});
  ASSERT_TRUE(good.ok());
  EXPECT_EQ((*good)[0].values<float>(), (std::vector<float>{0, 4, 4}));
  EXPECT_EQ(executor->failedOp(), kNoIndex);
}

TEST(Executor, DoorMessagesNameTheInput) {
  ProgramKit kit;
  ValueId x = kit.input("x", DType::Float32, {kUnknownDim, 3}, {"n"});
  ValueId y = kit.input("y", DType::Float32, {kUnknownDim, 1}, {"n"});
  kit.program->symbols[0].max = 10;
  kit.output("z", kit.op(OpKind::add, {}, {x, y}));
  std::unique_ptr<Executor> executor = executorOf(kit.finish());
  auto messageOf = [&](const Tensors &inputs) {
    return tryRun(*executor, inputs).status().message();
  };
  auto f = DType::Float32;
  EXPECT_EQ(messageOf({iota(f, {2, 3})}), "the program takes 2 inputs, got 1");
  EXPECT_EQ(messageOf({iota(DType::Int32, {2, 3}), iota(f, {2, 1})}),
            "input 'x': must be float32, got int32");
  EXPECT_EQ(messageOf({iota(f, {2}), iota(f, {2, 1})}),
            "input 'x': must be float32[n,3], got shape (2,)");
  EXPECT_EQ(messageOf({iota(f, {2, 4}), iota(f, {2, 1})}),
            "input 'x': axis 1 must have size 3, got 4");
  EXPECT_EQ(messageOf({iota(f, {2, 3}), iota(f, {5, 1})}),
            "input 'y': axis 0 is 'n', which is 2 in an earlier input, got 5");
  EXPECT_EQ(messageOf({iota(f, {11, 3}), iota(f, {11, 1})}),
            "input 'x': axis 0 is 'n', which must be from 0 to 10, got 11");
  EXPECT_EQ(messageOf({iota(f, {2, 3}), iota(f, {2, 1})}), "");
}

TEST(Executor, StateSurvivesRunsAndErrors) {
  // counter += step[i]; fails when i is out of range.
  ProgramKit kit;
  ValueId counter = kit.input("counter", DType::Float32, {});
  ValueId steps = kit.input("steps", DType::Float32, {2});
  ValueId i = kit.input("i", DType::Int64, {});
  kit.constant(tensor<float>({}, {100}));
  kit.program->inputs[0].isState = true;
  kit.program->inputs[0].initialConstant = 0;
  ValueId step = kit.op(OpKind::indexing_multi_axis_vec, items({arrayItem()}), {steps, i});
  kit.output("counter", kit.op(OpKind::add, {}, {counter, step}));
  kit.program->outputs[0].stateInput = 0;
  std::unique_ptr<Executor> executor = executorOf(kit.finish());
  HostTensor stepsValue = tensor<float>({2}, {1, 10});
  auto next = [&](int64_t at) {
    return tryRun(*executor, {stepsValue, tensor<int64_t>({}, {at})});
  };
  EXPECT_EQ((*next(0))[0].values<float>()[0], 101);
  EXPECT_EQ((*next(1))[0].values<float>()[0], 111);
  EXPECT_EQ(next(2).status().code(), StatusCode::IndexOutOfRange);
  EXPECT_EQ((*next(0))[0].values<float>()[0], 112);
  std::unique_ptr<Executor> other = executorOf(kit.program);
  Result<Tensors> given =
      tryRun(*other, {tensor<float>({}, {5}), stepsValue, tensor<int64_t>({}, {1})});
  ASSERT_TRUE(given.ok());
  EXPECT_EQ((*given)[0].values<float>()[0], 15);
}

TEST(Executor, KeepsAllValues) {
  auto program = sampleProgram();
  std::unique_ptr<Executor> executor = executorOf(program);
  Tensors inputs = sampleInputs();
  TensorView view = inputs[0].view();
  std::vector<OwnedTensor> values;
  ASSERT_TRUE(executor->runKeepingValues(std::span(&view, 1), values).ok());
  ASSERT_EQ(values.size(), program->values.size());
  Result<Tensors> expected = reference(*program, inputs);
  for (size_t i = 0; i < program->outputs.size(); ++i) {
    EXPECT_EQ(copyOf(values[program->outputs[i].value].view), (*expected)[i]);
  }
  // The old value of the in-place set is kept as it was.
  ValueId picked = program->ops[1].results[0];
  EXPECT_EQ(copyOf(values[picked].view).values<float>()[1], -4.0f);
}

TEST(Executor, ManyExecutorsShareAProgram) {
  auto program = sampleProgram();
  std::unique_ptr<Executor> first = executorOf(program);
  std::unique_ptr<Executor> second = executorOf(program);
  Tensors inputs = sampleInputs();
  EXPECT_EQ(*tryRun(*first, inputs), *tryRun(*second, inputs));
}

/// An allocator that counts and can be told to fail.
class CountingAllocator : public Allocator {
public:
  void *allocate(size_t size) override {
    ++allocations;
    if (failAfter >= 0 && allocations > failAfter) {
      return nullptr;
    }
    return std::aligned_alloc(64, (size + kBufferSlack + 63) / 64 * 64);
  }
  void release(void *data, size_t) override { std::free(data); }
  int64_t allocations = 0;
  int64_t failAfter = -1;
};

ExecutorOptions optionsWith(Allocator &allocator) {
  ExecutorOptions options;
  options.allocator = &allocator;
  return options;
}

TEST(Executor, SteadyStateAllocatesOnlyOutputs) {
  CountingAllocator allocator;
  ProgramKit kit;
  ValueId x = kit.input("x", DType::Float32, {64, 64});
  ValueId current = x;
  for (int i = 0; i < 20; ++i) {
    current = kit.op(OpKind::add, {}, {current, x});
  }
  kit.output("y", current);
  auto program = kit.finish();
  auto executor = executorOf(program, optionsWith(allocator));
  HostTensor input = iota(DType::Float32, {64, 64});
  TensorView view = input.view();
  std::vector<OwnedTensor> outputs;
  ASSERT_TRUE(executor->run(std::span(&view, 1), outputs).ok());
  int64_t before = allocator.allocations;
  for (int i = 0; i < 5; ++i) {
    outputs.clear();
    ASSERT_TRUE(executor->run(std::span(&view, 1), outputs).ok());
  }
  EXPECT_EQ(allocator.allocations - before, 5);
  outputs.clear();
  executor.reset();
}

TEST(Executor, OutOfMemoryIsAStatus) {
  ProgramKit kit;
  ValueId x = kit.input("x", DType::Float32, {64});
  ValueId sum = kit.op(OpKind::add, {}, {x, x});
  kit.output("y", kit.op(OpKind::add, {}, {sum, sum}));
  auto program = kit.finish();
  HostTensor input = iota(DType::Float32, {64});
  for (int64_t failAfter : {0, 1}) {
    CountingAllocator allocator;
    auto executor = executorOf(program, optionsWith(allocator));
    allocator.failAfter = failAfter;
    Result<Tensors> outputs = tryRun(*executor, {input});
    ASSERT_FALSE(outputs.ok());
    EXPECT_EQ(outputs.status().code(), StatusCode::OutOfMemory);
    allocator.failAfter = -1;
    EXPECT_TRUE(tryRun(*executor, {input}).ok());
  }
}

TEST(Executor, MissingSectionIsUnsupported) {
  auto program = sampleProgram();
  Result<std::unique_ptr<Executor>> executor =
      Executor::create(program, {.section = {SectionChoice::Native, kX86V4}});
  ASSERT_FALSE(executor.ok());
  EXPECT_EQ(executor.status().code(), StatusCode::Unsupported);
  EXPECT_EQ(executor.status().message(), "the program has no section for x86-64-v4");
}

} // namespace
