/// Shapes with dims that may be unknown: checked products, sizes taken from operands, limits.
///
///   std::optional<int64_t> count = checkedProduct(shape);
///
/// A dim of kUnknownDim stands for any size. Everything here is a pure function.
#pragma once

#include "tracert/OpRules.h"

#include <string>
#include <string_view>

namespace tracert::rules {

using Operands = std::span<const OperandInfo>;

inline bool isUnknown(int64_t dim) { return dim == kUnknownDim; }

/// False when the product does not fit int64.
inline bool multiply(int64_t a, int64_t b, int64_t &product) {
  return !__builtin_mul_overflow(a, b, &product);
}

/// Product of the dims from `first` up to `last`: kUnknownDim if a dim is unknown and none is 0,
/// nullopt if it does not fit int64.
std::optional<int64_t> checkedProduct(const Dims &shape, size_t first, size_t last);
inline std::optional<int64_t> checkedProduct(const Dims &shape) {
  return checkedProduct(shape, 0, shape.size());
}

/// Rank at most kMaxRank, no negative dim, and byte counts (empty axes left out) that fit int64.
Status checkLimits(const OpCall &call, const TensorType &type);

/// What NumPy's broadcasting gives for one axis; nullopt for two sizes that do not go together.
std::optional<int64_t> broadcastDim(int64_t a, int64_t b);

/// `sizes` with each kFromOperand entry replaced by the next operand from `firstExtra` on, and an
/// unknown value by kUnknownDim. A -1 becomes kInferred if `mayInfer`, else it is an error.
inline constexpr int64_t kInferred = INT64_MIN + 1;
Result<Dims> takeSizes(const OpCall &call, const Dims &sizes, Operands operands, size_t firstExtra,
                       bool mayInfer = false);

/// InvalidArgument unless `from` broadcasts to exactly `to`; unknown dims pass.
bool broadcastsTo(const Dims &from, const Dims &to);

/// "(3,4)": the shape without blanks.
std::string denseShapeString(const Dims &shape);

/// "'add' " for the start of a message.
std::string opPrefix(const OpCall &call);

} // namespace tracert::rules
