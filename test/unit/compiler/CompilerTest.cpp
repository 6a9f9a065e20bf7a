// TraceGraph -> compile -> Executor: every native section equals the portable one bit for bit.
#include "TraceBuilder.h"

#include "tracec/Compiler.h"
#include "tracert/Element.h"
#include "tracert/Executor.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tracec {
namespace {

using namespace tracert;

const CompilerApi &api() { return *tracecCompilerApi(); }

std::vector<Target> machineTargets() {
  std::vector<Target> targets;
  for (Target target : {kX86V4, kX86V3}) {
    if (supports(target)) {
      targets.push_back(target);
    }
  }
  return targets;
}

/// A lesser machine leaves tests out where one sees it.
#define SKIP_WITHOUT_KERNELS()                                                                     \
  do {                                                                                             \
    if (machineTargets().empty()) {                                                                \
      GTEST_SKIP() << "this machine runs no compiled kernels";                                     \
    }                                                                                              \
  } while (false)

TEST(Compiler, ThisMachineRunsEveryLevel) {
  if (machineTargets().size() < 2) {
    GTEST_SKIP() << "this machine runs compiled kernels of " << machineTargets().size()
                 << " of 2 levels";
  }
}

std::shared_ptr<Program> compileOrDie(const TraceGraph &graph, std::vector<Target> targets) {
  CompileOptions options;
  options.targets = std::move(targets);
  std::shared_ptr<Program> program;
  Status status = api().compile(graph, options, &program);
  EXPECT_TRUE(status.ok()) << status.message();
  if (program) {
    Status verified = verifyProgram(*program);
    EXPECT_TRUE(verified.ok()) << verified.message();
  }
  return program;
}

struct Tensor {
  TensorType type;
  std::vector<char> bytes;
  TensorView view() { return TensorView::contiguous(bytes.data(), type); }
};

/// Values that are neither sorted nor symmetric, the same for every call.
Tensor makeTensor(const TensorType &type, uint32_t seed) {
  Tensor tensor{type, std::vector<char>(static_cast<size_t>(type.byteCount()) + kBufferSlack)};
  uint32_t state = seed * 2654435761u + 1;
  for (int64_t i = 0; i < type.elementCount(); ++i) {
    state = state * 1664525u + 1013904223u;
    float value = static_cast<float>(static_cast<int32_t>(state >> 8) % 2000) / 500.0f - 2.0f;
    tracert::visitDType(type.dtype, [&](auto tag) {
      using D = decltype(tag);
      typename D::Storage element;
      if constexpr (tracert::isBoolTag<D>) {
        element = (state >> 20) & 1;
      } else if constexpr (tracert::isFloatTag<D>) {
        uint64_t bits = tracert::floatBits(static_cast<double>(value), D::dtype);
        std::memcpy(&element, &bits, sizeof element);
      } else {
        element =
            static_cast<typename D::Storage>(sizeof element == 1 ? state >> 24 : (state >> 8) % 4);
      }
      std::memcpy(tensor.bytes.data() + i * static_cast<int64_t>(sizeof element), &element,
                  sizeof element);
    });
  }
  return tensor;
}

struct RunResult {
  Status status;
  std::vector<OwnedTensor> outputs;
  Executor::Stats stats;
};

RunResult runSection(std::shared_ptr<const Program> program, SectionChoice section,
                     std::vector<Tensor> &inputs) {
  RunResult result;
  ExecutorOptions options;
  options.section = section;
  auto executor = Executor::create(std::move(program), options);
  if (!executor.ok()) {
    result.status = executor.status();
    return result;
  }
  std::vector<TensorView> views;
  for (Tensor &input : inputs) {
    views.push_back(input.view());
  }
  result.status = (*executor)->run(views, result.outputs);
  result.stats = (*executor)->stats();
  return result;
}

void expectSameBits(const std::vector<OwnedTensor> &got, const std::vector<OwnedTensor> &want) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < got.size(); ++i) {
    ASSERT_TRUE(got[i].view.type() == want[i].view.type())
        << got[i].view.type().str() << " against " << want[i].view.type().str();
    EXPECT_EQ(std::memcmp(got[i].view.data, want[i].view.data,
                          static_cast<size_t>(want[i].view.type().byteCount())),
              0)
        << "output " << i;
  }
}

/// Compiles once and compares all sections for each set of input types.
void compareSections(const TraceGraph &graph, const std::vector<std::vector<TensorType>> &calls,
                     bool expectsKernels = true) {
  SKIP_WITHOUT_KERNELS();
  std::shared_ptr<Program> program = compileOrDie(graph, machineTargets());
  ASSERT_TRUE(program);
  for (const NativeSection &section : program->sections) {
    EXPECT_EQ(!section.kernels.empty(), expectsKernels);
  }
  uint32_t seed = 1;
  for (const std::vector<TensorType> &types : calls) {
    std::vector<Tensor> inputs;
    for (const TensorType &type : types) {
      inputs.push_back(makeTensor(type, seed++));
    }
    RunResult portable = runSection(program, {SectionChoice::Portable}, inputs);
    ASSERT_TRUE(portable.status.ok()) << portable.status.message();
    EXPECT_EQ(portable.stats.section, kPortable);
    EXPECT_EQ(portable.stats.launchesRun, 0u);
    for (const NativeSection &section : program->sections) {
      SCOPED_TRACE(std::string(targetName(section.target)) + " on " + types[0].str());
      RunResult native = runSection(program, {SectionChoice::Native, section.target}, inputs);
      ASSERT_TRUE(native.status.ok()) << native.status.message();
      EXPECT_EQ(native.stats.section, section.target);
      EXPECT_EQ(native.stats.launchesRun > 0, expectsKernels);
      EXPECT_EQ(native.stats.launchesReplacedByOps, 0u);
      expectSameBits(native.outputs, portable.outputs);
    }
  }
}

TensorType f32(Dims shape) { return {DType::Float32, std::move(shape)}; }

AttrList reduceAttrs(Dims axes, bool keepdims = false) {
  return {AttrValue::ints(std::move(axes)), AttrValue::boolean(keepdims)};
}

TEST(Compiler, PointwiseChain) {
  TraceBuilder b;
  VarId x = b.input(f32({100}), {kUnknownDim});
  VarId y = b.op(OpKind::exp, {}, {x});
  VarId z = b.op(OpKind::mul, {}, {y, b.constantF32(0.5f)});
  b.output(b.op(OpKind::tanh, {}, {z}));
  compareSections(b.graph, {{f32({100})}, {f32({7})}, {f32({0})}, {f32({100000})}});
}

TEST(Compiler, BroadcastAndRowReduction) {
  TraceBuilder b;
  VarId x = b.input(f32({30, 40}), {kUnknownDim, kUnknownDim});
  VarId y = b.input(f32({40}), {kUnknownDim});
  VarId z = b.op(OpKind::mul, {}, {x, y});
  VarId w = b.op(OpKind::add, {}, {z, x});
  b.output(b.op(OpKind::sum, reduceAttrs({1}), {w}));
  b.output(w);
  compareSections(
      b.graph,
      {{f32({30, 40}), f32({40})}, {f32({3, 5000}), f32({5000})}, {f32({2, 0}), f32({0})}});
}

TEST(Compiler, ColumnReductionAndMax) {
  TraceBuilder b;
  VarId x = b.input(f32({30, 40}), {kUnknownDim, kUnknownDim});
  VarId y = b.op(OpKind::mul, {}, {x, x});
  b.output(b.op(OpKind::sum, reduceAttrs({0}), {y}));
  b.output(b.op(OpKind::max, reduceAttrs({0}), {y}));
  compareSections(b.graph, {{f32({30, 40})}, {f32({9000, 3})}});
}

TEST(Compiler, FullReductionOfManyBlocks) {
  TraceBuilder b;
  VarId x = b.input(f32({1000}), {kUnknownDim});
  VarId y = b.op(OpKind::mul, {}, {x, x});
  b.output(b.op(OpKind::sum, reduceAttrs({0}), {y}));
  compareSections(b.graph, {{f32({1000})}, {f32({4096})}, {f32({300001})}});
}

TEST(Compiler, SumsOfEveryLength) {
  TraceBuilder b;
  VarId x = b.input(f32({100}), {kUnknownDim});
  VarId y = b.op(OpKind::mul, {}, {x, x});
  b.output(b.op(OpKind::sum, reduceAttrs({0}), {y}));
  std::vector<std::vector<TensorType>> calls;
  for (int64_t length = 0; length <= 300; ++length) {
    calls.push_back({f32({length})});
  }
  compareSections(b.graph, calls);
}

TEST(Compiler, StencilOfSlices) {
  TraceBuilder b;
  VarId x = b.input(f32({50, 60}), {kUnknownDim, kUnknownDim});
  VarId up = b.index(OpKind::subtensor, {slice(std::nullopt, -2), slice(1, -1)}, {x});
  VarId down = b.index(OpKind::subtensor, {slice(2, std::nullopt), slice(1, -1)}, {x});
  VarId left = b.index(OpKind::subtensor, {slice(1, -1), slice(std::nullopt, -2)}, {x});
  VarId sum = b.op(OpKind::add, {}, {b.op(OpKind::add, {}, {up, down}), left});
  b.output(b.op(OpKind::mul, {}, {sum, b.constantF32(0.25f)}));
  compareSections(b.graph, {{f32({50, 60})}, {f32({3, 3})}, {f32({70, 19})}});
}

TEST(Compiler, TransposedAndReversedViews) {
  TraceBuilder b;
  VarId x = b.input(f32({20, 30}), {kUnknownDim, kUnknownDim});
  VarId y = b.input(f32({30, 20}), {kUnknownDim, kUnknownDim});
  VarId t = b.op(OpKind::permute, {AttrValue::ints({1, 0})}, {x});
  VarId r = b.index(OpKind::subtensor, {fullSlice(), slice({}, {}, -1)}, {y});
  VarId s = b.op(OpKind::add, {}, {t, r});
  b.output(b.op(OpKind::mul, {}, {s, s}));
  compareSections(b.graph, {{f32({20, 30}), f32({30, 20})}, {f32({33, 2}), f32({2, 33})}});
}

TEST(Compiler, GatherByToneCurve) {
  TraceBuilder b;
  VarId image = b.input({DType::UInt8, {20, 30}}, {kUnknownDim, kUnknownDim});
  std::vector<float> curve(256);
  for (int i = 0; i < 256; ++i) {
    curve[i] = std::sqrt(static_cast<float>(i));
  }
  VarId table = b.constant<float>(DType::Float32, {256}, curve);
  VarId index = b.op(OpKind::cast, {AttrValue::dtype(DType::Int64)}, {image});
  VarId toned = b.index(OpKind::indexing_multi_axis_vec, {intArray()}, {table, index});
  b.output(b.op(OpKind::mul, {}, {toned, b.constantF32(2.0f)}));
  compareSections(b.graph, {{{DType::UInt8, {20, 30}}}, {{DType::UInt8, {1000, 3}}}});
}

TEST(Compiler, RowGather) {
  TraceBuilder b;
  VarId table = b.input(f32({4, 24}), {4, kUnknownDim});
  VarId index = b.input({DType::Int64, {10}}, {kUnknownDim});
  VarId rows = b.index(OpKind::indexing_multi_axis_vec, {intArray(), fullSlice()}, {table, index});
  b.output(b.op(OpKind::mul, {}, {rows, rows}));
  compareSections(b.graph,
                  {{f32({4, 24}), {DType::Int64, {10}}}, {f32({4, 50}), {DType::Int64, {333}}}});
}

/// (x[m] * 2 + 1).sum(), x[m].mean() in one kernel; x[m] itself never exists.
TEST(Compiler, MaskedReductions) {
  SKIP_WITHOUT_KERNELS();
  TraceBuilder b;
  VarId x = b.input(f32({1000}), {kUnknownDim});
  VarId m = b.op(OpKind::gt, {}, {x, b.constantF32(0.25f)});
  VarId selected = b.index(OpKind::indexing_multi_axis_vec, {mask(1)}, {x, m});
  VarId scaled = b.op(OpKind::mul, {}, {selected, b.constantF32(2.0f)});
  VarId shifted = b.op(OpKind::add, {}, {scaled, b.constantF32(1.0f)});
  b.output(b.op(OpKind::sum, reduceAttrs({0}), {shifted}));
  b.output(b.op(OpKind::mean, reduceAttrs({0}), {selected}));
  std::shared_ptr<Program> program = compileOrDie(b.graph, machineTargets());
  ASSERT_TRUE(program);
  for (const NativeSection &section : program->sections) {
    ASSERT_EQ(section.kernels.size(), 1u);
    for (const KernelAccess &access : section.kernels[0].accesses) {
      EXPECT_NE(access.kind, AccessKind::CompactStore);
    }
  }
  compareSections(b.graph, {{f32({1000})}, {f32({1})}, {f32({200000})}});
}

TEST(Compiler, MaskedReadThatIsKept) {
  TraceBuilder b;
  VarId x = b.input(f32({1000}), {kUnknownDim});
  VarId m = b.input({DType::Bool, {1000}}, {kUnknownDim});
  VarId selected = b.index(OpKind::indexing_multi_axis_vec, {mask(1)}, {x, m});
  b.output(b.op(OpKind::mul, {}, {selected, selected}));
  compareSections(b.graph, {{f32({1000}), {DType::Bool, {1000}}},
                            {f32({77777}), {DType::Bool, {77777}}},
                            {f32({0}), {DType::Bool, {0}}}});
}

TEST(Compiler, SetsInPlaceAndMasked) {
  TraceBuilder b;
  VarId x = b.input(f32({100}), {kUnknownDim});
  VarId y = b.op(OpKind::exp, {}, {x});
  VarId set = b.index(OpKind::set_subtensor, {slice(1, -1)}, {y, b.constantF32(3.0f)});
  VarId m = b.op(OpKind::lt, {}, {x, b.constantF32(0.0f)});
  b.output(b.index(OpKind::set_indexing_multi_axis_vec, {mask(1)}, {set, b.constantF32(-1.0f), m}));
  std::shared_ptr<Program> program = compileOrDie(b.graph, {});
  ASSERT_TRUE(program);
  bool hasInPlace = false;
  for (const OpDef &op : program->ops) {
    hasInPlace |= op.inPlace;
    EXPECT_NE(op.call.kind, OpKind::set_indexing_multi_axis_vec) << "is a where";
  }
  EXPECT_TRUE(hasInPlace);
  compareSections(b.graph, {{f32({100})}, {f32({2})}, {f32({5000})}});
}

TEST(Compiler, MatmulBetweenGroups) {
  TraceBuilder b;
  VarId x = b.input(f32({20, 30}), {kUnknownDim, 30});
  VarId w = b.constant<float>(DType::Float32, {30, 8}, std::vector<float>(240, 0.125f));
  VarId hidden =
      b.op(OpKind::matmul, {}, {b.op(OpKind::tanh, {}, {b.op(OpKind::add, {}, {x, x})}), w});
  b.output(
      b.op(OpKind::maximum, {}, {b.op(OpKind::mul, {}, {hidden, hidden}), b.constantF32(0.5f)}));
  compareSections(b.graph, {{f32({20, 30})}, {f32({5, 30})}});
}

/// An index that is out of range in a fused gather: the error of eager, with op and line.
TEST(Compiler, IndexOutOfRangeInAKernel) {
  SKIP_WITHOUT_KERNELS();
  TraceBuilder b;
  VarId table = b.input(f32({4}));
  VarId index = b.input({DType::Int64, {100}}, {kUnknownDim});
  VarId read = b.index(OpKind::indexing_multi_axis_vec, {intArray()}, {table, index});
  b.output(b.op(OpKind::mul, {}, {read, read}));
  std::shared_ptr<Program> program = compileOrDie(b.graph, machineTargets());
  ASSERT_TRUE(program);
  std::vector<Tensor> inputs{makeTensor(f32({4}), 1), makeTensor({DType::Int64, {100}}, 2)};
  reinterpret_cast<int64_t *>(inputs[1].bytes.data())[70] = 9;
  RunResult portable = runSection(program, {SectionChoice::Portable}, inputs);
  EXPECT_EQ(portable.status.code(), StatusCode::IndexOutOfRange);
  for (const NativeSection &section : program->sections) {
    RunResult native = runSection(program, {SectionChoice::Native, section.target}, inputs);
    EXPECT_EQ(native.status.code(), StatusCode::IndexOutOfRange);
    EXPECT_GT(native.stats.launchesRun, 0u);
    EXPECT_EQ(native.status.message(), portable.status.message());
    EXPECT_NE(native.status.message().find("model.py:10"), std::string::npos)
        << native.status.message();
  }
}

TEST(Compiler, ANewSizeCompilesNothing) {
  SKIP_WITHOUT_KERNELS();
  TraceBuilder b;
  VarId x = b.input(f32({64, 10}), {kUnknownDim, kUnknownDim});
  VarId y = b.op(OpKind::add, {}, {b.op(OpKind::exp, {}, {x}), b.constantF32(7.5f)});
  b.output(b.op(OpKind::sum, reduceAttrs({1}), {y}));
  std::shared_ptr<Program> program = compileOrDie(b.graph, machineTargets());
  uint64_t compiled = api().kernelsCompiled();
  EXPECT_GT(compiled, 0u);
  for (int64_t rows : {64, 3, 1000}) {
    std::vector<Tensor> inputs{makeTensor(f32({rows, 10}), 5)};
    EXPECT_TRUE(runSection(program, {}, inputs).status.ok());
  }
  // The same structure in another trace is found again.
  (void)compileOrDie(b.graph, machineTargets());
  EXPECT_EQ(api().kernelsCompiled(), compiled);
}

TEST(Compiler, KeepsLinesAndOpNumbers) {
  TraceBuilder b;
  VarId x = b.input(f32({6}));
  b.output(b.op(OpKind::mean, reduceAttrs({0}), {b.op(OpKind::exp, {}, {x})}));
  std::shared_ptr<Program> program = compileOrDie(b.graph, {});
  ASSERT_TRUE(program);
  ASSERT_EQ(program->ops.size(), 3u) << "exp, sum, div";
  EXPECT_EQ(program->ops[0].sourceOps, std::vector<uint32_t>{0});
  EXPECT_EQ(program->ops[2].sourceOps, std::vector<uint32_t>{1});
  EXPECT_EQ(program->locs[program->ops[2].loc].file, "model.py");
  EXPECT_EQ(program->locs[program->ops[2].loc].line, 11);
  EXPECT_EQ(program->inputs[0].name, "x0");
  EXPECT_EQ(program->outputs[0].name, "y0");
}

TEST(Compiler, SizesThatMeetAreOneSymbol) {
  TraceBuilder b;
  VarId x = b.input(f32({6}), {kUnknownDim});
  VarId y = b.input(f32({6}), {kUnknownDim});
  b.output(b.op(OpKind::add, {}, {x, y}));
  std::shared_ptr<Program> program = compileOrDie(b.graph, {});
  ASSERT_TRUE(program);
  EXPECT_EQ(program->symbols.size(), 1u);
  std::vector<Tensor> inputs{makeTensor(f32({6}), 1), makeTensor(f32({5}), 2)};
  EXPECT_FALSE(runSection(program, {SectionChoice::Portable}, inputs).status.ok());
}

TEST(Compiler, LargeConstantsAreUsedInPlace) {
  TraceBuilder b;
  VarId x = b.input(f32({256}));
  auto *aligned = static_cast<float *>(std::aligned_alloc(64, 1024));
  std::fill_n(aligned, 256, 2.0f);
  b.graph.vars.push_back({f32({256}), {256}});
  auto w = static_cast<VarId>(b.graph.vars.size() - 1);
  b.graph.constants.push_back({w, aligned, std::shared_ptr<const void>(aligned, std::free)});
  b.output(b.op(OpKind::add, {}, {x, w}));
  std::shared_ptr<Program> program = compileOrDie(b.graph, {});
  ASSERT_TRUE(program);
  EXPECT_EQ(program->constants.at(0).data, aligned);
}

TEST(Compiler, TextWithAnErrorNamesTheLine) {
  std::shared_ptr<Program> program;
  Status status = api().compileText("func.func @main(%x: tensor<3xf32>) -> tensor<4xf32> {\n"
                                    "  %0 = trace.add %x, %x : (tensor<3xf32>, tensor<3xf32>) -> "
                                    "tensor<4xf32>\n  return %0 : tensor<4xf32>\n}\n",
                                    "model.mlir", {}, &program);
  EXPECT_EQ(status.code(), StatusCode::Compile);
  EXPECT_NE(status.message().find("model.mlir:2"), std::string::npos) << status.message();
  EXPECT_NE(status.message().find("float32[4]"), std::string::npos) << status.message();
}

TEST(Compiler, PrintsStages) {
  TraceBuilder b;
  VarId x = b.input(f32({100}), {kUnknownDim});
  b.output(b.op(OpKind::tanh, {}, {b.op(OpKind::exp, {}, {x})}));
  for (auto [stage, expected] : {std::pair("trace", "model.py"),
                                 {"canonical", "trace.exp"},
                                 {"fused", "trace.group"},
                                 {"kernel", "kernel.func"}}) {
    std::string text;
    Status status = api().printStage(b.graph, {}, stage, &text);
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_NE(text.find(expected), std::string::npos) << text;
  }
  std::string text;
  Status status = api().printStage(b.graph, {}, "ptx", &text);
  EXPECT_EQ(status.code(), StatusCode::InvalidArgument);
}

} // namespace
} // namespace tracec
