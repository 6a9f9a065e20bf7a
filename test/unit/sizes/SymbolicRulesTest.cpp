// Every op's rules run with symbols, then with numbers in their place: what the symbols say is what
// the numbers give.

#include "RandomCall.h"

#include "ops/rules/AllRules.h"
#include "ops/rules/Views.h"
#include "tracert/Kernels.h"

#include <gtest/gtest.h>

using namespace tracert;

namespace tracec::trace::test {
namespace {

constexpr int kCalls = 3000;
constexpr int kValuesPerCall = 12;

class OpCase : public testing::TestWithParam<int> {
protected:
  OpKind kind() const { return static_cast<OpKind>(GetParam()); }
};

Result<ResultTypes> numericTypes(const RandomCall &random, const Values &values) {
  std::vector<OperandInfo> operands = random.numbersFor(values);
  const OpInfo &info = random.call.info();
  if (!info.has(kTraitDataDependentShape) && !info.has(kTraitSet)) {
    return inferTypes(random.call, operands);
  }
  return inferTypesWithCounts(random.call, operands, random.countsFor(values));
}

/// How many dims were compared.
int expectSameTypes(const RandomCall &random, const SymbolicMath::Types &symbolic,
                    const ResultTypes &numeric, const Values &values) {
  int compared = 0;
  EXPECT_EQ(symbolic.size(), numeric.size());
  for (size_t i = 0; i < symbolic.size(); ++i) {
    EXPECT_EQ(symbolic[i].dtype, numeric[i].dtype);
    EXPECT_EQ(symbolic[i].rank(), numeric[i].rank());
    for (size_t axis = 0; axis < symbolic[i].rank(); ++axis) {
      DimExpr dim = symbolic[i].shape[axis];
      if (std::optional<int64_t> value = RandomCall::evaluate(dim, values)) {
        ++compared;
        EXPECT_EQ(*value, numeric[i].shape[axis]) << "for " << DimTable::text(dim);
      }
    }
  }
  return compared;
}

void expectFindingsHold(const RandomCall &random, const Values &values) {
  for (auto [a, b] : random.findings.equal) {
    auto left = RandomCall::evaluate(a, values), right = RandomCall::evaluate(b, values);
    EXPECT_TRUE(!left || !right || *left == *right)
        << DimTable::text(a) << " and " << DimTable::text(b);
  }
  for (auto [a, b] : random.findings.met) {
    auto left = RandomCall::evaluate(a, values), right = RandomCall::evaluate(b, values);
    EXPECT_TRUE(!left || !right || *left == *right || *left == 1 || *right == 1)
        << DimTable::text(a) << " and " << DimTable::text(b);
  }
}

} // namespace

TEST_P(OpCase, SymbolsSayWhatNumbersGive) {
  const OpInfo &info = opInfo(kind());
  int accepted = 0, compared = 0, axes = 0;
  for (int i = 0; i < kCalls; ++i) {
    RandomCall random(static_cast<uint32_t>(i));
    random.make(kind());
    Result<SymbolicMath::Types> symbolic =
        rules::familyTypes<SymbolicMath>(random.math(), random.call, random.operands);
    for (int j = 0; j < kValuesPerCall; ++j) {
      Values values = random.randomValues();
      SCOPED_TRACE(opCallString(random.call) + ", call " + std::to_string(i) + ", values " +
                   testing::PrintToString(values));
      Result<ResultTypes> numeric = numericTypes(random, values);
      // Dtypes are checked before a rule runs, and not with symbols: they are the same.
      if (numeric.status().code() == StatusCode::InvalidType) {
        continue;
      }
      if (!numeric.ok()) {
        ASSERT_TRUE(!symbolic.ok() || random.findings.canFail) << numeric.status().message();
        continue;
      }
      ASSERT_TRUE(symbolic.ok()) << symbolic.status().message();
      ++accepted;
      axes += static_cast<int>((*numeric)[0].rank());
      compared += expectSameTypes(random, *symbolic, *numeric, values);
      expectFindingsHold(random, values);
      ASSERT_FALSE(HasFailure());
    }
  }
  EXPECT_GT(accepted, 50) << info.name << ": hardly any random call is legal";
  EXPECT_GE(compared, axes / 2) << info.name << ": most sizes are unknown to symbols";
}

TEST_P(OpCase, SymbolicValuesAreTheKernelsValues) {
  const OpInfo &info = opInfo(kind());
  if (!info.isPointwise() && info.family != OpFamily::Size) {
    return; // gives no size
  }
  for (int i = 0; i < kCalls; ++i) {
    RandomCall random(static_cast<uint32_t>(i));
    random.make(kind());
    for (SymbolicOperand &operand : random.operands) {
      if (info.isPointwise()) {
        operand = {{DType::Int64, {}}, random.table.symbol({.isSize = false})};
      }
    }
    if (!rules::familyTypes<SymbolicMath>(random.math(), random.call, random.operands).ok()) {
      continue;
    }
    auto value = rules::valueOf<SymbolicMath>(random.math(), random.call, random.operands);
    if (!value) {
      continue;
    }
    Values values;
    for (size_t symbol = 0; symbol < random.table.symbolCount(); ++symbol) {
      bool isSize = random.table.symbolOf(static_cast<unsigned>(symbol)).isSize;
      values.push_back(i % (3 + static_cast<int64_t>(symbol)) - (isSize ? 0 : 2));
    }
    std::vector<OperandInfo> operands = random.numbersFor(values);
    int64_t expected = 0;
    if (info.family == OpFamily::Size) {
      Result<int64_t> size = inferSizeValue(random.call, operands);
      ASSERT_TRUE(size.ok());
      expected = *size;
    } else {
      std::vector<TensorView> views;
      for (OperandInfo &operand : operands) {
        views.push_back(TensorView::contiguous(&*operand.sizeValue, operand.type));
      }
      TensorView result = TensorView::contiguous(&expected, {DType::Int64, {}});
      ASSERT_TRUE(runKernel(KernelContext(), random.call, views, {&result, 1}).ok());
    }
    EXPECT_EQ(RandomCall::evaluate(*value, values), expected) << DimTable::text(*value);
  }
}

TEST_P(OpCase, SymbolicStridesAreThoseOfTheView) {
  if (!opInfo(kind()).has(kTraitView)) {
    return;
  }
  int compared = 0;
  for (int i = 0; i < kCalls; ++i) {
    RandomCall random(static_cast<uint32_t>(i));
    random.make(kind());
    SymbolicMath math = random.math();
    auto types = rules::familyTypes<SymbolicMath>(math, random.call, random.operands);
    if (!types.ok()) {
      continue;
    }
    const SymbolicType &type = random.operands[0].type;
    int64_t bytes = static_cast<int64_t>(dtypeSize(type.dtype));
    // Rows with a gap between them.
    DimShape fromStrides = rules::orderedStrides(math, type.shape, bytes);
    for (size_t axis = 0; i % 2 && axis + 1 < type.rank(); ++axis) {
      fromStrides[axis] = math.times(fromStrides[axis], math.number(3));
    }
    auto strides = rules::viewStrides<SymbolicMath>(math, random.call, {type.shape, fromStrides},
                                                    (*types)[0].shape, bytes);
    for (int j = 0; j < kValuesPerCall; ++j) {
      Values values = random.randomValues();
      std::vector<OperandInfo> operands = random.numbersFor(values);
      // Where nothing is or where one element is, a stride leads nowhere.
      Result<ResultTypes> numeric = inferTypes(random.call, operands);
      if (!numeric.ok() || (*numeric)[0].elementCount() == 0) {
        continue;
      }
      // Never read: views are arithmetic on the address.
      alignas(64) char memory[64];
      TensorView view = TensorView::contiguous(memory, operands[0].type);
      std::vector<int64_t> sizes;
      for (size_t axis = 0; axis < view.rank(); ++axis) {
        view.strides[axis] = *RandomCall::evaluate(fromStrides[axis], values);
      }
      for (size_t k = 1; k < operands.size(); ++k) {
        sizes.push_back(*operands[k].sizeValue);
      }
      Result<std::optional<TensorView>> made = viewOf(random.call, view, sizes);
      ASSERT_TRUE(made.ok()) << made.status().message();
      for (size_t axis = 0; strides && *made && axis < strides->size(); ++axis) {
        auto value = RandomCall::evaluate((*strides)[axis], values);
        if (value && (*made)->shape[axis] > 1) {
          ++compared;
          ASSERT_EQ(*value, (*made)->strides[axis])
              << opCallString(random.call) << " of " << operands[0].type.str() << ", call " << i
              << ": " << DimTable::text((*strides)[axis]);
        }
      }
    }
  }
  EXPECT_GT(compared, 50);
}

INSTANTIATE_TEST_SUITE_P(Sizes, OpCase, testing::Range(0, opCount()),
                         [](const testing::TestParamInfo<int> &info) {
                           return std::string(opInfo(static_cast<OpKind>(info.param)).name);
                         });

} // namespace tracec::trace::test
