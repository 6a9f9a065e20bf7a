// Random programs of ops, views, sets and masks against the op-by-op reference: any overlap of
// buffers, wrong alias or wrong in-place set changes the result.
#include "ProgramKit.h"

#include <random>

using namespace tracert;
using namespace tracert::test;

namespace {

class ProgramMaker {
public:
  explicit ProgramMaker(uint32_t seed) : random(seed) {}

  std::shared_ptr<const Program> make() {
    values.push_back(kit.input("x", DType::Float32, {kUnknownDim, 6}, {"n"}));
    values.push_back(kit.input("y", DType::Float32, {kUnknownDim, 6}, {"n"}));
    values.push_back(kit.constant(iota(DType::Float32, {6}, 1)));
    value = kit.constant(tensor<float>({}, {-3}));
    int count = 3 + static_cast<int>(random() % 25);
    for (int i = 0; i < count; ++i) {
      addOp();
    }
    size_t outputs = 1 + random() % 4;
    for (size_t i = 0; i < outputs; ++i) {
      ValueId chosen = i == 0 ? values.back() : any();
      kit.output("out" + std::to_string(i), chosen);
    }
    allowInPlace();
    return kit.finish();
  }

private:
  ValueId any() { return values[random() % values.size()]; }
  const Dims &dimsOf(ValueId id) const { return kit.program->values[id].dims; }

  void addOp() {
    ValueId x = any();
    size_t rank = dimsOf(x).size();
    switch (random() % 8) {
    case 0:
    case 1: {
      ValueId other = any();
      bool isSame = dimsOf(other) == dimsOf(x);
      values.push_back(kit.op(OpKind::add, {}, {x, isSame ? other : x}));
      return;
    }
    case 2:
      values.push_back(kit.op(OpKind::maximum, {}, {x, value}));
      return;
    case 3:
      if (rank == 2) {
        values.push_back(kit.op(OpKind::permute, {AttrValue::ints({1, 0})}, {x}));
      }
      return;
    case 4:
      if (rank >= 1) {
        values.push_back(kit.op(OpKind::subtensor, sliceItems(rank), {x}));
      }
      return;
    case 5:
    case 6:
      if (rank >= 1) {
        values.push_back(kit.op(OpKind::set_subtensor, sliceItems(rank), {x, value}));
      }
      return;
    default:
      if (rank >= 1 && random() % 3 == 0) {
        ValueId mask = kit.op(OpKind::gt, {}, {x, value});
        values.push_back(kit.op(OpKind::indexing_multi_axis_vec,
                                items({maskItem(static_cast<uint8_t>(rank))}), {x, mask}));
      } else if (rank >= 1) {
        values.push_back(kit.op(OpKind::reshape, {AttrValue::ints({-1})}, {x}));
      }
      return;
    }
  }

  AttrList sliceItems(size_t rank) {
    std::vector<IndexItem> list;
    for (size_t axis = 0; axis < rank; ++axis) {
      switch (random() % 4) {
      case 0:
        list.push_back(slice({}, {}, -1));
        break;
      case 1:
        list.push_back(slice(1, {}));
        break;
      case 2:
        list.push_back(slice({}, {}, 2));
        break;
      default:
        list.push_back(slice({}, {}));
      }
    }
    return items(std::move(list));
  }

  /// As the compiler does: in place wherever the old value is not used later.
  void allowInPlace() {
    Program &program = *kit.program;
    for (OpIndex i = 0; i < program.ops.size(); ++i) {
      OpDef &op = program.ops[i];
      if (!op.call.info().has(kTraitSet)) {
        continue;
      }
      bool isUsed = false;
      for (OpIndex later = i + 1; later < program.ops.size(); ++later) {
        for (ValueId operand : program.ops[later].operands) {
          isUsed = isUsed || operand == op.operands[0];
        }
      }
      for (const OutputDef &output : program.outputs) {
        isUsed = isUsed || output.value == op.operands[0];
      }
      op.inPlace = !isUsed;
    }
  }

  std::mt19937 random;
  ProgramKit kit;
  std::vector<ValueId> values;
  ValueId value = 0;
};

TEST(RandomProgram, AgreesWithTheReference) {
  int inPlaceCount = 0;
  int maskCount = 0;
  for (uint32_t seed = 0; seed < 400; ++seed) {
    auto program = ProgramMaker(seed).make();
    for (const OpDef &op : program->ops) {
      inPlaceCount += op.inPlace;
      maskCount += op.call.info().has(kTraitDataDependentShape);
    }
    std::unique_ptr<Executor> executor = executorOf(program);
    for (int64_t size : {3, 1, 8, 3, 0}) {
      Tensors inputs{iota(DType::Float32, {size, 6}, -5), iota(DType::Float32, {size, 6}, 2)};
      Tensors before = inputs;
      Result<Tensors> expected = reference(*program, inputs);
      Result<Tensors> outputs = tryRun(*executor, inputs);
      ASSERT_EQ(expected.ok(), outputs.ok())
          << "seed " << seed << " size " << size << ": " << expected.status().message() << " / "
          << outputs.status().message();
      if (expected.ok()) {
        ASSERT_EQ(*outputs, *expected) << "seed " << seed << " size " << size;
      }
      ASSERT_EQ(inputs, before) << "seed " << seed;
    }
  }
  // The programs do contain what this test is about.
  EXPECT_GT(inPlaceCount, 200);
  EXPECT_GT(maskCount, 50);
}

TEST(RandomProgram, SurvivesTheFile) {
  int compared = 0;
  for (uint32_t seed = 1000; seed < 1040; ++seed) {
    auto program = ProgramMaker(seed).make();
    Result<std::string> bytes = serializeProgram(*program, {});
    ASSERT_TRUE(bytes.ok()) << bytes.status().message();
    std::span view(reinterpret_cast<const uint8_t *>(bytes->data()), bytes->size());
    auto loaded = loadProgram(view, nullptr, {.verifyAll = true});
    ASSERT_TRUE(loaded.ok()) << loaded.status().message();
    Tensors inputs{iota(DType::Float32, {4, 6}, -5), iota(DType::Float32, {4, 6}, 2)};
    Result<Tensors> expected = tryRun(*executorOf(program), inputs);
    Result<Tensors> outputs = tryRun(*executorOf(*loaded), inputs);
    ASSERT_EQ(outputs.ok(), expected.ok()) << "seed " << seed;
    EXPECT_EQ(outputs.status().message(), expected.status().message());
    if (expected.ok()) {
      ++compared;
      EXPECT_EQ(*outputs, *expected) << "seed " << seed;
    }
    EXPECT_EQ(*serializeProgram(**loaded, {}), *bytes);
  }
  EXPECT_GT(compared, 20);
}

} // namespace
