// Transforms above the recorder and the replayer: the record has what they make of an op.

#include "../eager/TestTransforms.h"
#include "tracec/Trace.h"

using namespace tracec;
using namespace tracec::test;
using tracert::OpKind;

namespace {
using Floats = std::vector<float>;

std::shared_ptr<TracedFunction> makeFunction() {
  TraceOptions options;
  options.name = "f";
  return TracedFunction::create(options);
}

using Body = std::function<Result<Value>(const Value &x)>;

/// A traced call of `body` on one tensor; its result as the user has it.
Result<Tensor> call(const std::shared_ptr<TracedFunction> &function, const Floats &input,
                    const Body &body) {
  CallArguments arguments;
  arguments.tensors = {Tensor::fromValue(vectorOf(input))};
  arguments.names = {"x"};
  arguments.structure = "x=tensor";
  CallScope scope(function);
  TRACERT_TRY(scope.begin(arguments));
  TRACERT_ASSIGN(Value x, arguments.tensors[0].read());
  TRACERT_ASSIGN(Value result, body(x));
  Tensor returned = Tensor::fromValue(std::move(result));
  TRACERT_TRY(scope.finish({&returned, 1}));
  return returned;
}

Result<Value> square(const Value &x) { return binary(OpKind::mul, x, x); }

std::vector<std::string> recordedOps(const TracedFunction &function) {
  std::vector<std::string> names;
  for (const TraceOp &op : take(function.graph()).ops) {
    names.emplace_back(op.call.info().name);
  }
  return names;
}
} // namespace

TEST(TransformsAndTraces, ATransformInsideACallIsRecordedRewritten) {
  auto function = makeFunction();
  auto body = [](const Value &x) -> Result<Value> {
    Doubling doubling;
    ScopedTransform scope(TransformSlot::Functional, doubling);
    TRACERT_ASSIGN(Value y, square(x));
    return square(y);
  };
  // ((x * x) * 2) squared, doubled.
  EXPECT_EQ(elementsOf(take(call(function, {1, 3}, body))), (Floats{8, 648}));
  EXPECT_EQ(recordedOps(*function), (std::vector<std::string>{"mul", "add", "mul", "add"}));
  EXPECT_EQ(elementsOf(take(call(function, {1, 2}, body))), (Floats{8, 128}));
  EXPECT_EQ(elementsOf(take(call(function, {5, 1, 0}, body))), (Floats{5000, 8, 0}));
  EXPECT_EQ(function->stats().specialisations, 1u);
  EXPECT_EQ(function->stats().replays, 2u);
}

TEST(TransformsAndTraces, ATransformAroundCallsHasItsOwnRecord) {
  auto function = makeFunction();
  auto callInside = [&](const Floats &input) {
    Doubling doubling;
    ScopedTransform scope(TransformSlot::Functional, doubling);
    Tensor result = take(call(function, input, square));
    EXPECT_EQ(take(result.read())->state(), ValueImpl::State::Wrapped);
    return elementsOf(result);
  };
  EXPECT_EQ(callInside({1, 3}), (Floats{2, 18}));
  EXPECT_EQ(elementsOf(take(call(function, {1, 3}, square))), (Floats{1, 9}));
  EXPECT_EQ(function->stats().replays, 0u);
  EXPECT_EQ(callInside({2, 4}), (Floats{8, 32}));
  EXPECT_EQ(elementsOf(take(call(function, {2, 4}, square))), (Floats{4, 16}));
  EXPECT_EQ(function->stats().replays, 2u);
  EXPECT_EQ(function->stats().specialisations, 2u);
  EXPECT_NE(function->explain().find("other transforms"), std::string::npos);
}

TEST(TransformsAndTraces, ATransformThatOnlyLooksServesTheSameRecord) {
  auto function = makeFunction();
  EXPECT_EQ(elementsOf(take(call(function, {1, 3}, square))), (Floats{1, 9}));
  Events events;
  Spy above("above", events), below("below", events);
  ScopedTransform a(TransformSlot::Functional, above);
  ScopedTransform b(TransformSlot::Eval, below);
  EXPECT_EQ(elementsOf(take(call(function, {2, 3}, square))), (Floats{4, 9}));
  EXPECT_EQ(function->stats().replays, 1u);
  // A replay computes, so nothing of the body comes through but reads of cells.
  EXPECT_EQ(std::count(events.begin(), events.end(), "above.mul"), 1);
  EXPECT_EQ(std::count(events.begin(), events.end(), "below.mul"), 0);
}

TEST(TransformsAndTraces, NestedTransformsReplayInTheirOrder) {
  for (bool doublingOnTop : {false, true}) {
    auto function = makeFunction();
    auto body = [&](const Value &x) -> Result<Value> {
      Doubling doubling;
      AddingOne adding;
      Transform *both[] = {&adding, &doubling};
      ScopedTransform lower(TransformSlot::Functional, *both[doublingOnTop ? 0 : 1]);
      ScopedTransform upper(TransformSlot::Functional, *both[doublingOnTop ? 1 : 0]);
      return square(x);
    };
    for (float x : {2.0f, 3.0f, 4.0f}) {
      float expected = doublingOnTop ? 2 * (x * x + 1) + 1 : 2 * (2 * x * x + 1);
      EXPECT_EQ(elementsOf(take(call(function, {x}, body))), Floats{expected});
    }
    EXPECT_EQ(function->stats().specialisations, 1u);
  }
}

TEST(TransformsAndTraces, DerivativesReplay) {
  auto function = makeFunction();
  auto body = [](const Value &x) -> Result<Value> {
    Forward forward;
    ScopedTransform scope(TransformSlot::Functional, forward);
    Value variable = forward.variable(x, mul(x, x));
    TRACERT_ASSIGN(Value y, square(variable));
    return forward.tangentOf(y);
  };
  for (float x : {1.0f, 2.0f, 3.0f}) {
    EXPECT_EQ(elementsOf(take(call(function, {x, 1}, body))), (Floats{2 * x * x * x, 2}));
  }
  EXPECT_EQ(function->stats().replays, 2u);
}

TEST(TransformsAndTraces, WritesOfWrappersCommitWhatIsWrapped) {
  auto function = makeFunction();
  Tensor state = Tensor::fromValue(vectorOf({1, 1}));
  auto body = [&](const Value &x) -> Result<Value> {
    Doubling doubling;
    ScopedTransform scope(TransformSlot::Functional, doubling);
    TRACERT_ASSIGN(Value now, state.read());
    TRACERT_TRY(state.assign(add(now, x)));
    TRACERT_ASSIGN(Value written, state.read());
    EXPECT_EQ(written->state(), ValueImpl::State::Wrapped);
    return square(written);
  };
  EXPECT_EQ(elementsOf(take(call(function, {1, 2}, body))), (Floats{32, 72}));
  EXPECT_EQ(elementsOf(state), (Floats{4, 6}));
  EXPECT_EQ(elementsOf(take(call(function, {1, 2}, body))), (Floats{200, 512}));
  EXPECT_EQ(elementsOf(state), (Floats{10, 16}));
  EXPECT_EQ(state.cellRef()->value->state(), ValueImpl::State::Ready);
  EXPECT_EQ(function->stats().replays, 1u);
}

TEST(TransformsAndTraces, ADroppedCallDropsWhatATransformWrote) {
  auto function = makeFunction();
  Tensor state = Tensor::fromValue(vectorOf({1, 1}));
  Doubling doubling;
  ScopedTransform scope(TransformSlot::Functional, doubling);
  auto body = [&](const Value &x) -> Result<Value> {
    TRACERT_TRY(state.assign(add(x, x)));
    return binary(OpKind::add, x, vectorOf({1, 2, 3}));
  };
  for (int round = 0; round < 2; ++round) {
    EXPECT_FALSE(call(function, {1, 2}, body).ok());
    EXPECT_EQ(elementsOf(state), (Floats{1, 1}));
  }
}

TEST(TransformsAndTraces, ExcludedRegionsHideOpsFromTheTraceOnly) {
  auto function = makeFunction();
  Events events;
  Spy spy("spy", events);
  ScopedTransform outer(TransformSlot::Functional, spy);
  auto body = [&](const Value &x) -> Result<Value> {
    TRACERT_ASSIGN(Value before, square(x));
    Value inside;
    {
      ExcludeScope region;
      TRACERT_TRY(region.enter());
      Doubling doubling;
      ScopedTransform scope(TransformSlot::Functional, doubling);
      inside = add(before, before);
    }
    return binary(OpKind::mul, inside, before);
  };
  EXPECT_EQ(elementsOf(take(call(function, {2}, body))), Floats{64});
  EXPECT_EQ(recordedOps(*function), (std::vector<std::string>{"mul", "mul"}));
  EXPECT_EQ(std::count(events.begin(), events.end(), "spy.add"), 2);
  EXPECT_EQ(elementsOf(take(call(function, {3}, body))), Floats{324});
  EXPECT_EQ(std::count(events.begin(), events.end(), "spy.add"), 4);
  EXPECT_EQ(function->stats().replays, 2u);
}

TEST(TransformsAndTraces, AnExceptionInAnExcludedRegionEndsAll) {
  auto function = makeFunction();
  auto body = [](const Value &x) -> Result<Value> {
    ExcludeScope region;
    TRACERT_TRY(region.enter());
    Doubling doubling;
    ScopedTransform scope(TransformSlot::Functional, doubling);
    add(x, x);
    throw std::runtime_error("the body ends");
  };
  EXPECT_THROW((void)call(function, {1}, body), std::runtime_error);
  EXPECT_FALSE(hasTransforms());
  EXPECT_EQ(creationSerial(), 0u);
  EXPECT_EQ(elementsOf(take(call(function, {4}, square))), Floats{16});
}
