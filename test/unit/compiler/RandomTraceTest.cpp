// Random traces: the compiled program against the recorded ops run one by one with library kernels.
#include "../devices/FakeDevice.h"
#include "TraceBuilder.h"

#include "tracec/Compiler.h"
#include "tracert/Executor.h"
#include "tracert/HostCopies.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <random>

namespace tracec {
namespace {

using namespace tracert;

struct Held {
  TensorType type;
  std::vector<char> bytes;
  TensorView view() { return TensorView::contiguous(bytes.data(), type); }
  explicit Held(TensorType t)
      : type(std::move(t)), bytes(static_cast<size_t>(type.byteCount()) + kBufferSlack) {}
};

/// Eager semantics: every op by its library kernel, views copied.
std::vector<Held> runOpByOp(const TraceGraph &graph, std::vector<Held> &inputs) {
  std::map<VarId, Held> values;
  for (size_t i = 0; i < inputs.size(); ++i) {
    values.emplace(graph.inputs[i], inputs[i]);
  }
  for (const TraceConstant &constant : graph.constants) {
    Held held(graph.vars[constant.var].type);
    std::memcpy(held.bytes.data(), constant.data, static_cast<size_t>(held.type.byteCount()));
    values.emplace(constant.var, held);
  }
  KernelContext context;
  context.allocator = &processAllocator();
  for (const TraceOp &op : graph.ops) {
    std::vector<TensorView> operands;
    std::vector<OperandInfo> infos;
    for (VarId var : op.operands) {
      operands.push_back(values.at(var).view());
      infos.push_back({operands.back().type()});
    }
    auto types = inferTypes(op.call, infos);
    EXPECT_TRUE(types.ok()) << types.status().message();
    if (op.call.info().has(kTraitDataDependentShape)) {
      auto counts = readCounts(context, op.call, operands);
      EXPECT_TRUE(counts.ok());
      types = inferTypesWithCounts(op.call, infos, *counts);
    }
    Held result((*types)[0]);
    if (op.call.info().has(kTraitView)) {
      auto view = viewOf(op.call, operands[0], {});
      EXPECT_TRUE(view.ok() && view->has_value());
      copyView(context, **view, result.view());
    } else {
      TensorView out = result.view();
      Status status = runKernel(context, op.call, operands, std::span(&out, 1));
      EXPECT_TRUE(status.ok()) << status.message();
    }
    values.emplace(op.results[0], std::move(result));
  }
  std::vector<Held> outputs;
  for (VarId var : graph.outputs) {
    outputs.push_back(values.at(var));
  }
  return outputs;
}

class RandomTrace {
public:
  TraceBuilder b;

  explicit RandomTrace(uint32_t seed) : random(seed) {
    bool isDynamic = seed % 2;
    Dims dims = isDynamic ? Dims{kUnknownDim, kUnknownDim} : Dims{12, 9};
    matrices = {b.input({DType::Float32, {12, 9}}, dims), b.input({DType::Float32, {12, 9}}, dims)};
    half = b.constantF32(0.5f);
    row = b.constant<float>(DType::Float32, {9}, {1, 2, 3, 4, 5, 6, 7, 8, 9});
    rows = b.constant<int64_t>(DType::Int64, {12}, {3, 1, 2, 0, 5, 4, 11, 10, 6, 7, 8, 9});
    for (int i = 0; i < 18; ++i) {
      step();
    }
    b.output(matrices.back());
    for (VarId value : numbers) {
      b.output(value);
    }
    for (size_t i = 0; i < matrices.size(); i += 5) {
      b.output(matrices[i]);
    }
  }

private:
  int pick(int count) { return static_cast<int>(random() % static_cast<uint32_t>(count)); }
  VarId matrix() { return matrices[static_cast<size_t>(pick(static_cast<int>(matrices.size())))]; }
  VarId full() {
    // Old values are read again now and then, which forbids writing in place.
    return pick(3) ? matrices.back() : matrix();
  }
  void add(VarId value) { matrices.push_back(value); }

  void step() {
    switch (pick(13)) {
    case 0:
      return add(b.op(OpKind::add, {}, {full(), matrix()}));
    case 1:
      return add(b.op(OpKind::mul, {}, {full(), half}));
    case 2:
      return add(b.op(OpKind::tanh, {}, {full()}));
    case 3:
      return add(b.op(OpKind::maximum, {}, {full(), matrix()}));
    case 4: {
      // Slices of a slice written back, overlapping.
      VarId from = full();
      VarId inner = b.index(OpKind::subtensor, {slice(1, {}), fullSlice()}, {from});
      VarId shifted = b.index(OpKind::subtensor, {slice({}, -1), slice(1, -1)}, {inner});
      return add(b.index(OpKind::set_subtensor, {slice(2, {}), slice({}, -2)}, {from, shifted}));
    }
    case 5: {
      VarId sum = b.op(OpKind::add, {}, {full(), matrix()});
      VarId part = b.index(OpKind::subtensor, {slice(1, {}), slice({}, {}, -1)}, {sum});
      VarId scaled = b.op(OpKind::mul, {}, {part, half});
      return add(b.index(OpKind::set_subtensor, {slice({}, -1), fullSlice()}, {full(), scaled}));
    }
    case 6: {
      VarId isLarge = b.op(OpKind::gt, {}, {full(), half});
      return add(b.index(OpKind::set_indexing_multi_axis_vec, {mask(2)}, {full(), half, isLarge}));
    }
    case 7: {
      VarId isLarge = b.op(OpKind::gt, {}, {full(), half});
      VarId selected = b.index(OpKind::indexing_multi_axis_vec, {mask(2)}, {matrix(), isLarge});
      VarId other = b.index(OpKind::indexing_multi_axis_vec, {mask(2)}, {matrix(), isLarge});
      VarId product = b.op(OpKind::mul, {}, {selected, other});
      numbers.push_back(
          b.op(OpKind::sum, {AttrValue::ints({0}), AttrValue::boolean(false)}, {product}));
      if (pick(2)) {
        b.output(product);
      }
      return;
    }
    case 8: {
      VarId sum =
          b.op(OpKind::sum, {AttrValue::ints({pick(2)}), AttrValue::boolean(true)}, {full()});
      return add(b.op(OpKind::sub, {}, {matrix(), sum}));
    }
    case 9:
      return add(b.op(OpKind::mul, {}, {full(), row}));
    case 10: {
      VarId gathered =
          b.index(OpKind::indexing_multi_axis_vec, {slice(0, {}), intArray()},
                  {full(), b.index(OpKind::subtensor, {slice(3, {})}, {rowsBelow9()})});
      VarId part = b.index(OpKind::subtensor, {slice(1, -1), fullSlice()}, {gathered});
      numbers.push_back(b.op(OpKind::max, {AttrValue::ints({0, 1}), AttrValue::boolean(false)},
                             {b.op(OpKind::mul, {}, {part, half})}));
      return;
    }
    case 11: {
      VarId turned = b.op(OpKind::permute, {AttrValue::ints({1, 0})}, {full()});
      VarId scaled = b.op(OpKind::sub, {}, {turned, half});
      return add(b.op(OpKind::permute, {AttrValue::ints({1, 0})}, {scaled}));
    }
    default: {
      VarId written = b.index(OpKind::set_subtensor, {slice(1, 4), fullSlice()}, {full(), row});
      VarId read = b.index(OpKind::subtensor, {slice(1, 4), fullSlice()}, {written});
      numbers.push_back(b.op(OpKind::sum, {AttrValue::ints({0, 1}), AttrValue::boolean(false)},
                             {b.op(OpKind::add, {}, {read, half})}));
      return add(written);
    }
    }
  }
  VarId rowsBelow9() {
    VarId nine = b.constant<int64_t>(DType::Int64, {}, {8});
    return b.op(OpKind::minimum, {}, {rows, nine});
  }

  std::mt19937 random;
  std::vector<VarId> matrices, numbers;
  VarId half, row, rows;
};

/// The first float32 elements that differ.
std::string differenceText(const TensorView &got, Held &want) {
  std::string text;
  const auto *a = static_cast<const float *>(got.data);
  const auto *b = reinterpret_cast<const float *>(want.bytes.data());
  for (int64_t i = 0, shown = 0; i < want.type.elementCount() && shown < 4; ++i) {
    if (std::bit_cast<uint32_t>(a[i]) != std::bit_cast<uint32_t>(b[i])) {
      text += " [" + std::to_string(i) + "] " + std::to_string(a[i]) + " against " +
              std::to_string(b[i]);
      ++shown;
    }
  }
  return text;
}

/// The same code on a device: as many launches, and the same bits.
void compareOnDevice(const Program &program, uint64_t launches, std::vector<Held> &inputs,
                     std::vector<Held> &expected) {
  tracert::test::RegisteredFake fake;
  auto moved = std::make_shared<Program>(program);
  moved->sections[0].target = tracert::test::kFakeTarget;
  auto executor = Executor::create(moved, {.device = &*fake});
  ASSERT_TRUE(executor.ok()) << executor.status().message();
  std::vector<OwnedTensor> outputs;
  std::vector<TensorView> views{inputs[0].view(), inputs[1].view()};
  Status ran = (*executor)->run(views, outputs);
  ASSERT_TRUE(ran.ok()) << ran.message();
  EXPECT_EQ((*executor)->stats().launchesRun, launches);
  tracert::HostCopies copies(*fake, tracert::processAllocator());
  for (size_t i = 0; i < outputs.size(); ++i) {
    auto host = copies.bring(outputs[i].view);
    ASSERT_TRUE(host.ok()) << host.status().message();
    ASSERT_TRUE(host->view.type() == expected[i].type) << i;
    EXPECT_EQ(std::memcmp(host->view.data, expected[i].bytes.data(),
                          static_cast<size_t>(expected[i].type.byteCount())),
              0)
        << "device output " << i << ": " << differenceText(host->view, expected[i]);
  }
}

/// Adds the compiled kernels that ran to `kernelRuns`.
void compareWithOpByOp(uint32_t seed, int optLevel, uint64_t &kernelRuns) {
  SCOPED_TRACE("seed " + std::to_string(seed) + " -O" + std::to_string(optLevel));
  RandomTrace trace(seed);
  std::vector<Held> inputs;
  std::mt19937 random(seed + 1000);
  for (int i = 0; i < 2; ++i) {
    inputs.emplace_back(TensorType{DType::Float32, {12, 9}});
    for (int element = 0; element < 108; ++element) {
      reinterpret_cast<float *>(inputs.back().bytes.data())[element] =
          static_cast<float>(random() % 1000) / 250.0f - 2.0f;
    }
  }
  std::vector<Held> expected = runOpByOp(trace.b.graph, inputs);
  CompileOptions options;
  options.optLevel = optLevel;
  options.targets = {bestTarget()};
  if (bestTarget() == kPortable) {
    options.targets.clear();
  }
  std::shared_ptr<Program> program;
  Status status = tracecCompilerApi()->compile(trace.b.graph, options, &program);
  ASSERT_TRUE(status.ok()) << status.message();
  Status verified = verifyProgram(*program);
  ASSERT_TRUE(verified.ok()) << verified.message();
  for (SectionChoice::Kind kind : {SectionChoice::Portable, SectionChoice::Best}) {
    ExecutorOptions executorOptions;
    executorOptions.section.kind = kind;
    auto executor = Executor::create(program, executorOptions);
    ASSERT_TRUE(executor.ok()) << executor.status().message();
    std::vector<OwnedTensor> outputs;
    std::vector<TensorView> views{inputs[0].view(), inputs[1].view()};
    Status ran = (*executor)->run(views, outputs);
    ASSERT_TRUE(ran.ok()) << ran.message();
    bool hasKernels = kind == SectionChoice::Best && !program->sections.empty() &&
                      !program->sections[0].kernels.empty();
    EXPECT_EQ((*executor)->stats().launchesRun > 0, hasKernels);
    kernelRuns += (*executor)->stats().launchesRun;
    ASSERT_EQ(outputs.size(), expected.size());
    for (size_t i = 0; i < outputs.size(); ++i) {
      ASSERT_TRUE(outputs[i].view.type() == expected[i].type)
          << (kind == SectionChoice::Portable ? "portable" : "native") << " output " << i << " is "
          << outputs[i].view.type().str() << ", expected " << expected[i].type.str();
      EXPECT_EQ(std::memcmp(outputs[i].view.data, expected[i].bytes.data(),
                            static_cast<size_t>(expected[i].type.byteCount())),
                0)
          << (kind == SectionChoice::Portable ? "portable" : "native") << " output " << i << " of "
          << expected[i].type.str() << ": " << differenceText(outputs[i].view, expected[i]);
    }
    if (hasKernels) {
      compareOnDevice(*program, (*executor)->stats().launchesRun, inputs, expected);
    }
  }
}

TEST(RandomTrace, CompiledEqualsOpByOp) {
  uint64_t kernelRuns = 0;
  for (uint32_t seed = 0; seed < 60 && !HasFailure(); ++seed) {
    compareWithOpByOp(seed, 2, kernelRuns);
  }
  EXPECT_TRUE(kernelRuns >= 60 || bestTarget() == kPortable) << kernelRuns;
}

TEST(RandomTrace, OneKernelPerOpEqualsOpByOp) {
  uint64_t kernelRuns = 0;
  for (uint32_t seed = 100; seed < 115 && !HasFailure(); ++seed) {
    compareWithOpByOp(seed, 0, kernelRuns);
  }
  EXPECT_TRUE(kernelRuns >= 60 || bestTarget() == kPortable) << kernelRuns;
}

} // namespace
} // namespace tracec
