// Reads and sets of thousands of random indices against enumeration.

#include "IndexReference.h"

#include <gtest/gtest.h>

using namespace tracert;
using namespace tracert::test;

namespace {

using Kind = RawIndex::Kind;

struct RandomIndex {
  Dims shape;
  std::vector<IndexEntry> entries;
};

/// Signed ones first.
constexpr DType kIndexDTypes[] = {DType::Int8,  DType::Int16,  DType::Int32,  DType::Int64,
                                  DType::UInt8, DType::UInt16, DType::UInt32, DType::UInt64};

Dims randomShape(Random &random, size_t rank, int64_t largest) {
  Dims shape;
  for (size_t i = 0; i < rank; ++i) {
    // Empty axes are rare, or most results would be empty.
    shape.push_back(random() % 12 == 0 ? 0 : 1 + below(random, largest));
  }
  return shape;
}

IndexEntry randomSlice(Random &random, int64_t size) {
  auto bound = [&]() -> std::optional<int64_t> {
    if (random() % 3 == 0) {
      return std::nullopt;
    }
    return below(random, 2 * size + 5) - size - 2;
  };
  int64_t step = 1 + below(random, 3);
  return {RawIndex::slice(bound(), bound(), random() % 2 == 0 ? step : -step), {}, {}};
}

/// Positions in range, with one out of it now and then.
int64_t randomPosition(Random &random, int64_t size) {
  if (size == 0 || random() % 60 == 0) {
    return random() % 2 == 0 ? size : -size - 1;
  }
  return below(random, 2 * size) - size;
}

IndexEntry randomArray(Random &random, int64_t size, const Dims &common) {
  IndexEntry entry{RawIndex::intArray(), {}, {}};
  size_t dropped = static_cast<size_t>(below(random, static_cast<int64_t>(common.size()) + 1));
  for (size_t i = dropped; i < common.size(); ++i) {
    entry.shape.push_back(random() % 4 == 0 ? 1 : common[i]);
  }
  for (int64_t i = 0; i < countOf(entry.shape); ++i) {
    entry.values.push_back(randomPosition(random, size));
  }
  return entry;
}

IndexEntry randomMask(Random &random, const Dims &shape, size_t first, size_t last,
                      std::optional<int64_t> wantedCount) {
  IndexEntry entry{
      RawIndex::mask(last - first), Dims(shape.begin() + first, shape.begin() + last), {}};
  int64_t count = countOf(entry.shape);
  entry.values.assign(static_cast<size_t>(count), 0);
  for (int64_t &value : entry.values) {
    value = random() % 2;
  }
  if (wantedCount && *wantedCount <= count) {
    // So that it broadcasts with the arrays beside it.
    std::fill(entry.values.begin(), entry.values.end(), 0);
    std::fill(entry.values.begin(), entry.values.begin() + *wantedCount, 1);
    std::shuffle(entry.values.begin(), entry.values.end(), random);
  }
  return entry;
}

RandomIndex randomIndex(Random &random, bool mayBeAdvanced) {
  RandomIndex result;
  result.shape = randomShape(random, static_cast<size_t>(below(random, 5)), 4);
  Dims common = randomShape(random, static_cast<size_t>(below(random, 3)), 3);
  std::optional<int64_t> maskCount;
  if (!common.empty() && random() % 4 != 0) {
    maskCount = common.back();
  }
  bool hasEllipsis = false;
  size_t axis = 0;
  size_t rank = result.shape.size();
  while (result.entries.size() < 7) {
    uint32_t choice = random() % 16;
    size_t left = rank - axis;
    if (choice == 0) {
      break;
    }
    if (choice <= 2) {
      result.entries.push_back({RawIndex::newAxis(), {}, {}});
    } else if (choice <= 4 && !hasEllipsis) {
      hasEllipsis = true;
      result.entries.push_back({RawIndex::ellipsis(), {}, {}});
      // The entries after it index the last axes.
      axis += static_cast<size_t>(below(random, static_cast<int64_t>(left) + 1));
    } else if (choice == 5 && mayBeAdvanced && random() % 3 == 0) {
      bool isTrue = random() % 2 == 0;
      result.entries.push_back({RawIndex::mask(0), {}, {isTrue}});
    } else if (left == 0) {
      break;
    } else if (choice <= 8) {
      result.entries.push_back(randomSlice(random, result.shape[axis++]));
    } else if (choice <= 10) {
      int64_t position = randomPosition(random, result.shape[axis++]);
      result.entries.push_back({RawIndex::integer(position), {}, {}});
    } else if (choice <= 13 && mayBeAdvanced) {
      result.entries.push_back(randomArray(random, result.shape[axis++], common));
    } else if (mayBeAdvanced) {
      size_t last = axis + 1 + static_cast<size_t>(below(random, static_cast<int64_t>(left)));
      result.entries.push_back(randomMask(random, result.shape, axis, last, maskCount));
      axis = last;
    }
  }
  // Without an Ellipsis `axis` is how many axes are used; with one the rest belongs to it, but
  // only if what follows it reaches the last axis.
  if (hasEllipsis) {
    for (; axis < rank; ++axis) {
      result.entries.push_back(randomSlice(random, result.shape[axis]));
    }
  }
  return result;
}

/// The index as an op with its operands.
struct BuiltIndex {
  std::shared_ptr<IndexItems> items;
  std::vector<TestTensor> extras;
};

BuiltIndex build(Random &random, const RandomIndex &index) {
  std::vector<RawIndex> raw;
  BuiltIndex built;
  for (const IndexEntry &entry : index.entries) {
    raw.push_back(entry.raw);
    bool isMask = entry.raw.kind == Kind::Mask;
    if (!isMask && entry.raw.kind != Kind::IntArray) {
      continue;
    }
    bool hasNegative =
        std::any_of(entry.values.begin(), entry.values.end(), [](int64_t v) { return v < 0; });
    DType dtype = isMask ? DType::Bool : kIndexDTypes[random() % (hasNegative ? 4 : 8)];
    built.extras.push_back(anyStrides(random, dtype, entry.shape));
    built.extras.back().fill(
        [&](int64_t i) { return double(entry.values[static_cast<size_t>(i)]); });
  }
  Result<IndexItems> items = normalizeIndex(raw, index.shape.size());
  EXPECT_TRUE(items.ok()) << items.status().message();
  built.items = std::make_shared<IndexItems>(std::move(*items));
  return built;
}

std::string describe(const RandomIndex &index, const BuiltIndex &built) {
  OpCall call{OpKind::indexing_multi_axis_vec, {AttrValue::index(built.items)}};
  std::string text = shapeString(index.shape) + " " + opCallString(call);
  for (const TestTensor &extra : built.extras) {
    text += " " + extra.view.type().str() + "{";
    for (double value : extra.values()) {
      text += std::to_string(int64_t(value)) + " ";
    }
    text += "}";
  }
  return text;
}

constexpr auto &kDTypes = kAllDTypes;

double numbered(DType dtype, int64_t i) { return dtype == DType::Bool ? double(i % 2) : i % 100; }

/// Shapes without counts agree with the final ones wherever they say anything.
void expectConsistent(const Dims &early, const Dims &final) {
  ASSERT_EQ(early.size(), final.size());
  for (size_t axis = 0; axis < early.size(); ++axis) {
    EXPECT_TRUE(early[axis] == kUnknownDim || early[axis] == final[axis]);
  }
}

void checkRead(Random &random, const RandomIndex &index, const KernelContext &context) {
  BuiltIndex built = build(random, index);
  DType dtype = kDTypes[random() % std::size(kDTypes)];
  TestTensor x = anyStrides(random, dtype, index.shape);
  x.fill([&](int64_t i) { return numbered(dtype, i); });
  std::vector<TensorView> operands = {x.view};
  for (const TestTensor &extra : built.extras) {
    operands.push_back(extra.view);
  }
  OpKind kind = built.items->isBasic() ? OpKind::subtensor : OpKind::indexing_multi_axis_vec;
  OpCall call{kind, {AttrValue::index(built.items)}};
  SCOPED_TRACE(describe(index, built));
  Selected expected = selectByEnumeration(index.shape, index.entries);
  Result<ResultTypes> early = inferTypes(call, infosOf(operands));
  Result<std::vector<TestTensor>> results = runOp(context, call, operands);
  if (!expected.error.empty()) {
    ASSERT_FALSE(results.ok());
    EXPECT_EQ(results.status().code(), StatusCode::IndexOutOfRange);
    EXPECT_NE(results.status().message().find(expected.error), std::string::npos)
        << results.status().message() << " against " << expected.error;
    return;
  }
  ASSERT_TRUE(results.ok()) << results.status().message();
  const TestTensor &result = (*results)[0];
  ASSERT_EQ(result.view.shape, expected.shape);
  expectConsistent((*early)[0].shape, expected.shape);
  for (int64_t i = 0; i < result.size(); ++i) {
    ASSERT_EQ(result.at(i), x.at(expected.sources[static_cast<size_t>(i)])) << "at " << i;
  }
  if (kind == OpKind::subtensor) {
    Result<std::optional<TensorView>> view = viewOf(call, x.view, {});
    ASSERT_TRUE(view.ok() && view->has_value());
    ASSERT_EQ((*view)->shape, expected.shape);
    for (int64_t i = 0; i < result.size(); ++i) {
      std::vector<int64_t> from =
          coordinatesOf(index.shape, expected.sources[static_cast<size_t>(i)]);
      ASSERT_EQ(addressOf(**view, coordinatesOf(expected.shape, i)), addressOf(x.view, from));
    }
  }
}

/// A value that broadcasts to the indexed shape, sometimes with extra leading axes of size 1.
Dims randomValueShape(Random &random, const Dims &indexed) {
  Dims shape;
  size_t dropped = static_cast<size_t>(below(random, static_cast<int64_t>(indexed.size()) + 1));
  for (size_t i = dropped; i < indexed.size(); ++i) {
    shape.push_back(random() % 3 == 0 ? 1 : indexed[i]);
  }
  if (dropped == 0 && random() % 3 == 0) {
    shape.insert(0, 1);
  }
  return shape;
}

void checkSet(Random &random, const RandomIndex &index, const KernelContext &context) {
  Selected expected = selectByEnumeration(index.shape, index.entries);
  BuiltIndex built = build(random, index);
  SCOPED_TRACE(describe(index, built));
  DType dtype = kDTypes[random() % std::size(kDTypes)];
  bool isInPlace = random() % 2 == 0;
  TestTensor x =
      isInPlace ? contiguous(dtype, index.shape) : anyStrides(random, dtype, index.shape);
  x.fill([&](int64_t i) { return numbered(dtype, i); });
  TestTensor value = anyStrides(random, dtype, randomValueShape(random, expected.shape));
  value.fill([&](int64_t i) { return numbered(dtype, i + 50); });
  std::vector<double> old = x.values();
  TestTensor result = contiguous(dtype, index.shape);
  TensorView resultView = isInPlace ? x.view : result.view;
  std::vector<TensorView> operands = {x.view, value.view};
  for (const TestTensor &extra : built.extras) {
    operands.push_back(extra.view);
  }
  OpKind kind =
      built.items->isBasic() ? OpKind::set_subtensor : OpKind::set_indexing_multi_axis_vec;
  OpCall call{kind, {AttrValue::index(built.items)}};
  Result<ResultTypes> types = inferTypes(call, infosOf(operands));
  Status status =
      types.ok() ? runKernel(context, call, operands, {&resultView, 1}) : types.status();
  if (!expected.error.empty()) {
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(x.values(), old) << "written before the check";
    return;
  }
  ASSERT_TRUE(status.ok()) << status.message();
  // The value at a place of the indexed shape, by coordinates counted from the last axis.
  std::vector<double> wanted = old;
  for (size_t i = 0; i < expected.sources.size(); ++i) {
    std::vector<int64_t> at = coordinatesOf(expected.shape, static_cast<int64_t>(i));
    int64_t flat = 0;
    for (size_t axis = 0; axis < value.view.rank(); ++axis) {
      int64_t dim = value.view.shape[axis];
      size_t fromEnd = value.view.rank() - axis;
      flat = flat * dim + (dim == 1 ? 0 : at[at.size() - fromEnd]);
    }
    wanted[static_cast<size_t>(expected.sources[i])] = value.at(flat);
  }
  result.view = resultView;
  EXPECT_EQ(result.values(), wanted);
}

class RandomIndices : public testing::TestWithParam<Target> {};

TEST_P(RandomIndices, readLikeEnumeration) {
  Random random(1);
  ThreadPool pool(2);
  for (int i = 0; i < 4000; ++i) {
    checkRead(random, randomIndex(random, i % 3 != 0), contextFor(GetParam(), &pool));
    ASSERT_FALSE(HasFailure()) << "case " << i;
  }
}

TEST_P(RandomIndices, setLikeEnumeration) {
  Random random(2);
  for (int i = 0; i < 4000; ++i) {
    checkSet(random, randomIndex(random, i % 3 != 0), contextFor(GetParam()));
    ASSERT_FALSE(HasFailure()) << "case " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Isas, RandomIndices, testing::ValuesIn(supportedTargets()),
                         [](const auto &info) {
                           std::string name(targetName(info.param));
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

std::shared_ptr<IndexItems> itemsOf(std::vector<RawIndex> raw, size_t rank) {
  Result<IndexItems> items = normalizeIndex(raw, rank);
  EXPECT_TRUE(items.ok());
  return std::make_shared<IndexItems>(*items);
}

TEST(Indexing, largeMaskReadWithThreads) {
  Random random(3);
  ThreadPool pool(2);
  for (DType dtype : {DType::UInt8, DType::Float16, DType::Float32, DType::Float64}) {
    for (int64_t count : {70'000, 200'003}) {
      TestTensor x = contiguous(dtype, {count});
      TestTensor mask = contiguous(DType::Bool, {count});
      std::vector<double> expected;
      for (int64_t i = 0; i < count; ++i) {
        x.set(i, numbered(dtype, i));
        bool isChosen = random() % 2 == 0;
        mask.set(i, isChosen);
        if (isChosen) {
          expected.push_back(x.at(i));
        }
      }
      OpCall call{OpKind::indexing_multi_axis_vec,
                  {AttrValue::index(itemsOf({RawIndex::mask(1)}, 1))}};
      for (Target target : supportedTargets()) {
        auto results = runOp(contextFor(target, &pool), call, {x.view, mask.view});
        ASSERT_TRUE(results.ok()) << results.status().message();
        ASSERT_EQ((*results)[0].values(), expected);
        // Nothing beyond the count may be written: memory after it keeps its pattern.
        const TestTensor &result = (*results)[0];
        const char *end =
            static_cast<const char *>(result.view.data) + result.view.type().byteCount();
        EXPECT_EQ(end[0], 0x5A);
      }
    }
  }
}

TEST(Indexing, setReadsItsOperandsAsIfCopiedBefore) {
  // x[1:] = x[:-1], in place.
  TestTensor x = contiguous(DType::Int64, {6});
  x.fill([](int64_t i) { return double(i); });
  TensorView value = x.view;
  value.shape[0] = 5;
  OpCall shift{OpKind::set_subtensor,
               {AttrValue::index(itemsOf({RawIndex::slice(1, std::nullopt)}, 1))}};
  TensorView operands[] = {x.view, value};
  ASSERT_TRUE(runKernel(contextFor(bestTarget()), shift, operands, {&x.view, 1}).ok());
  EXPECT_EQ(x.values(), (std::vector<double>{0, 0, 1, 2, 3, 4}));

  // x[x] = x reversed, in place: the index is the memory that is written.
  TestTensor y = contiguous(DType::Int64, {4});
  y.fill([](int64_t i) { return double((i + 1) % 4); });
  TensorView reversed = y.view;
  reversed.data = static_cast<char *>(reversed.data) + 3 * sizeof(int64_t);
  reversed.strides[0] = -8;
  OpCall scatter{OpKind::set_indexing_multi_axis_vec,
                 {AttrValue::index(itemsOf({RawIndex::intArray()}, 1))}};
  TensorView scatterOperands[] = {y.view, reversed, y.view};
  ASSERT_TRUE(runKernel(contextFor(bestTarget()), scatter, scatterOperands, {&y.view, 1}).ok());
  EXPECT_EQ(y.values(), (std::vector<double>{1, 0, 3, 2}));
}

TEST(Indexing, maskSetChecksTheCountBeforeItWrites) {
  TestTensor x = contiguous(DType::Float32, {4});
  x.fill([](int64_t i) { return double(i); });
  TestTensor mask = contiguous(DType::Bool, {4});
  mask.fill([](int64_t i) { return i < 3; });
  TestTensor value = contiguous(DType::Float32, {2});
  value.fill([](int64_t) { return 9.0; });
  OpCall call{OpKind::set_indexing_multi_axis_vec,
              {AttrValue::index(itemsOf({RawIndex::mask(1)}, 1))}};
  TensorView operands[] = {x.view, value.view, mask.view};
  Status status = runKernel(contextFor(bestTarget()), call, operands, {&x.view, 1});
  EXPECT_EQ(status.code(), StatusCode::InvalidArgument);
  EXPECT_EQ(status.message(), "could not broadcast value of shape (2,) to indexed shape (3,)");
  EXPECT_EQ(x.values(), (std::vector<double>{0, 1, 2, 3}));
}

TEST(Indexing, uncheckedReadsClampAndWritesAreDropped) {
  TestTensor x = contiguous(DType::Int32, {3});
  x.fill([](int64_t i) { return double(i + 10); });
  TestTensor indices = contiguous(DType::Int64, {4});
  double positions[] = {-1, 7, -9, 1};
  indices.fill([&](int64_t i) { return positions[i]; });
  KernelContext context = contextFor(bestTarget());
  context.indexMode = IndexMode::Unchecked;
  std::shared_ptr<IndexItems> items = itemsOf({RawIndex::intArray()}, 1);
  OpCall read{OpKind::indexing_multi_axis_vec, {AttrValue::index(items)}};
  auto results = runOp(context, read, {x.view, indices.view});
  ASSERT_TRUE(results.ok());
  EXPECT_EQ((*results)[0].values(), (std::vector<double>{12, 12, 10, 11}));
  TestTensor value = contiguous(DType::Int32, {4});
  value.fill([](int64_t i) { return double(i); });
  OpCall set{OpKind::set_indexing_multi_axis_vec, {AttrValue::index(items)}};
  TensorView operands[] = {x.view, value.view, indices.view};
  ASSERT_TRUE(runKernel(context, set, operands, {&x.view, 1}).ok());
  EXPECT_EQ(x.values(), (std::vector<double>{10, 3, 0}));
  OpCall incr{OpKind::incr_subtensor, {AttrValue::index(items)}};
  ASSERT_TRUE(runKernel(context, incr, operands, {&x.view, 1}).ok());
  EXPECT_EQ(x.values(), (std::vector<double>{10, 6, 0}));
}

} // namespace
