/// References: arrays with guards, and what kernels must compute, by plain loops over the scalar
/// templates. Built under the number contract's flags, without MLIR.
#pragma once

#include "tracert/DType.h"

#include "gtest/gtest.h"

#include <cstring>
#include <string>
#include <vector>

namespace tracec::test {

using tracert::DType;

/// "f32", "i1", "ui8", ...
std::string typeText(DType dtype);

/// Elements in memory with bytes behind them that nothing may write.
class Array {
public:
  Array(DType dtype, int64_t count);
  /// Numbers of all kinds: special values often, then ordinary ones. Deterministic in `seed`.
  static Array random(DType dtype, int64_t count, uint64_t seed);
  /// Without inf and NaN, which would hide the order of a long sum: for three of four seeds; for
  /// the fourth as `random`.
  static Array randomTerms(DType dtype, int64_t count, uint64_t seed);

  DType dtype;
  int64_t count;
  char *at(int64_t index = 0) { return bytes.data() + index * elementSize(); }
  const char *at(int64_t index = 0) const { return bytes.data() + index * elementSize(); }
  int64_t elementSize() const { return static_cast<int64_t>(tracert::dtypeSize(dtype)); }
  template <class T> T get(int64_t index) const {
    T value;
    std::memcpy(&value, at(index), sizeof(T));
    return value;
  }
  template <class T> void set(int64_t index, T value) { std::memcpy(at(index), &value, sizeof(T)); }
  /// The bytes beyond the elements, except the first `slack`, are as they were.
  bool guardIsIntact(int64_t slack = 0) const;

private:
  static constexpr int64_t guardBytes = 192;
  std::vector<char> bytes;
};

/// Equal bits, or both NaN; the message names the index.
testing::AssertionResult sameElements(const Array &got, const Array &wanted);

/// One op on elements, by the scalar templates.
struct ScalarOp {
  std::string name;
  DType dtype;
  DType result;
  int arity;
  void (*apply)(const void *const *operands, void *result);
};
const std::vector<ScalarOp> &scalarOps();
const ScalarOp &scalarOp(const std::string &name, DType dtype);
void castElement(DType from, DType to, const void *operand, void *result);

/// The number contract's sums, written from its text. `output` is what the kernel writes.
enum class Order { Inner, Outer };
void referenceSum(const Array &sequence, Order order, DType output, void *result);
void referenceMax(const Array &sequence, void *result);

} // namespace tracec::test
