/// Shapes with dims that may be unknown: checked products, limits, texts.
///
///   std::optional<int64_t> count = checkedProduct(shape);
///
/// A dim of kUnknownDim stands for any size. Everything here is a pure function.
#pragma once

#include "tracert/OpRules.h"

#include <string>
#include <string_view>

namespace tracert::rules {

inline bool isUnknown(int64_t dim) { return dim == kUnknownDim; }

/// False when the product does not fit int64.
inline bool multiply(int64_t a, int64_t b, int64_t &product) {
  return !__builtin_mul_overflow(a, b, &product);
}

/// kUnknownDim if a dim is unknown and none is 0, nullopt if the product does not fit int64.
std::optional<int64_t> checkedProduct(std::span<const int64_t> dims);

/// Rank at most kMaxRank, no negative dim, and byte counts (empty axes left out) that fit int64.
Status checkLimits(const OpCall &call, const TensorType &type);

/// What NumPy's broadcasting gives for one axis; nullopt for two sizes that do not go together.
std::optional<int64_t> broadcastDim(int64_t a, int64_t b);

/// "(3,4)": the shape without blanks.
std::string denseShapeString(const Dims &shape);

/// "'add' " for the start of a message.
TRACERT_API std::string opPrefix(const OpCall &call);
/// "'add' operands of shape (3,) and (4,) do not broadcast".
TRACERT_API Status notBroadcasting(std::string_view opName, const std::string &a,
                                   const std::string &b);

} // namespace tracert::rules
