#include "References.h"

#include "scalar/Elementwise.h"
#include "tracert/Element.h"

#include <random>

namespace scalar = tracert::scalar;

namespace tracec::test {

std::string typeText(DType dtype) {
  if (tracert::isBool(dtype)) {
    return "i1";
  }
  std::string bits = std::to_string(8 * tracert::dtypeSize(dtype));
  return tracert::isUnsigned(dtype) ? "ui" + bits : std::string(tracert::dtypeShortName(dtype));
}

//===----------------------------------------------------------------------===//
// Arrays
//===----------------------------------------------------------------------===//

Array::Array(DType dtype, int64_t count) : dtype(dtype), count(count) {
  bytes.assign(static_cast<size_t>(count * elementSize() + guardBytes), static_cast<char>(0xA5));
}

bool Array::guardIsIntact(int64_t slack) const {
  for (size_t i = static_cast<size_t>(count * elementSize() + slack); i < bytes.size(); ++i) {
    if (bytes[i] != static_cast<char>(0xA5)) {
      return false;
    }
  }
  return true;
}

template <class T> static T randomInteger(std::mt19937_64 &random) {
  constexpr T special[] = {0, 1, std::numeric_limits<T>::min(), std::numeric_limits<T>::max(),
                           static_cast<T>(-1)};
  if (random() % 8 == 0) {
    return special[random() % 5];
  }
  return random() % 2 == 0 ? static_cast<T>(random()) : static_cast<T>(random() % 100);
}

template <class T> static T randomFloat(std::mt19937_64 &random, bool isFinite) {
  constexpr T special[] = {T(0),
                           -T(0),
                           std::numeric_limits<T>::infinity(),
                           -std::numeric_limits<T>::infinity(),
                           std::numeric_limits<T>::quiet_NaN(),
                           std::numeric_limits<T>::denorm_min(),
                           -std::numeric_limits<T>::min() / 2,
                           std::numeric_limits<T>::max()};
  if (random() % 32 == 0 && !isFinite) {
    return special[random() % 8];
  }
  T value = static_cast<T>(static_cast<double>(static_cast<int64_t>(random())) * 0x1p-63);
  return value * static_cast<T>(random() % 3 == 0 ? 300.0 : 3.0);
}

static Array makeRandom(DType dtype, int64_t count, uint64_t seed, bool isFinite) {
  Array array(dtype, count);
  std::mt19937_64 random(seed * 977 + static_cast<uint64_t>(dtype));
  for (int64_t i = 0; i < count; ++i) {
    tracert::visitDType(dtype, [&](auto tag) {
      using D = decltype(tag);
      using Storage = typename D::Storage;
      if constexpr (tracert::isBoolTag<D>) {
        array.set<Storage>(i, random() & 1);
      } else if constexpr (tracert::isNarrowFloatTag<D>) {
        array.set(i, scalar::narrowFloat<D>(randomFloat<float>(random, isFinite)));
      } else if constexpr (tracert::isFloatTag<D>) {
        array.set(i, randomFloat<Storage>(random, isFinite));
      } else {
        array.set(i, randomInteger<Storage>(random));
      }
    });
  }
  return array;
}

Array Array::random(DType dtype, int64_t count, uint64_t seed) {
  return makeRandom(dtype, count, seed, /*isFinite=*/false);
}

Array Array::randomTerms(DType dtype, int64_t count, uint64_t seed) {
  return makeRandom(dtype, count, seed, /*isFinite=*/seed % 4 != 3);
}

static bool isNan(DType dtype, const char *element) { return tracert::isNaNAt(element, dtype); }

static std::string bitsText(const Array &array, int64_t index) {
  uint64_t bits = 0;
  std::memcpy(&bits, array.at(index), array.elementSize());
  char text[24];
  std::snprintf(text, sizeof(text), "0x%llx", static_cast<unsigned long long>(bits));
  return text;
}

testing::AssertionResult sameElements(const Array &got, const Array &wanted) {
  if (got.dtype != wanted.dtype || got.count != wanted.count) {
    return testing::AssertionFailure() << "arrays of different type";
  }
  for (int64_t i = 0; i < got.count; ++i) {
    bool bothNan = isNan(got.dtype, got.at(i)) && isNan(wanted.dtype, wanted.at(i));
    if (!bothNan && std::memcmp(got.at(i), wanted.at(i), got.elementSize()) != 0) {
      return testing::AssertionFailure() << "element " << i << " of " << got.count << ": got "
                                         << bitsText(got, i) << ", wanted " << bitsText(wanted, i);
    }
  }
  if (!got.guardIsIntact()) {
    return testing::AssertionFailure() << "wrote beyond the end";
  }
  return testing::AssertionSuccess();
}

//===----------------------------------------------------------------------===//
// References
//===----------------------------------------------------------------------===//

template <class Op, class D, size_t... operand>
static void applyOp(const void *const *operands, void *result, std::index_sequence<operand...>) {
  using Storage = typename D::Storage;
  auto value = scalar::apply<Op, D, 1>(*static_cast<const Storage *>(operands[operand])...);
  std::memcpy(result, &value, sizeof(value));
}

const std::vector<ScalarOp> &scalarOps() {
  static const std::vector<ScalarOp> ops = {
#define TEST_OP_RESULT_Same(d) scalar::dtype::d::dtype
#define TEST_OP_RESULT_Bool(d) DType::Bool
#define TEST_OP(d, opName, opArity, opResult)                                                      \
  {#opName, scalar::dtype::d::dtype, TEST_OP_RESULT_##opResult(d), opArity,                        \
   [](const void *const *operands, void *result) {                                                 \
     applyOp<scalar::op::opName, scalar::dtype::d>(operands, result,                               \
                                                   std::make_index_sequence<opArity>());           \
   }},
#define TEST_WHERE(d, ...)                                                                         \
  {"where", scalar::dtype::d::dtype, scalar::dtype::d::dtype, 3,                                   \
   [](const void *const *operands, void *result) {                                                 \
     using Storage = scalar::dtype::d::Storage;                                                    \
     auto value = scalar::applyWhere<scalar::dtype::d, 1>(                                         \
         *static_cast<const uint8_t *>(operands[0]), *static_cast<const Storage *>(operands[1]),   \
         *static_cast<const Storage *>(operands[2]));                                              \
     std::memcpy(result, &value, sizeof(value));                                                   \
   }},
#define TRACERT_ELEMENTWISE(opName, opArity, opResult, dtypes)                                     \
  TRACERT_FOR_##dtypes(TEST_OP, opName, opArity, opResult)
#define TRACERT_SELECT(opName) TRACERT_FOR_AllDTypes(TEST_WHERE, )
#define TRACERT_CAST(opName)
#include "tracert/generated/ElementwiseOps.inc"
  };
  return ops;
}

const ScalarOp &scalarOp(const std::string &name, DType dtype) {
  for (const ScalarOp &op : scalarOps()) {
    if (op.name == name && op.dtype == dtype) {
      return op;
    }
  }
  ADD_FAILURE() << "no scalar op " << name;
  return scalarOps().front();
}

void castElement(DType from, DType to, const void *operand, void *result) {
  tracert::visitDType(from, [&](auto fromTag) {
    tracert::visitDType(to, [&](auto toTag) {
      using From = decltype(fromTag);
      auto value = scalar::cast<From, decltype(toTag), 1>(
          *static_cast<const typename From::Storage *>(operand));
      std::memcpy(result, &value, sizeof(value));
    });
  });
}

template <class Acc> static Acc tree(const std::vector<Acc> &blocks, size_t begin, size_t end) {
  if (end - begin == 1) {
    return blocks[begin];
  }
  size_t half = 1;
  while (half * 2 < end - begin) {
    half *= 2;
  }
  Acc left = tree(blocks, begin, begin + half);
  return left + tree(blocks, begin + half, end);
}

template <class Acc> static Acc sumOf(const std::vector<Acc> &values, Order order) {
  if (values.empty()) {
    return Acc(0);
  }
  const size_t lanes = order == Order::Outer ? 1 : sizeof(Acc) == 4 ? 128 : 64;
  std::vector<Acc> blocks;
  for (size_t begin = 0; begin < values.size(); begin += 4096) {
    std::vector<Acc> sums(lanes, -Acc(0));
    for (size_t i = begin; i < std::min(begin + 4096, values.size()); ++i) {
      sums[(i - begin) % lanes] += values[i];
    }
    for (size_t half = lanes / 2; half > 0; half /= 2) {
      for (size_t lane = 0; lane < half; ++lane) {
        sums[lane] += sums[lane + half];
      }
    }
    blocks.push_back(sums[0]);
  }
  return tree(blocks, 0, blocks.size());
}

template <class Acc>
static void sumTo(const Array &sequence, Order order, DType output, void *result) {
  DType accumulator = tracert::accumulateDType(sequence.dtype);
  std::vector<Acc> values(sequence.count);
  for (int64_t i = 0; i < sequence.count; ++i) {
    castElement(sequence.dtype, accumulator, sequence.at(i), &values[i]);
  }
  Acc sum = sumOf(values, order);
  castElement(accumulator, output, &sum, result);
}

void referenceSum(const Array &sequence, Order order, DType output, void *result) {
  tracert::visitDType(sequence.dtype, [&](auto tag) {
    // Integers wrap, and order has no effect.
    using Acc = tracert::dtype::Accumulator<decltype(tag)>;
    sumTo<typename Acc::Storage>(sequence, order, output, result);
  });
}

void referenceMax(const Array &sequence, void *result) {
  const ScalarOp &maximum = scalarOp("maximum", sequence.dtype);
  std::memcpy(result, sequence.at(0), sequence.elementSize());
  for (int64_t i = 1; i < sequence.count; ++i) {
    const void *operands[] = {result, sequence.at(i)};
    maximum.apply(operands, result);
  }
}

} // namespace tracec::test
