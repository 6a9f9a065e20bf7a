#include "References.h"

#include "scalar/Elementwise.h"

#include <random>

namespace scalar = tracert::scalar;

namespace tracec::test {

std::string typeText(DType dtype) {
  switch (dtype) {
  case DType::Bool:
    return "i1";
  case DType::UInt8:
    return "ui8";
  default:
    return std::string(tracert::dtypeShortName(dtype));
  }
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
    switch (dtype) {
    case DType::Bool:
      array.set<uint8_t>(i, random() & 1);
      break;
    case DType::UInt8:
      array.set(i, randomInteger<uint8_t>(random));
      break;
    case DType::Int32:
      array.set(i, randomInteger<int32_t>(random));
      break;
    case DType::Int64:
      array.set(i, randomInteger<int64_t>(random));
      break;
    case DType::Float16:
      array.set(i, scalar::floatToHalfBits(randomFloat<float>(random, isFinite)));
      break;
    case DType::Float32:
      array.set(i, randomFloat<float>(random, isFinite));
      break;
    case DType::Float64:
      array.set(i, randomFloat<double>(random, isFinite));
      break;
    }
  }
  return array;
}

Array Array::random(DType dtype, int64_t count, uint64_t seed) {
  return makeRandom(dtype, count, seed, /*isFinite=*/false);
}

Array Array::randomTerms(DType dtype, int64_t count, uint64_t seed) {
  return makeRandom(dtype, count, seed, /*isFinite=*/seed % 4 != 3);
}

static bool isNan(DType dtype, const char *element) {
  if (dtype == DType::Float16) {
    uint16_t bits;
    std::memcpy(&bits, element, 2);
    return (bits & 0x7FFF) > 0x7C00;
  }
  if (dtype == DType::Float32) {
    float value;
    std::memcpy(&value, element, 4);
    return value != value;
  }
  if (dtype == DType::Float64) {
    double value;
    std::memcpy(&value, element, 8);
    return value != value;
  }
  return false;
}

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

static const DType dtype_b1 = DType::Bool, dtype_u8 = DType::UInt8, dtype_i32 = DType::Int32,
                   dtype_i64 = DType::Int64, dtype_f16 = DType::Float16, dtype_f32 = DType::Float32,
                   dtype_f64 = DType::Float64;

template <class Op, class D, size_t... operand>
static void applyOp(const void *const *operands, void *result, std::index_sequence<operand...>) {
  using Storage = typename D::Storage;
  auto value = scalar::apply<Op, D, 1>(*static_cast<const Storage *>(operands[operand])...);
  std::memcpy(result, &value, sizeof(value));
}

const std::vector<ScalarOp> &scalarOps() {
  static const std::vector<ScalarOp> ops = {
#define TEST_OP_RESULT_Same(d) dtype_##d
#define TEST_OP_RESULT_Bool(d) DType::Bool
#define TEST_OP(d, opName, opArity, opResult)                                                      \
  {#opName, dtype_##d, TEST_OP_RESULT_##opResult(d), opArity,                                      \
   [](const void *const *operands, void *result) {                                                 \
     applyOp<scalar::op::opName, scalar::dtype::d>(operands, result,                               \
                                                   std::make_index_sequence<opArity>());           \
   }},
#define TEST_WHERE(d, ...)                                                                         \
  {"where", dtype_##d, dtype_##d, 3, [](const void *const *operands, void *result) {               \
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

template <class From> static void castFrom(DType to, const void *operand, void *result) {
  auto convert = [&]<class To>(To) {
    auto value = scalar::cast<From, To, 1>(*static_cast<const typename From::Storage *>(operand));
    std::memcpy(result, &value, sizeof(value));
  };
  switch (to) {
#define TEST_CAST_TO(d, ...)                                                                       \
  case dtype_##d:                                                                                  \
    convert(scalar::dtype::d{});                                                                   \
    break;
    TRACERT_FOR_AllDTypes(TEST_CAST_TO, )
  }
}

void castElement(DType from, DType to, const void *operand, void *result) {
  switch (from) {
#define TEST_CAST_FROM(d, ...)                                                                     \
  case dtype_##d:                                                                                  \
    castFrom<scalar::dtype::d>(to, operand, result);                                               \
    break;
    TRACERT_FOR_AllDTypes(TEST_CAST_FROM, )
  }
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
  switch (tracert::accumulateDType(sequence.dtype)) {
  case DType::Float32:
    return sumTo<float>(sequence, order, output, result);
  case DType::Float64:
    return sumTo<double>(sequence, order, output, result);
  default:
    // Wraps, and order has no effect.
    return sumTo<int64_t>(sequence, order, output, result);
  }
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
