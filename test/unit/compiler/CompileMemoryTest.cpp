// What the compiler's contexts made unique goes when they are renewed.
#include "TraceBuilder.h"

#include "tracec/Compiler.h"
#include "tracert/CacheLimits.h"
#include "tracert/Executor.h"

#include <gtest/gtest.h>

#include <fstream>

namespace tracec {
namespace {

using namespace tracert;

/// A line of /proc/self/status, in bytes.
size_t statusBytes(const std::string &name) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(name + ":")) {
      return std::stoul(line.substr(name.size() + 1)) * 1024;
    }
  }
  ADD_FAILURE() << "no " << name;
  return 0;
}

/// x + x under a name of `nameBytes` that no other `number` has.
std::shared_ptr<Program> compileNamed(size_t number, size_t nameBytes,
                                      std::vector<Target> targets) {
  TraceBuilder b;
  VarId x = b.input({DType::Float32, {100}}, {kUnknownDim});
  b.output(b.op(OpKind::add, {}, {x, x}));
  b.graph.name = "f" + std::to_string(number) + std::string(nameBytes, 'x');
  CompileOptions options;
  options.targets = std::move(targets);
  std::shared_ptr<Program> program;
  Status status = tracecCompilerApi()->compile(b.graph, options, &program);
  EXPECT_TRUE(status.ok()) << status.message();
  return program;
}

TEST(CompileMemory, ContextsAreRenewed) {
  constexpr size_t nameBytes = 50'000;
  constexpr size_t perContext = nameBytes * kMaxCompilationsPerContext;
  compileNamed(0, 10, {});
  size_t before = statusBytes("VmRSS");
  for (size_t i = 1; i <= 3 * kMaxCompilationsPerContext; ++i) {
    ASSERT_TRUE(compileNamed(i, nameBytes, {}));
  }
  EXPECT_LE(statusBytes("VmHWM") - before, perContext + perContext / 2);
}

TEST(CompileMemory, ProgramsOutliveTheContextThatMadeThem) {
  Target target = bestTarget();
  if (target == kPortable) {
    GTEST_SKIP() << "this processor has no native section";
  }
  std::shared_ptr<Program> early = compileNamed(1, 10, {target});
  ASSERT_TRUE(early);
  for (size_t i = 0; i <= kMaxCompilationsPerContext; ++i) {
    ASSERT_TRUE(compileNamed(i, 10, {}));
  }
  std::shared_ptr<Program> late = compileNamed(2, 10, {target});
  ASSERT_TRUE(late);
  std::vector<float> data(100);
  for (size_t i = 0; i < data.size(); ++i) {
    data[i] = static_cast<float>(i);
  }
  TensorView input = TensorView::contiguous(data.data(), {DType::Float32, {100}});
  for (const auto &program : {early, late}) {
    auto executor = Executor::create(program, {.section = {SectionChoice::Native, target}});
    ASSERT_TRUE(executor.ok()) << executor.status().message();
    std::vector<OwnedTensor> outputs;
    ASSERT_TRUE((*executor)->run({&input, 1}, outputs).ok());
    for (size_t i = 0; i < data.size(); ++i) {
      ASSERT_EQ(static_cast<const float *>(outputs[0].view.data)[i], 2 * data[i]);
    }
    EXPECT_EQ((*executor)->stats().launchesReplacedByOps, 0u);
  }
}

} // namespace
} // namespace tracec
