// The stack of transforms: order, nesting, ends, wrapped values, without a recorder.

#include "TestTransforms.h"

#include <stdexcept>
#include <thread>

using namespace tracec;
using namespace tracec::test;
using tracert::OpKind;
using tracert::StatusCode;

namespace {
using Floats = std::vector<float>;

/// Ends a call by an exception of its own.
class Throwing final : public Transform {
  Result<Values> apply(const OpCall &, std::span<const Value>, Next) override {
    throw std::runtime_error("thrown in a transform");
  }
};

/// Gives the result of each op twice.
class Twice final : public Transform {
  Result<Values> apply(const OpCall &call, std::span<const Value> operands, Next next) override {
    TRACERT_ASSIGN(Values results, next.apply(call, operands));
    TRACERT_ASSIGN(Values again, next.apply(call, operands));
    results.insert(results.end(), again.begin(), again.end());
    return results;
  }
};
} // namespace

TEST(Stack, IsOrderedBySlotAndThenByEntry) {
  Events events;
  Spy first("first", events), second("second", events), module("module", events),
      recorder("recorder", events), lazy("lazy", events);
  EXPECT_FALSE(hasTransforms());
  {
    ScopedTransform a(TransformSlot::Eval, lazy);
    ScopedTransform b(TransformSlot::Functional, first);
    ScopedTransform c(TransformSlot::ModuleTrace, module);
    ScopedTransform d(TransformSlot::Trace, recorder);
    ScopedTransform e(TransformSlot::Functional, second);
    EXPECT_TRUE(hasTransforms());
    EXPECT_EQ(elementsOf(add(vectorOf({1, 2}), vectorOf({3, 4}))), (Floats{4, 6}));
  }
  EXPECT_EQ(events, (Events{"module.add", "second.add", "first.add", "recorder.add", "lazy.add",
                            "module.hostRead", "second.hostRead", "first.hostRead",
                            "recorder.hostRead", "lazy.hostRead"}));
  EXPECT_FALSE(hasTransforms());
  EXPECT_EQ(stackSerial(), 0u);
}

TEST(Stack, AThreadHasItsOwn) {
  Events events;
  Spy spy("spy", events);
  ScopedTransform scope(TransformSlot::Functional, spy);
  std::thread([&] {
    EXPECT_FALSE(hasTransforms());
    add(vectorOf({1}), vectorOf({2}));
  }).join();
  EXPECT_TRUE(events.empty());
}

TEST(Stack, ScopesOfASlotEndInAnyOrder) {
  Events events;
  Spy first("first", events), second("second", events);
  auto a = std::make_unique<ScopedTransform>(TransformSlot::Functional, first);
  ScopedTransform b(TransformSlot::Functional, second);
  uint64_t serial = stackSerial();
  a.reset();
  EXPECT_NE(stackSerial(), serial);
  add(vectorOf({1}), vectorOf({2}));
  EXPECT_EQ(events, Events{"second.add"});
}

TEST(Stack, ASuspensionPutsItsTransformBackInItsPlace) {
  Events events;
  Spy functional("functional", events), recorder("recorder", events);
  ScopedTransform a(TransformSlot::Functional, functional);
  ScopedTransform b(TransformSlot::Trace, recorder);
  uint64_t serial = stackSerial();
  {
    ScopedSuspension outer(a);
    ScopedSuspension inner(a);
    add(vectorOf({1}), vectorOf({2}));
    EXPECT_NE(stackSerial(), serial);
  }
  EXPECT_EQ(events, Events{"recorder.add"});
  EXPECT_EQ(stackSerial(), serial);
  add(vectorOf({1}), vectorOf({2}));
  EXPECT_EQ(events, (Events{"recorder.add", "functional.add", "recorder.add"}));
}

TEST(Hooks, SeeWhatTheUserDoesInOrder) {
  Events events;
  Spy upper("u", events), lower("l", events);
  ScopedTransform a(TransformSlot::Functional, lower);
  ScopedTransform b(TransformSlot::Functional, upper);
  auto seen = [&] { return std::exchange(events, {}); };

  Value data = take(stack().onHostData(vectorOf({1, 2})));
  stack().onName(data, "weight");
  EXPECT_EQ(seen(), (Events{"u.hostData", "l.hostData", "u.name:weight", "l.name:weight"}));

  Tensor x = Tensor::fromValue(data);
  Operand operands[] = {Operand::of(take(x.read())),
                        Operand::of({PythonScalar::Kind::Float, 0, 2.0, false})};
  take(pointwise(OpKind::mul, operands));
  EXPECT_EQ(seen(), (Events{"u.readCell", "l.readCell", "u.scalar", "l.scalar", "u.mul", "l.mul"}));

  Tensor view = take(x.view(subtensorCall(slice(1, {})), {}));
  EXPECT_EQ(seen(), (Events{"u.readCell", "l.readCell", "u.readCell", "l.readCell", "u.subtensor",
                            "l.subtensor"}));
  EXPECT_EQ(elementsOf(view), Floats{2});
  EXPECT_EQ(seen(), (Events{"u.readView", "l.readView", "u.readCell", "l.readCell", "u.hostRead",
                            "l.hostRead"}));
  ASSERT_TRUE(view.assign(vectorOf({5})).ok());
  EXPECT_EQ(seen(), (Events{"u.readCell", "l.readCell", "u.set_subtensor", "l.set_subtensor",
                            "u.writeCell", "l.writeCell"}));
  EXPECT_EQ(take(stack().fixedSize(data, 0)), 2);
  EXPECT_FALSE(take(stack().decideIsOne(data, 0)));
  EXPECT_EQ(seen(), (Events{"u.fixedSize", "l.fixedSize", "u.decideIsOne", "l.decideIsOne"}));

  take(x.view(reshapeCall(Dims{2, 1}), {}));
  EXPECT_EQ(events.back(), "l.view");
  seen();
  ASSERT_TRUE(inPlace(OpKind::add, x, Operand::of(vectorOf({1, 1}))).ok());
  EXPECT_EQ(seen(), (Events{"u.readCell", "l.readCell", "u.add", "l.add", "u.sameShape",
                            "l.sameShape", "u.writeCell", "l.writeCell"}));
  take(sizeAs(take(axisSize(data, Dims{0})), DType::Int32));
  EXPECT_EQ(seen(), (Events{"u.axis_size", "l.axis_size", "u.fits", "l.fits", "u.cast", "l.cast"}));
}

TEST(Hooks, SizesAreCheckedWithoutATransformToo) {
  Value size = take(allocateValue({DType::Int64, {}}));
  *static_cast<int64_t *>(size->view().data) = 300;
  EXPECT_EQ(sizeAs(size, DType::UInt8).status().code(), StatusCode::Overflow);
}

TEST(Nesting, BothOrdersGiveTheirOwnResult) {
  Value x = vectorOf({3}), y = vectorOf({5});
  Doubling doubling, otherDoubling;
  AddingOne adding, otherAdding;
  {
    ScopedTransform lower(TransformSlot::Functional, adding);
    ScopedTransform upper(TransformSlot::Functional, doubling);
    // The upper one's add is an op for the lower one.
    EXPECT_EQ(elementsOf(mul(x, y)), Floats{2 * (15 + 1) + 1});
  }
  {
    ScopedTransform lower(TransformSlot::Functional, otherDoubling);
    ScopedTransform upper(TransformSlot::Functional, otherAdding);
    EXPECT_EQ(elementsOf(mul(x, y)), Floats{2 * (2 * 15 + 1)});
  }
  EXPECT_EQ(elementsOf(mul(x, y)), Floats{15});
}

TEST(Nesting, DerivativesOfDerivatives) {
  Forward outer, inner;
  Value one = vectorOf({1}), x = vectorOf({2});
  ScopedTransform a(TransformSlot::Functional, outer);
  Value outerX = outer.variable(x, one);
  Value first;
  {
    ScopedTransform b(TransformSlot::Functional, inner);
    Value innerX = inner.variable(outerX, one);
    Value cube = mul(mul(innerX, innerX), innerX);
    EXPECT_EQ(elementsOf(cube), Floats{8});
    first = inner.tangentOf(cube);
  }
  EXPECT_EQ(elementsOf(first), Floats{12});
  EXPECT_EQ(elementsOf(outer.tangentOf(first)), Floats{12});
}

TEST(Nesting, ATangentIsNotTakenForThatOfAnotherLayer) {
  Forward outer, inner;
  Value one = vectorOf({1});
  ScopedTransform a(TransformSlot::Functional, outer);
  Value x = outer.variable(vectorOf({2}), one);
  Value slope;
  {
    ScopedTransform b(TransformSlot::Functional, inner);
    // d(x + y)/dy is 1 whatever x is.
    slope = inner.tangentOf(add(x, inner.variable(vectorOf({7}), one)));
  }
  Value product = mul(x, slope);
  EXPECT_EQ(elementsOf(outer.tangentOf(product)), Floats{1});
}

TEST(Wrappers, StandForWhatTheyWrapOnceTheirTransformHasLeft) {
  Tensor x = Tensor::fromValue(vectorOf({1, 2}));
  Tensor made, tail;
  Value escaped;
  {
    Doubling doubling;
    ScopedTransform scope(TransformSlot::Functional, doubling);
    escaped = add(take(x.read()), take(x.read()));
    EXPECT_EQ(escaped->state(), ValueImpl::State::Wrapped);
    EXPECT_EQ(escaped->shape(), (Dims{2}));
    made = Tensor::fromValue(escaped);
    tail = take(made.view(subtensorCall(slice(1, {})), {}));
    ASSERT_TRUE(x.assign(escaped).ok());
  }
  EXPECT_EQ(elementsOf(made), (Floats{4, 8}));
  EXPECT_EQ(elementsOf(tail), Floats{8});
  EXPECT_EQ(elementsOf(x), (Floats{4, 8}));
  EXPECT_EQ(elementsOf(add(escaped, vectorOf({1, 1}))), (Floats{5, 9}));
  // Written in place or not, what was held keeps its elements.
  ASSERT_TRUE(made.setItem(slice(0, 1), vectorOf({-1}), {}).ok());
  EXPECT_EQ(elementsOf(made), (Floats{-1, 8}));
  EXPECT_EQ(elementsOf(escaped), (Floats{4, 8}));
}

TEST(Wrappers, EndTheirDataWithTheTransform) {
  struct Counted : WrapperData {
    explicit Counted(int &alive) : alive(++alive) {}
    ~Counted() override { --alive; }
    int &alive;
  };
  int alive = 0;
  Wrappers wrappers;
  Value kept = wrappers.wrap(vectorOf({1}), std::make_unique<Counted>(alive));
  wrappers.wrap(vectorOf({2}), std::make_unique<Counted>(alive));
  EXPECT_EQ(alive, 1);
  EXPECT_TRUE(wrappers.owns(kept));
  wrappers.unwrapAll();
  EXPECT_EQ(alive, 0);
  EXPECT_FALSE(wrappers.owns(kept));
  EXPECT_TRUE(ensureReady(kept).ok());
  EXPECT_EQ(elementsOf(kept), Floats{1});
}

TEST(Wrappers, HaveNoDataForOthers) {
  Wrappers wrappers;
  Value wrapper = wrappers.wrap(vectorOf({1}));
  Status status = ensureReady(wrapper);
  EXPECT_EQ(status.code(), StatusCode::InvalidArgument);
  EXPECT_EQ(status.message(), "the tensor is a transform's, which has not ended");
  EXPECT_EQ(binary(OpKind::add, wrapper, wrapper).status().code(), StatusCode::InvalidArgument);
}

TEST(Wrappers, CellsBelowATransformHoldWhatIsWrapped) {
  Tensor x = Tensor::fromValue(vectorOf({1, 2}));
  Doubling doubling;
  ScopedTransform scope(TransformSlot::Functional, doubling);
  ASSERT_TRUE(x.setItem(slice(1, {}), vectorOf({5}), {}).ok());
  EXPECT_EQ(x.cellRef()->value->state(), ValueImpl::State::Ready);
  EXPECT_EQ(take(x.read())->state(), ValueImpl::State::Wrapped);
  // A set is an op as any other.
  EXPECT_EQ(elementsOf(x), (Floats{2, 10}));
}

TEST(Wrappers, ANewCellIsNotTakenForADroppedOneAtTheSameAddress) {
  Doubling doubling;
  ScopedTransform scope(TransformSlot::Functional, doubling);
  Value inner;
  {
    Tensor dropped = Tensor::fromValue(vectorOf({0}));
    ASSERT_TRUE(dropped.assign(add(vectorOf({1}), vectorOf({2}))).ok());
    inner = dropped.cellRef()->value;
  }
  Tensor fresh = Tensor::fromValue(inner);
  EXPECT_TRUE(take(fresh.read()) == inner);
}

TEST(Wrappers, SeveralResults) {
  Twice twice;
  Doubling doubling;
  ScopedTransform a(TransformSlot::Functional, twice);
  ScopedTransform b(TransformSlot::Functional, doubling);
  Value operands[] = {vectorOf({1}), vectorOf({2})};
  Values results = take(dispatch({OpKind::add, {}}, operands));
  ASSERT_EQ(results.size(), 2u);
  EXPECT_EQ(elementsOf(results[1]), Floats{6});
}

TEST(Ends, AnExceptionLeavesAnEmptyStackAndReadableTensors) {
  Tensor x = Tensor::fromValue(vectorOf({1, 2}));
  Value escaped;
  Throwing throwing;
  Doubling doubling;
  EXPECT_THROW(
      {
        ScopedTransform upper(TransformSlot::Functional, doubling);
        escaped = add(take(x.read()), take(x.read()));
        ASSERT_TRUE(x.assign(escaped).ok());
        ScopedTransform lower(TransformSlot::Trace, throwing);
        (void)binary(OpKind::add, escaped, escaped);
      },
      std::runtime_error);
  EXPECT_FALSE(hasTransforms());
  EXPECT_EQ(elementsOf(escaped), (Floats{4, 8}));
  EXPECT_EQ(elementsOf(x), (Floats{4, 8}));
  EXPECT_EQ(elementsOf(add(escaped, escaped)), (Floats{8, 16}));
}

TEST(Ends, AnErrorPassesThroughAndChangesNothing) {
  Events events;
  Spy spy("spy", events);
  Doubling doubling;
  ScopedTransform a(TransformSlot::Functional, doubling);
  ScopedTransform b(TransformSlot::Functional, spy);
  Tensor x = Tensor::fromValue(vectorOf({1, 2}));
  Status status = inPlace(OpKind::add, x, Operand::of(vectorOf({1, 2, 3})));
  EXPECT_EQ(status.code(), StatusCode::InvalidArgument);
  EXPECT_EQ(events, (Events{"spy.readCell", "spy.add"}));
  EXPECT_EQ(elementsOf(x), (Floats{1, 2}));
  EXPECT_EQ(elementsOf(add(take(x.read()), take(x.read()))), (Floats{4, 8}));
}
