#include "ProgramKit.h"
#include "TestKernels.h"

using namespace tracert;
using namespace tracert::test;

namespace {

/// A fresh sample that may be changed.
Program changed(void (*change)(Program &)) {
  Program copy = *sampleProgram();
  change(copy);
  return copy;
}

struct BadProgram {
  const char *name;
  void (*change)(Program &);
  const char *message;
};

class Verify : public testing::TestWithParam<BadProgram> {};

TEST_P(Verify, Refuses) {
  Program program = changed(GetParam().change);
  Status status = verifyProgram(program);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.code(), StatusCode::CorruptFile) << status.message();
  EXPECT_NE(status.message().find(GetParam().message), std::string::npos) << status.message();
}

NativeSection sectionOf(const Program &program) {
  NativeSection section;
  section.target = kX86V3;
  section.code = kernelCode();
  Block block;
  for (OpIndex op = 0; op < program.ops.size(); ++op) {
    block.instructions.push_back({InstructionKind::RunOp, op, 0, 0});
  }
  section.blocks.push_back(block);
  KernelDef kernel;
  kernel.name = "k";
  kernel.domainValue = program.inputs[0].value;
  kernel.domainRank = 2;
  kernel.accesses.push_back({AccessKind::Load, program.inputs[0].value});
  section.kernels.push_back(kernel);
  return section;
}

void launchFirst(NativeSection &section) {
  std::vector<Instruction> &schedule = section.blocks[0].instructions;
  schedule.insert(schedule.begin(), {InstructionKind::Launch, 0, 0, 0});
}

const BadProgram kBadPrograms[] = {
    {"use_before_definition", [](Program &p) { std::swap(p.ops[0], p.ops[1]); },
     "before it is defined"},
    {"operand_out_of_range", [](Program &p) { p.ops[0].operands[0] = 999; },
     "before it is defined"},
    {"value_defined_twice", [](Program &p) { p.ops[1].results[0] = p.ops[0].results[0]; },
     "is defined twice"},
    {"result_out_of_range", [](Program &p) { p.ops[0].results[0] = 999; }, "is value %999"},
    {"result_count", [](Program &p) { p.ops[0].results.clear(); }, "has 0 results, expected 1"},
    {"operand_count", [](Program &p) { p.ops[0].operands.pop_back(); }, "'mul'"},
    {"declared_type", [](Program &p) { p.values[p.ops[0].results[0]].dtype = DType::Int32; },
     "is declared as"},
    {"composite", [](Program &p) { p.ops[0].call.kind = OpKind::mean; },
     "must have been decomposed"},
    {"attr_kind", [](Program &p) { p.ops.back().call.attrs[0] = AttrValue::integer(1); }, "'sum'"},
    {"attr_axis", [](Program &p) { p.ops.back().call.attrs[0] = AttrValue::ints({7}); }, "axis 7"},
    {"negative_dim", [](Program &p) { p.values[0].dims[1] = -5; }, "has a negative size"},
    {"too_many_bytes", [](Program &p) { p.values[0].dims = {int64_t(1) << 40, int64_t(1) << 40}; },
     "more bytes than 63 bits count"},
    {"location", [](Program &p) { p.ops[0].loc = 999; }, "source location out of range"},
    {"index_mode", [](Program &p) { p.ops[0].indexMode = static_cast<IndexMode>(9); },
     "unknown index mode"},
    {"in_place_but_read_later",
     [](Program &p) { p.outputs.push_back({"old", p.ops[2].operands[0], kNoIndex}); },
     "its old value is used later"},
    {"in_place_not_a_set", [](Program &p) { p.ops[0].inPlace = true; }, "is in place"},
    {"input_names",
     [](Program &p) {
       p.values.push_back(p.values[0]);
       p.inputs.push_back(p.inputs[0]);
       p.inputs[1].value = static_cast<ValueId>(p.values.size() - 1);
     },
     "'x' is named twice"},
    {"output_names", [](Program &p) { p.outputs[1].name = p.outputs[0].name; }, "is named twice"},
    {"input_name_with_nul", [](Program &p) { p.inputs[0].name = std::string("a\0b", 3); },
     "text without NUL"},
    {"output_name_overlong", [](Program &p) { p.outputs[0].name = "\xC0\x80"; },
     "text without NUL"},
    {"output_name_surrogate", [](Program &p) { p.outputs[0].name = "\xED\xA0\x80"; },
     "text without NUL"},
    {"output_name_cut", [](Program &p) { p.outputs[0].name = "\xF0\x9F\x98"; }, "text without NUL"},
    {"size_name_byte", [](Program &p) { p.symbols[0].name = "n\xFF"; }, "text without NUL"},
    {"output_undefined",
     [](Program &p) {
       p.values.push_back(p.values[0]);
       p.outputs[0].value = static_cast<ValueId>(p.values.size() - 1);
     },
     "which nothing defines"},
    {"symbol_range", [](Program &p) { p.symbols[0].min = 5, p.symbols[0].max = 4; },
     "has an empty range"},
    {"symbol_index", [](Program &p) { p.inputs[0].dimSymbols[0] = 7; }, "not in the list"},
    {"symbol_count", [](Program &p) { p.inputs[0].dimSymbols.pop_back(); }, "names 1 sizes"},
    {"state_constant",
     [](Program &p) { p.inputs[0].isState = true, p.inputs[0].initialConstant = 99; },
     "starts from constant 99"},
    {"state_output", [](Program &p) { p.outputs[0].stateInput = 0; }, "not state"},
    {"constant_data", [](Program &p) { p.constants[0].data = nullptr; }, "has no data"},
    {"constant_aligned",
     [](Program &p) { p.constants[0].data = static_cast<const char *>(p.constants[0].data) + 1; },
     "is not aligned"},
    {"constant_type", [](Program &p) { p.constants[0].type.shape[0] = 3; },
     "defines a value of type"},
    {"vector_count", [](Program &p) { p.testVectors[0].outputs.pop_back(); }, "test vector 0"},
    {"section_target",
     [](Program &p) {
       p.sections.push_back(sectionOf(p));
       p.sections[0].target = kPortable;
     },
     "no target of compiled code"},
    {"section_twice", [](Program &p) { p.sections = {sectionOf(p), sectionOf(p)}; },
     "two sections"},
    {"section_blocks",
     [](Program &p) {
       p.sections = {sectionOf(p)};
       p.sections[0].blocks.clear();
     },
     "has 0 blocks"},
    {"kernel_code",
     [](Program &p) {
       p.sections = {sectionOf(p)};
       p.sections[0].kernels[0].codeOffset = p.sections[0].code.size();
     },
     "starts outside the code"},
    {"kernel_rank",
     [](Program &p) {
       p.sections = {sectionOf(p)};
       p.sections[0].kernels[0].domainRank = 5;
     },
     "has domain rank 5"},
    {"kernel_axes",
     [](Program &p) {
       p.sections = {sectionOf(p)};
       p.sections[0].kernels[0].reducedAxes = {1, 1};
     },
     "reduces axis 1"},
    {"kernel_split",
     [](Program &p) {
       p.sections = {sectionOf(p)};
       p.sections[0].kernels[0].reducedAxes = {0};
       p.sections[0].kernels[0].split = KernelSplit::OuterAxis;
     },
     "splits an axis that it reduces"},
    {"kernel_access",
     [](Program &p) {
       p.sections = {sectionOf(p)};
       p.sections[0].kernels[0].accesses[0].value = 999;
     },
     "accesses a value that does not exist"},
    {"kernel_gather",
     [](Program &p) {
       p.sections = {sectionOf(p)};
       p.sections[0].kernels[0].accesses[0].kind = AccessKind::Gather;
       p.sections[0].kernels[0].accesses[0].op = 0;
     },
     "has an index access for 'mul'"},
    {"schedule_op",
     [](Program &p) {
       p.sections = {sectionOf(p)};
       p.sections[0].blocks[0].instructions[0].index = 999;
     },
     "runs an op that does not exist"},
    {"schedule_order",
     [](Program &p) {
       p.sections = {sectionOf(p)};
       std::swap(p.sections[0].blocks[0].instructions[0], p.sections[0].blocks[0].instructions[1]);
     },
     "before it is there"},
    {"schedule_incomplete",
     [](Program &p) {
       p.sections = {sectionOf(p)};
       p.sections[0].blocks[0].instructions.pop_back();
     },
     "never computes output 'total'"},
    {"schedule_checked_only",
     [](Program &p) {
       p.sections = {sectionOf(p)};
       p.sections[0].blocks[0].instructions[0].kind = InstructionKind::CheckTypes;
     },
     "before it is there"},
    {"launch_range",
     [](Program &p) {
       p.sections = {sectionOf(p)};
       p.sections[0].blocks[0].instructions.push_back({InstructionKind::Launch, 0, 0, 7});
     },
     "launches a kernel that does not exist"},
    {"launch_loads_too_early",
     [](Program &p) {
       p.sections = {sectionOf(p)};
       p.sections[0].kernels[0].accesses[0].value = p.ops[0].results[0];
       launchFirst(p.sections[0]);
     },
     "before it is there"},
    {"launch_stores_of_others",
     [](Program &p) {
       p.sections = {sectionOf(p)};
       p.sections[0].kernels[0].accesses[0].kind = AccessKind::Store;
       launchFirst(p.sections[0]);
     },
     "which it does not compute"},
    {"launch_covers_too_early",
     [](Program &p) {
       p.sections = {sectionOf(p)};
       p.sections[0].coveredOps = {0};
       launchFirst(p.sections[0]);
       p.sections[0].blocks[0].instructions[0].coveredCount = 1;
     },
     "before its types are checked"},
};

INSTANTIATE_TEST_SUITE_P(All, Verify, testing::ValuesIn(kBadPrograms),
                         [](const auto &info) { return std::string(info.param.name); });

TEST(VerifySection, AcceptsTheSampleWithASection) {
  Program program = *sampleProgram();
  program.sections = {sectionOf(program)};
  Status status = verifyProgram(program);
  EXPECT_TRUE(status.ok()) << status.message();
}

TEST(VerifySection, UnknownInstructionIsUnsupported) {
  Program program = *sampleProgram();
  program.sections = {sectionOf(program)};
  program.sections[0].blocks[0].instructions[0].kind = static_cast<InstructionKind>(3);
  EXPECT_EQ(verifyProgram(program).code(), StatusCode::Unsupported);
}

} // namespace
