// Compile time is linear in the ops of a trace.
#include "TraceBuilder.h"

#include "tracec/Compiler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

namespace tracec {
namespace {

using namespace tracert;

/// Slices, arithmetic, sets, reductions and masks in turn, all depending on what came before.
TraceGraph longTrace(int opCount) {
  TraceBuilder b;
  VarId x = b.input({DType::Float32, {1000}}, {kUnknownDim});
  VarId half = b.constantF32(0.5f);
  VarId value = x;
  while (static_cast<int>(b.graph.ops.size()) + 8 <= opCount) {
    VarId left = b.index(OpKind::subtensor, {slice(std::nullopt, -1)}, {value});
    VarId right = b.index(OpKind::subtensor, {slice(1, std::nullopt)}, {value});
    VarId difference = b.op(OpKind::sub, {}, {right, left});
    VarId scaled = b.op(OpKind::mul, {}, {difference, half});
    VarId written = b.index(OpKind::set_subtensor, {slice(1, std::nullopt)}, {value, scaled});
    VarId isLarge = b.op(OpKind::gt, {}, {written, half});
    VarId total = b.op(OpKind::sum, {AttrValue::ints({0}), AttrValue::boolean(false)}, {written});
    value = b.op(OpKind::where, {}, {isLarge, total, written});
  }
  b.output(value);
  return b.graph;
}

double microsecondsPerOp(int opCount) {
  TraceGraph graph = longTrace(opCount);
  CompileOptions options;
  options.targets = {kX86V3};
  double best = 1e30;
  for (int run = 0; run < 3; ++run) {
    std::shared_ptr<Program> program;
    auto start = std::chrono::steady_clock::now();
    Status status = tracecCompilerApi()->compile(graph, options, &program);
    std::chrono::duration<double, std::micro> elapsed = std::chrono::steady_clock::now() - start;
    EXPECT_TRUE(status.ok()) << status.message();
    best = std::min(best, elapsed.count() / static_cast<double>(graph.ops.size()));
  }
  return best;
}

TEST(CompileTime, IsLinearInOps) {
  (void)microsecondsPerOp(16); // loads dialects, compiles the kernels that repeat
  double at500 = microsecondsPerOp(500);
  double at1000 = microsecondsPerOp(1000);
  double at2000 = microsecondsPerOp(2000);
  std::printf("compile time per op: %.1f us at 500 ops, %.1f us at 1000, %.1f us at 2000\n", at500,
              at1000, at2000);
  EXPECT_LE(at2000, 2 * at500);
}

} // namespace
} // namespace tracec
