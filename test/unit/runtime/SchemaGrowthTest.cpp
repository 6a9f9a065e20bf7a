// What a file may hold that this version does not run: attributes by name, sections of other
// machines and contracts, and what the schema reserves.
#include "FileKit.h"
#include "ProgramKit.h"

#include <cstring>
#include <tuple>

using namespace tracert;
using namespace tracert::test;

namespace {

namespace fb = flatbuffers;
using Builder = fb::FlatBufferBuilder;
template <class T> using Offsets = std::vector<fb::Offset<T>>;
using Attr = fb::Offset<schema::AttrDef>;

Attr axesAttr(Builder &builder, const char *name, int64_t axis) {
  auto ints = builder.CreateVector(std::vector<int64_t>{axis});
  auto nameOffset = name ? builder.CreateString(name) : 0;
  return schema::CreateAttrDef(builder, static_cast<uint8_t>(AttrKind::Ints), 0, 0, 0, ints, 0,
                               false, 0, nameOffset);
}

Attr keepdimsAttr(Builder &builder, const char *name, bool keep) {
  auto nameOffset = name ? builder.CreateString(name) : 0;
  return schema::CreateAttrDef(builder, static_cast<uint8_t>(AttrKind::Bool), keep, 0, 0, 0, 0,
                               false, 0, nameOffset);
}

/// What a file adds to the program below.
struct Extra {
  std::vector<int64_t> resultDims{4, 1};
  Offsets<schema::SectionDef> sections;
  Offsets<schema::TestVectorDef> vectors;
  Offsets<schema::FunctionDef> functions;
  Offsets<schema::DimExprDef> exprs;
  Offsets<schema::GuardDef> guards;
  Offsets<schema::OpBlockDef> opBlocks;
};

/// y = sum(x, axes=[1], keepdims=true), x: float32[4,3].
fb::Offset<schema::ProgramDef> sumProgram(Builder &builder, const std::vector<Attr> &attrs,
                                          const Extra &extra = {}) {
  auto float32 = static_cast<uint8_t>(DType::Float32);
  auto typeOf = [&](const std::vector<int64_t> &shape) {
    auto dims = builder.CreateVector(shape);
    return schema::CreateTensorTypeDef(builder, float32, dims);
  };
  Offsets<schema::TensorTypeDef> values{typeOf({4, 3}), typeOf(extra.resultDims)};
  auto valuesOffset = builder.CreateVector(values);
  Offsets<schema::InputDef> inputs{schema::CreateInputDef(builder, builder.CreateString("x"), 0)};
  auto inputsOffset = builder.CreateVector(inputs);
  Offsets<schema::OutputDef> outputs{
      schema::CreateOutputDef(builder, builder.CreateString("y"), 1)};
  auto outputsOffset = builder.CreateVector(outputs);
  auto operands = builder.CreateVector(std::vector<uint32_t>{0});
  auto results = builder.CreateVector(std::vector<uint32_t>{1});
  auto blocks = extra.opBlocks.empty() ? 0 : builder.CreateVector(extra.opBlocks);
  Offsets<schema::OpDef> ops{schema::CreateOpDef(builder, builder.CreateString("sum"), 1,
                                                 builder.CreateVector(attrs), operands, results, 0,
                                                 UINT32_MAX, 0, false, blocks)};
  auto opsOffset = builder.CreateVector(ops);
  auto sections = builder.CreateVector(extra.sections);
  auto vectors = builder.CreateVector(extra.vectors);
  auto functions = builder.CreateVector(extra.functions);
  auto exprs = builder.CreateVector(extra.exprs);
  auto guards = builder.CreateVector(extra.guards);
  return schema::CreateProgramDef(builder, 0, 0, 0, 0, 0, valuesOffset, inputsOffset, outputsOffset,
                                  0, opsOffset, sections, vectors, functions, exprs, guards);
}

std::vector<Attr> goodAttrs(Builder &builder) {
  return {axesAttr(builder, "axes", 1), keepdimsAttr(builder, "keepdims", true)};
}

template <class Make> Status loadWithAttrs(Make make) {
  return loadBytes(fileOf([&](Builder &builder) { return sumProgram(builder, make(builder)); }))
      .status();
}

template <class Fill> Result<std::shared_ptr<const Program>> loadWith(Fill fill) {
  std::string code(64, '\xc3');
  return loadBytes(fileOf(
      [&](Builder &builder) {
        Extra extra;
        fill(builder, extra);
        return sumProgram(builder, goodAttrs(builder), extra);
      },
      {{SegmentKind::Code, code}}));
}

template <class Fill> void expectBad(const Fill &fill, StatusCode code, const std::string &text) {
  Status status = loadWith(fill).status();
  EXPECT_EQ(status.code(), code) << status.message();
  EXPECT_NE(status.message().find(text), std::string::npos) << status.message();
}

TEST(SchemaGrowth, AttributesAreReadByNameInAnyOrder) {
  for (bool isReversed : {false, true}) {
    auto loaded = loadBytes(fileOf([&](Builder &builder) {
      std::vector<Attr> attrs = goodAttrs(builder);
      if (isReversed) {
        std::swap(attrs[0], attrs[1]);
      }
      return sumProgram(builder, attrs);
    }));
    ASSERT_TRUE(loaded.ok()) << loaded.status().message();
    OpCall wanted{OpKind::sum, {AttrValue::ints({1}), AttrValue::boolean(true)}};
    EXPECT_EQ((*loaded)->ops[0].call, wanted);
  }
}

TEST(SchemaGrowth, MissingAttributesTakeTheDefaultOfTheRecord) {
  Extra extra;
  extra.resultDims = {4};
  auto loaded = loadBytes(fileOf([&](Builder &builder) {
    return sumProgram(builder, {axesAttr(builder, "axes", 1)}, extra);
  }));
  ASSERT_TRUE(loaded.ok()) << loaded.status().message();
  OpCall wanted{OpKind::sum, {AttrValue::ints({1}), AttrValue::boolean(false)}};
  EXPECT_EQ((*loaded)->ops[0].call, wanted);

  Status status = loadWithAttrs([](Builder &builder) -> std::vector<Attr> {
    return {keepdimsAttr(builder, "keepdims", true)};
  });
  EXPECT_EQ(status.code(), StatusCode::CorruptFile);
  EXPECT_NE(status.message().find("lacks the attribute 'axes'"), std::string::npos)
      << status.message();
}

TEST(SchemaGrowth, AttributesWithoutNamesAreReadByPosition) {
  Status status = loadWithAttrs([](Builder &builder) -> std::vector<Attr> {
    return {axesAttr(builder, nullptr, 1), keepdimsAttr(builder, nullptr, true)};
  });
  EXPECT_TRUE(status.ok()) << status.message();
}

TEST(SchemaGrowth, AttributesThatAreNotTheOpsAreRefused) {
  Status status = loadWithAttrs([](Builder &builder) -> std::vector<Attr> {
    return {axesAttr(builder, "axes", 1), keepdimsAttr(builder, "keepdims", true),
            keepdimsAttr(builder, "fast", true)};
  });
  EXPECT_EQ(status.code(), StatusCode::Unsupported);
  EXPECT_NE(status.message().find("'fast'"), std::string::npos) << status.message();

  status = loadWithAttrs([](Builder &builder) -> std::vector<Attr> {
    return {axesAttr(builder, "axes", 1), axesAttr(builder, "axes", 0)};
  });
  EXPECT_EQ(status.code(), StatusCode::CorruptFile);
  EXPECT_NE(status.message().find("twice"), std::string::npos) << status.message();

  status = loadWithAttrs([](Builder &builder) -> std::vector<Attr> {
    return {axesAttr(builder, "axes", 1), keepdimsAttr(builder, nullptr, true)};
  });
  EXPECT_FALSE(status.ok());
}

TEST(SchemaGrowth, WrittenAttributesHaveNames) {
  auto loaded =
      loadBytes(fileOf([&](Builder &builder) { return sumProgram(builder, goodAttrs(builder)); }));
  ASSERT_TRUE(loaded.ok()) << loaded.status().message();
  Result<std::string> bytes = serializeProgram(**loaded, WriteOptions());
  ASSERT_TRUE(bytes.ok()) << bytes.status().message();
  Preamble preamble;
  std::memcpy(&preamble, bytes->data(), sizeof preamble);
  const schema::ProgramDef *root = schema::GetProgramDef(bytes->data() + preamble.metadataOffset);
  const auto &attrs = *root->ops()->Get(0)->attrs();
  ASSERT_EQ(attrs.size(), 2u);
  EXPECT_EQ(attrs.Get(0)->name()->str(), "axes");
  EXPECT_EQ(attrs.Get(1)->name()->str(), "keepdims");
}

/// A section that runs the one op, as far as `change` leaves it so.
struct SectionParts {
  const char *target = "x86-64-v3";
  uint32_t kernelAbi = 1;
  uint8_t instruction = 0;
  int blocks = 1;
  int nests = 0;
};

fb::Offset<schema::SectionDef> sectionOf(Builder &builder, const SectionParts &parts) {
  Offsets<schema::BlockDef> blocks;
  for (int i = 0; i < parts.blocks; ++i) {
    Offsets<schema::InstructionDef> instructions{
        schema::CreateInstructionDef(builder, parts.instruction, 0)};
    blocks.push_back(schema::CreateBlockDef(builder, builder.CreateVector(instructions)));
  }
  Offsets<schema::KernelDef> kernels;
  if (parts.nests > 0) {
    Offsets<schema::NestDef> nests(1, schema::CreateNestDef(builder));
    auto nestsOffset = builder.CreateVector(nests);
    kernels.push_back(schema::CreateKernelDef(builder, builder.CreateString("k"), 0, 0, false, 2, 0,
                                              0, 0, UINT32_MAX, 1.0f, nestsOffset));
  }
  auto blocksOffset = builder.CreateVector(blocks);
  auto kernelsOffset = builder.CreateVector(kernels);
  auto target = builder.CreateString(parts.target);
  return schema::CreateSectionDef(builder, target, blocksOffset, kernelsOffset, 0, 1,
                                  parts.kernelAbi);
}

size_t sectionsLoaded(const SectionParts &parts) {
  auto loaded = loadWith(
      [&](Builder &builder, Extra &extra) { extra.sections.push_back(sectionOf(builder, parts)); });
  EXPECT_TRUE(loaded.ok()) << loaded.status().message();
  return loaded.ok() ? (*loaded)->sections.size() : 99;
}

TEST(SchemaGrowth, SectionsThatThisBuildCannotRunAreSkipped) {
  EXPECT_EQ(sectionsLoaded({}), 1u);
  EXPECT_EQ(sectionsLoaded({.target = "aarch64-neon"}), 1u);
  EXPECT_EQ(sectionsLoaded({.target = "x86-64-v5"}), 0u);
  EXPECT_EQ(sectionsLoaded({.target = "nvptx-sm_90"}), 0u);
  EXPECT_EQ(sectionsLoaded({.target = "riscv64"}), 0u);
  EXPECT_EQ(sectionsLoaded({.kernelAbi = 2}), 0u);
  EXPECT_EQ(sectionsLoaded({.instruction = 3}), 0u);
  EXPECT_EQ(sectionsLoaded({.instruction = 200}), 0u);
  EXPECT_EQ(sectionsLoaded({.blocks = 2}), 0u);
  EXPECT_EQ(sectionsLoaded({.nests = 1}), 0u);
}

TEST(SchemaGrowth, OpsWithBlocksAreRefused) {
  expectBad([](Builder &builder,
               Extra &extra) { extra.opBlocks.push_back(schema::CreateOpBlockDef(builder)); },
            StatusCode::Unsupported, "blocks of ops");
}

fb::Offset<schema::DimExprDef> exprOf(Builder &builder, uint8_t kind, int64_t value,
                                      const std::vector<uint32_t> &operands) {
  auto list = builder.CreateVector(operands);
  return schema::CreateDimExprDef(builder, kind, value, list);
}

TEST(SchemaGrowth, SizesAndGuardsAreCheckedAndIgnored) {
  auto good = loadWith([](Builder &builder, Extra &extra) {
    extra.exprs = {exprOf(builder, 0, 4, {}), exprOf(builder, 2, 0, {0, 0}),
                   exprOf(builder, 77, -1, {9, 9, 9})};
    extra.guards = {schema::CreateGuardDef(builder, 2, 0, 1)};
  });
  EXPECT_TRUE(good.ok()) << good.status().message();
  // Uses itself; an operand is missing; no such symbol.
  for (const auto &[kind, value, operands] :
       {std::tuple(2, 0, std::vector<uint32_t>{0, 0}), std::tuple(7, 0, std::vector<uint32_t>{}),
        std::tuple(1, 0, std::vector<uint32_t>{}), std::tuple(1, -1, std::vector<uint32_t>{})}) {
    expectBad(
        [&, kind = kind, value = value, operands = operands](Builder &builder, Extra &extra) {
          extra.exprs = {exprOf(builder, static_cast<uint8_t>(kind), value, operands)};
        },
        StatusCode::CorruptFile, "size expression #0");
  }
  expectBad([](Builder &builder,
               Extra &extra) { extra.guards = {schema::CreateGuardDef(builder, 0, 0, 0)}; },
            StatusCode::CorruptFile, "guard #0");
}

TEST(SchemaGrowth, FurtherFunctionsAreCheckedAndIgnored) {
  auto function = [](Builder &builder, const char *name, uint32_t constant) {
    Offsets<schema::SharedConstantDef> constants;
    if (constant != UINT32_MAX) {
      constants.push_back(schema::CreateSharedConstantDef(builder, 0, constant));
    }
    auto list = builder.CreateVector(constants);
    auto nameOffset = builder.CreateString(name);
    return schema::CreateFunctionDef(builder, nameOffset, 0, 0, 0, 0, list);
  };
  auto good = loadWith([&](Builder &builder, Extra &extra) {
    extra.functions = {function(builder, "decode", UINT32_MAX), function(builder, "", UINT32_MAX)};
  });
  EXPECT_TRUE(good.ok()) << good.status().message();
  expectBad(
      [&](Builder &builder, Extra &extra) { extra.functions = {function(builder, "decode", 0)}; },
      StatusCode::CorruptFile, "shares a constant");
  expectBad([&](Builder &builder,
                Extra &extra) { extra.functions = {function(builder, "\xff", UINT32_MAX)}; },
            StatusCode::CorruptFile, "no UTF-8");
}

TEST(SchemaGrowth, TolerancesAreChecked) {
  auto vector = [](Builder &builder, const std::vector<double> &relatives) {
    Offsets<schema::ToleranceDef> tolerances;
    for (double relative : relatives) {
      tolerances.push_back(schema::CreateToleranceDef(builder, relative));
    }
    auto list = builder.CreateVector(tolerances);
    return schema::CreateTestVectorDef(builder, 0, 0, 0, list);
  };
  // One too many for no outputs; the vector itself is wrong, too, but this is found first.
  expectBad([&](Builder &builder, Extra &extra) { extra.vectors = {vector(builder, {0.5})}; },
            StatusCode::CorruptFile, "1 tolerances for 0 outputs");
}

TEST(SchemaGrowth, TheRecordedGraphIsIgnored) {
  std::string bytes = fileOf(
      [&](Builder &builder) { return sumProgram(builder, goodAttrs(builder)); },
      {{SegmentKind::Recorded, std::string(100, 'g')}, {static_cast<SegmentKind>(99), "future"}});
  auto loaded = loadBytes(bytes);
  EXPECT_TRUE(loaded.ok()) << loaded.status().message();
}

} // namespace
