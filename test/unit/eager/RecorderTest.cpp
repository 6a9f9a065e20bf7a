// What the recorder takes for what, without a compiler.

#include "TestTransforms.h"
#include "tracec/Trace.h"

using namespace tracec;
using namespace tracec::test;

TEST(Recorder, ANewValueIsNotTakenForADroppedOneAtTheSameAddress) {
  auto function = TracedFunction::create({});
  Tensor state = Tensor::fromValue(vectorOf({1, 2}));
  CallScope scope(function);
  ASSERT_TRUE(scope.begin({}).ok());
  {
    Value before = take(state.read());
    ASSERT_TRUE(state.assign(add(before, before)).ok());
  }
  Value fresh;
  {
    // The written value takes its place in the cell here, and the old one goes.
    ExcludeScope region;
    ASSERT_TRUE(region.enter().ok());
    fresh = vectorOf({5, 6});
  }
  Tensor result = Tensor::fromValue(add(fresh, fresh));
  ASSERT_TRUE(scope.finish({&result, 1}).ok());
  TraceGraph graph = take(function->graph());
  ASSERT_EQ(graph.ops.size(), 2u);
  EXPECT_NE(graph.ops[0].operands[0], graph.ops[1].operands[0]);
}
