// Every op of the .td has what each layer needs from it: a type rule, a library kernel (or a
// decomposition, or a view), for every dtype it allows. A failure names the missing file.

#include "Ops/Decompose.h"
#include "tracert/Allocator.h"
#include "tracert/Kernels.h"
#include "tracert/ThreadPool.h"

#include <gtest/gtest.h>

using namespace tracert;

namespace {

std::string familyFile(OpFamily family) {
  switch (family) {
#define TRACERT_FAMILY(name, typeRule, kernel, file)                                               \
  case OpFamily::name:                                                                             \
    return file;
#include "tracert/generated/Families.inc"
#undef TRACERT_FAMILY
  }
  return "?";
}

/// An attribute that makes the op legal on (2, 2) operands.
AttrValue sampleAttr(const AttrSpec &spec, const OpInfo &info, DType dtype) {
  switch (spec.kind) {
  case AttrKind::Int:
    return AttrValue::integer(0);
  case AttrKind::Bool:
    // The reshape of a guard's sample is a view.
    return AttrValue::boolean(spec.name == "is_view");
  case AttrKind::DType:
    return AttrValue::dtype(info.family == OpFamily::Guard ? DType::Int32 : DType::Float64);
  case AttrKind::Ints:
    if (spec.name == "layout") {
      return AttrValue::ints({0});
    }
    if (spec.name == "axes") {
      return AttrValue::ints({0, 1});
    }
    return info.family == OpFamily::Create && info.attrCount == 3 ? AttrValue::ints({4})
                                                                  : AttrValue::ints({2, 2});
  case AttrKind::Float:
    return AttrValue::number(0.5);
  case AttrKind::String:
    return AttrValue::text(std::string(spec.values.substr(0, spec.values.find('|'))));
  case AttrKind::Scalar:
    return AttrValue::scalar(Scalar{dtype, 0});
  case AttrKind::Index: {
    auto items = std::make_shared<IndexItems>();
    bool isAdvanced = !info.has(kTraitBasicIndex);
    items->items.resize(2);
    if (isAdvanced) {
      items->items[0].kind = IndexItemKind::IntArray;
    }
    return AttrValue::index(std::move(items));
  }
  }
  return {};
}

struct Sample {
  OpCall call;
  std::vector<std::vector<uint8_t>> memory;
  std::vector<TensorView> operands;
};

TensorView addTensor(Sample &sample, const TensorType &type) {
  sample.memory.emplace_back(static_cast<size_t>(type.byteCount()) + kBufferSlack, 0);
  return TensorView::contiguous(sample.memory.back().data(), type);
}

Sample makeSample(OpKind kind, DType dtype) {
  const OpInfo &info = opInfo(kind);
  Sample sample;
  sample.call.kind = kind;
  for (int i = 0; i < info.attrCount; ++i) {
    sample.call.attrs.push_back(sampleAttr(info.attrs[i], info, dtype));
  }
  int count = info.operandCount < 0 ? 2 : info.operandCount;
  for (int i = 0; i < count; ++i) {
    bool isMask = info.operands && info.operands[i].dtypes == dtypeBit(DType::Bool);
    // A guard that reads a number.
    bool isNumber = info.family == OpFamily::Guard && !info.has(kTraitSizeOnly);
    sample.operands.push_back(
        addTensor(sample, {isMask ? DType::Bool : dtype, isNumber ? Dims{} : Dims{2, 2}}));
  }
  for (const AttrValue &attr : sample.call.attrs) {
    if (attr.kind() == AttrKind::Index && !attr.asIndex().isBasic()) {
      sample.operands.push_back(addTensor(sample, {DType::Int64, {2}}));
    }
  }
  return sample;
}

class OpCase : public testing::TestWithParam<int> {};

std::string caseName(const testing::TestParamInfo<int> &info) {
  return std::string(opInfo(static_cast<OpKind>(info.param)).name);
}

} // namespace

TEST_P(OpCase, HasTypeRuleAndKernelForEveryDtype) {
  OpKind kind = static_cast<OpKind>(GetParam());
  const OpInfo &info = opInfo(kind);
  int tried = 0;
  for (DType dtype : kAllDTypes) {
    if (!(info.dtypes & (1u << static_cast<int>(dtype)))) {
      continue;
    }
    ++tried;
    Sample sample = makeSample(kind, dtype);
    std::vector<OperandInfo> operands;
    for (const TensorView &operand : sample.operands) {
      operands.push_back({operand.type()});
    }
    std::string what = "'" + std::string(info.name) + "' for " + std::string(dtypeName(dtype));
    Result<ResultTypes> types = inferTypes(sample.call, operands);
    ASSERT_TRUE(types.ok()) << what << " has no type rule: add it to the header of "
                            << "rules/" << familyFile(info.family) << ".h ("
                            << types.status().message() << ")";
    ASSERT_EQ(types->size(), static_cast<size_t>(info.resultCount));
    if (info.has(kTraitComposite)) {
      continue; // the test below
    }
    if (info.has(kTraitSizeOnly)) {
      EXPECT_TRUE(inferSizeValue(sample.call, operands).ok())
          << what << " has no size rule: add it to runtime/ops/" << familyFile(info.family)
          << ".cpp";
      continue;
    }
    KernelContext context;
    context.allocator = &processAllocator();
    if (info.has(kTraitDataDependentShape)) {
      Result<std::vector<int64_t>> counts = readCounts(context, sample.call, sample.operands);
      ASSERT_TRUE(counts.ok()) << what << ": " << counts.status().message();
      types = inferTypesWithCounts(sample.call, operands, *counts);
      ASSERT_TRUE(types.ok()) << what << ": " << types.status().message();
    }
    std::vector<TensorView> results;
    for (const TensorType &type : *types) {
      results.push_back(addTensor(sample, type));
    }
    for (Target target : {kPortable, kX86V3, kX86V4}) {
      if (!supports(target)) {
        continue;
      }
      context.target = target;
      Status status = runKernel(context, sample.call, sample.operands, results);
      EXPECT_TRUE(status.ok()) << what << " has no kernel at " << targetName(target)
                               << ": add it to runtime/kernels/" << familyFile(info.family) << " ("
                               << status.message() << ")";
    }
  }
  EXPECT_GT(tried, 0) << info.name << " allows no dtype";
}

TEST_P(OpCase, CompositesHaveADecompositionAndOthersDoNot) {
  OpKind kind = static_cast<OpKind>(GetParam());
  const OpInfo &info = opInfo(kind);

  struct CountingEmitter : tracec::OpEmitter {
    std::vector<TensorType> types;
    int emitted = 0;
    TensorType typeOf(Handle handle) const override { return types[handle]; }
    Result<Handle> emit(const OpCall &call, std::span<const Handle> operands) override {
      std::vector<OperandInfo> infos;
      for (Handle handle : operands) {
        infos.push_back({types[handle]});
      }
      EXPECT_FALSE(opInfo(call.kind).has(kTraitComposite));
      TRACERT_ASSIGN(ResultTypes results, inferTypes(call, infos));
      types.push_back(results[0]);
      ++emitted;
      return static_cast<Handle>(types.size() - 1);
    }
  } emitter;
  std::vector<tracec::OpEmitter::Handle> handles;
  Sample sample = makeSample(kind, DType::Float32);
  for (const TensorView &operand : sample.operands) {
    handles.push_back(static_cast<uint32_t>(emitter.types.size()));
    emitter.types.push_back(operand.type());
  }
  Result<tracec::OpEmitter::Handle> result = tracec::decompose(sample.call, handles, emitter);
  EXPECT_EQ(result.ok(), info.has(kTraitComposite))
      << info.name
      << ": a composite needs a decomposition in lib/Ops, and only a composite has one";
  if (info.has(kTraitComposite)) {
    EXPECT_GT(emitter.emitted, 0);
  }
}

TEST_P(OpCase, NameFindsTheOp) {
  OpKind kind = static_cast<OpKind>(GetParam());
  EXPECT_EQ(opKindFromName(opInfo(kind).name), kind);
  EXPECT_FALSE(opKindFromName(std::string(opInfo(kind).name) + "_").has_value());
}

INSTANTIATE_TEST_SUITE_P(Registry, OpCase, testing::Range(0, opCount()), caseName);
