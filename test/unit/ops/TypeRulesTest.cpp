// Type rules: results, unknown dims, and the message of every error.

#include "TestTensors.h"
#include "tracert/IndexNormalizer.h"

#include <gtest/gtest.h>

using namespace tracert;
using namespace tracert::test;

namespace {

constexpr int64_t unknown = kUnknownDim;
constexpr DType f32 = DType::Float32;
constexpr DType i64 = DType::Int64;

Result<ResultTypes> infer(OpKind kind, AttrList attrs, std::vector<OperandInfo> operands) {
  return inferTypes(OpCall{kind, std::move(attrs)}, operands);
}

TensorType typeOf(OpKind kind, AttrList attrs, std::vector<OperandInfo> operands) {
  Result<ResultTypes> types = infer(kind, std::move(attrs), std::move(operands));
  EXPECT_TRUE(types.ok()) << types.status().message();
  return types.ok() ? (*types)[0] : TensorType{};
}

void expectError(OpKind kind, AttrList attrs, std::vector<OperandInfo> operands, StatusCode code,
                 const std::string &message) {
  Result<ResultTypes> types = infer(kind, std::move(attrs), std::move(operands));
  ASSERT_FALSE(types.ok());
  EXPECT_EQ(types.status().code(), code);
  EXPECT_EQ(types.status().message(), message);
}

AttrList shapeAttr(Dims shape) { return {AttrValue::ints(std::move(shape))}; }
AttrList reduceAttrs(Dims axes, bool keepdims) {
  return {AttrValue::ints(std::move(axes)), AttrValue::boolean(keepdims)};
}
AttrList indexAttr(std::vector<RawIndex> raw, size_t rank) {
  Result<IndexItems> items = normalizeIndex(raw, rank);
  EXPECT_TRUE(items.ok()) << items.status().message();
  return {AttrValue::index(std::make_shared<IndexItems>(std::move(*items)))};
}

TEST(PointwiseTypes, broadcasts) {
  EXPECT_EQ(typeOf(OpKind::add, {}, {{{f32, {3, 1}}}, {{f32, {4}}}}), (TensorType{f32, {3, 4}}));
  EXPECT_EQ(typeOf(OpKind::lt, {}, {{{i64, {0, 1}}}, {{i64, {1, 5}}}}),
            (TensorType{DType::Bool, {0, 5}}));
  EXPECT_EQ(typeOf(OpKind::where, {}, {{{DType::Bool, {2}}}, {{i64, {}}}, {{i64, {3, 1}}}}),
            (TensorType{i64, {3, 2}}));
  EXPECT_EQ(typeOf(OpKind::cast, {AttrValue::dtype(DType::UInt8)}, {{{f32, {2, 3}}}}),
            (TensorType{DType::UInt8, {2, 3}}));
}

TEST(PointwiseTypes, unknownDims) {
  auto joined = [](int64_t a, int64_t b) {
    return typeOf(OpKind::add, {}, {{{f32, {a}}}, {{f32, {b}}}}).shape[0];
  };
  EXPECT_EQ(joined(unknown, 5), 5);
  EXPECT_EQ(joined(5, unknown), 5);
  EXPECT_EQ(joined(unknown, 0), 0);
  EXPECT_EQ(joined(unknown, 1), unknown);
  EXPECT_EQ(joined(1, unknown), unknown);
  EXPECT_EQ(joined(unknown, unknown), unknown);
}

TEST(PointwiseTypes, errors) {
  expectError(OpKind::add, {}, {{{f32, {3}}}, {{f32, {4}}}}, StatusCode::InvalidArgument,
              "'add' operands of shape (3,) and (4,) do not broadcast");
  expectError(OpKind::add, {}, {{{f32, {3}}}, {{i64, {3}}}}, StatusCode::InvalidType,
              "'add' operands must have one dtype, got float32 and int64");
  expectError(OpKind::exp, {}, {{{i64, {3}}}}, StatusCode::InvalidType,
              "'exp' does not take int64");
  expectError(OpKind::where, {}, {{{f32, {3}}}, {{f32, {}}}, {{f32, {}}}}, StatusCode::InvalidType,
              "'where' condition must be bool, got float32");
  expectError(OpKind::add, {}, {{{f32, {3}}}}, StatusCode::InvalidArgument,
              "'add' takes 2 operands, got 1");
  expectError(OpKind::cast, {}, {{{f32, {3}}}}, StatusCode::InvalidArgument,
              "'cast' takes 1 attributes, got 0");
  expectError(OpKind::cast, {AttrValue::integer(3)}, {{{f32, {3}}}}, StatusCode::InvalidArgument,
              "'cast' attribute 'dtype' is malformed");
}

TEST(ReduceTypes, shapesAndDTypes) {
  EXPECT_EQ(typeOf(OpKind::sum, reduceAttrs({0, 2}, false), {{{DType::Bool, {2, 3, 4}}}}),
            (TensorType{i64, {3}}));
  EXPECT_EQ(typeOf(OpKind::sum, reduceAttrs({1}, true), {{{DType::Float16, {2, 0}}}}),
            (TensorType{DType::Float16, {2, 1}}));
  EXPECT_EQ(typeOf(OpKind::max, reduceAttrs({}, false), {{{DType::UInt8, {2}}}}),
            (TensorType{DType::UInt8, {2}}));
  EXPECT_EQ(typeOf(OpKind::mean, reduceAttrs({0}, false), {{{i64, {2}}}}),
            (TensorType{DType::Float64, {}}));
  EXPECT_EQ(typeOf(OpKind::mean, reduceAttrs({0}, false), {{{DType::UInt8, {2}}}}),
            (TensorType{f32, {}}));
}

TEST(ReduceTypes, maxOfAnEmptyAxis) {
  expectError(OpKind::max, reduceAttrs({1}, false), {{{f32, {2, 0}}}}, StatusCode::InvalidArgument,
              "'max' over an empty axis of shape (2, 0) has no value");
  EXPECT_EQ(typeOf(OpKind::max, reduceAttrs({1}, false), {{{f32, {0, 0}}}}),
            (TensorType{f32, {0}}));
  // A count that is not known yet may be 0 or not: both are decided later.
  EXPECT_EQ(typeOf(OpKind::max, reduceAttrs({0}, false), {{{f32, {unknown}}}}),
            (TensorType{f32, {}}));
  EXPECT_EQ(typeOf(OpKind::max, reduceAttrs({0}, false), {{{f32, {0, unknown}}}}),
            (TensorType{f32, {unknown}}));
}

TEST(ReduceTypes, errors) {
  expectError(OpKind::sum, reduceAttrs({2}, false), {{{f32, {2, 3}}}}, StatusCode::AxisOutOfRange,
              "'sum' axis 2 is out of range for rank 2");
  expectError(OpKind::sum, reduceAttrs({1, 1}, false), {{{f32, {2, 3}}}},
              StatusCode::InvalidArgument,
              "'sum' axes must ascend without repeats, got axis 1 after 1");
}

TEST(SizeTypes, values) {
  OpCall call{OpKind::axis_size, {AttrValue::ints({0, 2})}};
  OperandInfo operand{{f32, {3, unknown, 5}}};
  Result<int64_t> size = inferSizeValue(call, {&operand, 1});
  ASSERT_TRUE(size.ok());
  EXPECT_EQ(*size, 15);
  operand.type.shape = {unknown, 2, 5};
  EXPECT_EQ(inferSizeValue(call, {&operand, 1}).status().code(), StatusCode::Internal);
}

TEST(ShapeTypes, reshape) {
  auto reshaped = [](Dims from, Dims to) {
    return typeOf(OpKind::reshape, shapeAttr(std::move(to)), {{{f32, std::move(from)}}}).shape;
  };
  EXPECT_EQ(reshaped({2, 6}, {3, -1}), (Dims{3, 4}));
  EXPECT_EQ(reshaped({}, {1, 1}), (Dims{1, 1}));
  EXPECT_EQ(reshaped({1}, {}), Dims());
  EXPECT_EQ(reshaped({0, 3}, {5, 0}), (Dims{5, 0}));
  EXPECT_EQ(reshaped({0, 3}, {3, -1}), (Dims{3, 0}));
  EXPECT_EQ(reshaped({unknown, 3}, {-1}), (Dims{unknown}));
  EXPECT_EQ(reshaped({unknown, 3}, {6}), (Dims{6}));
  for (auto &[from, to, text] : std::vector<std::tuple<Dims, Dims, std::string>>{
           {{2, 3}, {4}, "'reshape' cannot turn shape (2, 3) of 6 elements into shape (4,)"},
           {{2, 3}, {4, -1}, "'reshape' cannot turn shape (2, 3) of 6 elements into shape (4, -1)"},
           {{0}, {0, -1}, "'reshape' cannot turn shape (0,) of 0 elements into shape (0, -1)"},
           {{2}, {-1, -1}, "'reshape' can infer one size, got -1 twice"},
           {{2}, {-2}, "'reshape' sizes must not be negative, got -2"}}) {
    expectError(OpKind::reshape, shapeAttr(to), {{{f32, from}}}, StatusCode::InvalidArgument, text);
  }
}

TEST(ShapeTypes, sizesFromOperands) {
  AttrList attrs = shapeAttr({kFromOperand, -1});
  EXPECT_EQ(typeOf(OpKind::reshape, attrs, {{{f32, {6}}}, {{i64, {}}, 2}}).shape, (Dims{2, 3}));
  EXPECT_EQ(typeOf(OpKind::reshape, attrs, {{{f32, {6}}}, {{i64, {}}}}).shape,
            (Dims{unknown, unknown}));
  // A size that happens to be -1 means what the literal means.
  EXPECT_EQ(
      typeOf(OpKind::reshape, shapeAttr({kFromOperand, 2}), {{{f32, {6}}}, {{i64, {}}, -1}}).shape,
      (Dims{3, 2}));
  expectError(OpKind::reshape, attrs, {{{f32, {6}}}, {{i64, {}}, -1}}, StatusCode::InvalidArgument,
              "'reshape' can infer one size, got -1 twice");
  expectError(OpKind::reshape, attrs, {{{f32, {6}}}, {{i64, {}}, -2}}, StatusCode::InvalidArgument,
              "'reshape' sizes must not be negative, got -2");
  expectError(OpKind::reshape, attrs, {{{f32, {6}}}, {{f32, {}}}}, StatusCode::InvalidType,
              "'reshape' size operand must be an int64 of rank 0, got float32[]");
  expectError(OpKind::reshape, attrs, {{{f32, {6}}}}, StatusCode::InvalidArgument,
              "'reshape' takes 2 operands, got 1");
}

TEST(ShapeTypes, broadcastToAndPermute) {
  EXPECT_EQ(typeOf(OpKind::broadcast_to, shapeAttr({2, 0, 3}), {{{f32, {1, 3}}}}).shape,
            (Dims{2, 0, 3}));
  expectError(OpKind::broadcast_to, shapeAttr({2}), {{{f32, {1, 2}}}}, StatusCode::InvalidArgument,
              "'broadcast_to' cannot broadcast shape (1, 2) to shape (2,)");
  EXPECT_EQ(typeOf(OpKind::permute, shapeAttr({2, 0, 1}), {{{f32, {2, 3, 4}}}}).shape,
            (Dims{4, 2, 3}));
  expectError(OpKind::permute, shapeAttr({0, 0}), {{{f32, {2, 3}}}}, StatusCode::InvalidArgument,
              "'permute' repeats axis 0");
  expectError(OpKind::permute, shapeAttr({0}), {{{f32, {2, 3}}}}, StatusCode::InvalidArgument,
              "'permute' takes 2 axes, got 1");
  expectError(OpKind::permute, shapeAttr({0, 2}), {{{f32, {2, 3}}}}, StatusCode::AxisOutOfRange,
              "'permute' axis 2 is out of range for rank 2");
}

TEST(JoinTypes, concat) {
  AttrList axis1 = {AttrValue::integer(1)};
  EXPECT_EQ(typeOf(OpKind::concat, axis1, {{{f32, {2, 0}}}, {{f32, {2, 3}}}}).shape, (Dims{2, 3}));
  EXPECT_EQ(typeOf(OpKind::concat, axis1, {{{f32, {unknown, 1}}}, {{f32, {2, unknown}}}}).shape,
            (Dims{2, unknown}));
  expectError(OpKind::concat, axis1, {{{f32, {2, 1}}}, {{f32, {3, 1}}}},
              StatusCode::InvalidArgument,
              "'concat' operand #1 of shape (3, 1) does not fit shape (2, 1) outside axis 1");
  expectError(OpKind::concat, axis1, {{{f32, {2}}}}, StatusCode::AxisOutOfRange,
              "'concat' axis 1 is out of range for rank 1");
  expectError(OpKind::concat, axis1, {}, StatusCode::InvalidArgument,
              "'concat' needs at least one operand");
  expectError(OpKind::concat, axis1, {{{f32, {}}}}, StatusCode::InvalidArgument,
              "'concat' operands must have at least one axis");
  expectError(OpKind::concat, {AttrValue::integer(0)},
              {{{DType::UInt8, {INT64_MAX}}}, {{DType::UInt8, {INT64_MAX}}}},
              StatusCode::InvalidArgument, "'concat' result is too large along axis 0");
}

TEST(CreateTypes, fullAndArange) {
  AttrValue one = AttrValue::scalar(Scalar::of(f32, 1.0f));
  EXPECT_EQ(typeOf(OpKind::full, {AttrValue::ints({2, kFromOperand}), one}, {{{i64, {}}, 3}}),
            (TensorType{f32, {2, 3}}));
  expectError(OpKind::full, {AttrValue::ints({-3}), one}, {}, StatusCode::InvalidArgument,
              "'full' sizes must not be negative, got -3");
  AttrValue two = AttrValue::scalar(Scalar::of(i64, int64_t(2)));
  EXPECT_EQ(typeOf(OpKind::arange, {AttrValue::ints({4}), two, two}, {}), (TensorType{i64, {4}}));
  expectError(OpKind::arange, {AttrValue::ints({4}), two, one}, {}, StatusCode::InvalidType,
              "'arange' start and step must have one dtype, got int64 and float32");
  expectError(OpKind::arange, {AttrValue::ints({4, 4}), two, two}, {}, StatusCode::InvalidArgument,
              "'arange' takes one size, got 2");
}

TEST(MatmulTypes, ranks) {
  auto product = [](Dims a, Dims b) {
    return typeOf(OpKind::matmul, {}, {{{f32, std::move(a)}}, {{f32, std::move(b)}}}).shape;
  };
  EXPECT_EQ(product({3}, {3}), Dims());
  EXPECT_EQ(product({2, 3}, {3}), (Dims{2}));
  EXPECT_EQ(product({3}, {5, 3, 4}), (Dims{5, 4}));
  EXPECT_EQ(product({5, 1, 2, 3}, {7, 3, 4}), (Dims{5, 7, 2, 4}));
  EXPECT_EQ(product({unknown, 0}, {unknown, 4}), (Dims{unknown, 4}));
  expectError(
      OpKind::matmul, {}, {{{f32, {2, 3}}}, {{f32, {4, 5}}}}, StatusCode::InvalidArgument,
      "'matmul' operands of shape (2, 3) and (4, 5) do not match: 3 columns against 4 rows");
  expectError(OpKind::matmul, {}, {{{f32, {}}}, {{f32, {4}}}}, StatusCode::InvalidArgument,
              "'matmul' operands must have at least one axis, got () and (4,)");
}

TEST(IndexingTypes, errors) {
  AttrList array = indexAttr({RawIndex::intArray()}, 1);
  AttrList mask = indexAttr({RawIndex::mask(2)}, 3);
  expectError(OpKind::subtensor, indexAttr({RawIndex::integer(-6)}, 1), {{{f32, {5}}}},
              StatusCode::IndexOutOfRange, "index -6 is out of range for axis 0 of size 5");
  expectError(OpKind::subtensor, array, {{{f32, {5}}}, {{i64, {2}}}}, StatusCode::InvalidArgument,
              "'subtensor' takes a basic index only");
  expectError(OpKind::indexing_multi_axis_vec, array, {{{f32, {5}}}, {{f32, {2}}}},
              StatusCode::InvalidType,
              "'indexing_multi_axis_vec' index array must be of an integer dtype, got float32");
  expectError(OpKind::indexing_multi_axis_vec, mask, {{{f32, {2, 3, 4}}}, {{DType::Bool, {2, 4}}}},
              StatusCode::IndexOutOfRange,
              "mask of shape (2, 4) does not match axis 1: size of axis is 3, of mask 4");
  expectError(OpKind::indexing_multi_axis_vec,
              indexAttr({RawIndex::intArray(), RawIndex::intArray()}, 2),
              {{{f32, {5, 5}}}, {{i64, {2}}}, {{i64, {3}}}}, StatusCode::IndexOutOfRange,
              "index arrays of shape (2,) and (3,) do not broadcast: axis -1 has sizes 2 and 3");
  expectError(OpKind::set_subtensor, indexAttr({}, 2), {{{f32, {3, 5}}}, {{f32, {3, 4}}}},
              StatusCode::InvalidArgument,
              "could not broadcast value of shape (3,4) to indexed shape (3,5)");
  expectError(OpKind::subtensor, indexAttr({}, 2), {{{f32, {3}}}}, StatusCode::InvalidArgument,
              "'subtensor' index does not use each axis of shape (3,) once");
}

TEST(IndexingTypes, countsAreCheckedWhenTheyAreKnown) {
  OpCall call{OpKind::indexing_multi_axis_vec,
              indexAttr({RawIndex::mask(1), RawIndex::intArray()}, 2)};
  std::vector<OperandInfo> operands = {{{f32, {4, 5}}}, {{DType::Bool, {4}}}, {{i64, {3}}}};
  EXPECT_EQ((*inferTypes(call, operands))[0].shape, (Dims{3}));
  int64_t count = 1;
  EXPECT_EQ((*inferTypesWithCounts(call, operands, {&count, 1}))[0].shape, (Dims{3}));
  count = 2;
  Result<ResultTypes> types = inferTypesWithCounts(call, operands, {&count, 1});
  EXPECT_EQ(types.status().code(), StatusCode::IndexOutOfRange);
  EXPECT_EQ(types.status().message(),
            "index arrays of shape (2,) and (3,) do not broadcast: axis -1 has sizes 2 and 3");
}

TEST(IndexingTypes, sliceBoundsFromOperands) {
  RawIndex slice = RawIndex::slice(std::nullopt, 2);
  slice.beginIsOperand = true;
  AttrList attrs = indexAttr({slice}, 1);
  EXPECT_EQ(typeOf(OpKind::subtensor, attrs, {{{f32, {5}}}, {{i64, {}}, -4}}).shape, (Dims{1}));
  EXPECT_EQ(typeOf(OpKind::subtensor, attrs, {{{f32, {5}}}, {{i64, {}}}}).shape, (Dims{unknown}));
}

TEST(CompressTypes, condTake) {
  OpCall call{OpKind::cond_take, {}};
  std::vector<OperandInfo> operands = {{{DType::Bool, {2, 3}}}, {{f32, {2, 3}}}};
  EXPECT_EQ(*inferTypes(call, operands), (ResultTypes{{f32, {unknown}}, {i64, {unknown}}}));
  int64_t count = 4;
  EXPECT_EQ(*inferTypesWithCounts(call, operands, {&count, 1}),
            (ResultTypes{{f32, {4}}, {i64, {4}}}));
  expectError(OpKind::cond_take, {}, {{{DType::Bool, {3}}}, {{f32, {2}}}},
              StatusCode::InvalidArgument,
              "'cond_take' mask of shape (3,) and tensor of shape (2,) must have one shape");
}

TEST(Limits, rankAndByteCount) {
  Dims rank65(size_t(65), 1);
  expectError(OpKind::broadcast_to, shapeAttr(rank65), {{{f32, {}}}}, StatusCode::InvalidArgument,
              "'broadcast_to' tensor of rank 65 is above the limit of 64");
  EXPECT_EQ(typeOf(OpKind::broadcast_to, shapeAttr(Dims(size_t(64), 1)), {{{f32, {}}}}).rank(),
            64u);
  int64_t large = int64_t(1) << 31;
  expectError(OpKind::broadcast_to, shapeAttr({large, large}), {{{f32, {}}}},
              StatusCode::InvalidArgument,
              "'broadcast_to' tensor of shape (2147483648, 2147483648) is too large");
  // Strides of an empty tensor must not overflow either.
  expectError(OpKind::broadcast_to, shapeAttr({0, large, large}), {{{f32, {}}}},
              StatusCode::InvalidArgument,
              "'broadcast_to' tensor of shape (0, 2147483648, 2147483648) is too large");
}

TEST(OpText, calls) {
  EXPECT_EQ(opCallString({OpKind::sum, reduceAttrs({0, 1}, true)}),
            "sum(axes=[0, 1], keepdims=true)");
  EXPECT_EQ(
      opCallString({OpKind::full,
                    {AttrValue::ints({kFromOperand}), AttrValue::scalar(Scalar::of(f32, 0.5f))}}),
      "full(shape=[operand], value=float32 0.5)");
  EXPECT_EQ(opCallString({OpKind::subtensor,
                          indexAttr({RawIndex::slice(1, std::nullopt), RawIndex::newAxis(),
                                     RawIndex::slice(std::nullopt, -1, -2), RawIndex::integer(3)},
                                    3)}),
            "subtensor(items=[1:, None, :-1:-2, 3])");
  EXPECT_EQ((TensorType{f32, {2, unknown}}.str()), "float32[2,?]");
  EXPECT_EQ(shapeString({3}), "(3,)");
  EXPECT_EQ(shapeString({}), "()");
}

} // namespace
