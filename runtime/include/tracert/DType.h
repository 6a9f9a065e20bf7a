/// Element types. The numbers are stored in files and never change.
///
///   dtypeSize(DType::Float16) == 2; dtypeName(DType::Bool) == "bool"
///   visitDType(view.dtype, [&](auto tag) { using T = typename decltype(tag)::Storage; ... });
///
/// DTypes.inc is the only list of them. Bool is one byte, 0 or 1. A float narrower than its lane is
/// stored as its bits and is never an arithmetic type.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>

namespace tracert {

enum class DType : uint8_t {
#define TRACERT_DTYPE(name, number, ...) name = number,
#include "tracert/DTypes.inc"
};

enum class DTypeCategory : uint8_t { Bool, Signed, Unsigned, Float };

/// One type per dtype: what visitDType passes, and what the scalar library is written over.
namespace dtype {
#define TRACERT_DTYPE(name, number, text, tag, kind, StorageType, LaneType, ...)                   \
  struct tag {                                                                                     \
    static constexpr DType dtype = DType::name;                                                    \
    static constexpr DTypeCategory category = DTypeCategory::kind;                                 \
    using Storage = StorageType;                                                                   \
    using Compute = LaneType;                                                                      \
  };
#include "tracert/DTypes.inc"

template <DType> struct TagOf;
#define TRACERT_DTYPE(name, number, text, tag, ...)                                                \
  template <> struct TagOf<DType::name> {                                                          \
    using Type = tag;                                                                              \
  };
#include "tracert/DTypes.inc"

template <DType> struct AccumulatorOf;
#define TRACERT_DTYPE(name, number, text, tag, kind, Storage, Lane, accumulator, ...)              \
  template <> struct AccumulatorOf<DType::name> : TagOf<DType::accumulator> {};
#include "tracert/DTypes.inc"
/// The tag of the dtype in which sums of D are added up.
template <class D> using Accumulator = typename AccumulatorOf<D::dtype>::Type;
} // namespace dtype

template <class D> inline constexpr bool isFloatTag = D::category == DTypeCategory::Float;
template <class D>
inline constexpr bool isIntegerTag =
    D::category == DTypeCategory::Signed || D::category == DTypeCategory::Unsigned;
template <class D> inline constexpr bool isBoolTag = D::category == DTypeCategory::Bool;
/// Stored as bits, computed in a wider lane.
template <class D>
inline constexpr bool isNarrowFloatTag =
    isFloatTag<D> && sizeof(typename D::Storage) < sizeof(typename D::Compute);

/// f(tag of the dtype). The dtype is known: whoever reads one from outside checks it there.
template <class F> constexpr decltype(auto) visitDType(DType dtype, F &&f) {
  switch (dtype) {
#define TRACERT_DTYPE(name, number, text, tag, ...)                                                \
  case DType::name:                                                                                \
    return f(dtype::tag());
#include "tracert/DTypes.inc"
  }
  __builtin_trap();
}

/// The same of a dtype that is known to be an integer; f takes the tags of integers only.
template <class F> constexpr decltype(auto) visitIntegerDType(DType dtype, F &&f) {
  return visitDType(dtype, [&](auto tag) -> decltype(f(dtype::i64())) {
    if constexpr (isIntegerTag<decltype(tag)>) {
      return f(tag);
    } else {
      __builtin_trap();
    }
  });
}

/// The unsigned integer that has as many bytes as the type.
template <class T>
using BitsOf =
    std::conditional_t<sizeof(T) == 1, uint8_t,
                       std::conditional_t<sizeof(T) == 2, uint16_t,
                                          std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>>>;

/// f(BitsOf<an element>()), for code that moves elements and does not compute.
template <class F> constexpr decltype(auto) visitElementBits(DType dtype, F &&f) {
  return visitDType(dtype, [&](auto tag) -> decltype(auto) {
    using Storage = typename decltype(tag)::Storage;
    static_assert(sizeof(BitsOf<Storage>) == sizeof(Storage));
    return f(BitsOf<Storage>());
  });
}

inline constexpr DType kAllDTypes[] = {
#define TRACERT_DTYPE(name, ...) DType::name,
#include "tracert/DTypes.inc"
};
/// One more than the largest DType value that may appear in a file.
inline constexpr int kDTypeLimit = 16;

/// A row of DTypes.inc as data.
struct DTypeRecord {
  char name[11];
  char shortName[5];
  /// 0: no dtype has this number.
  uint8_t size;
  DTypeCategory category;
  DType accumulator;
  DType quotient;
  uint8_t fractionBits;
};

struct DTypeTable {
  DTypeRecord rows[kDTypeLimit];
};

inline constexpr DTypeTable kDTypeTable = [] {
  DTypeTable table = {};
  for (DTypeRecord &row : table.rows) {
    row = {"unknown", "?", 0, DTypeCategory::Bool, DType::Bool, DType::Bool, 0};
  }
#define TRACERT_DTYPE(name, number, text, tag, kind, Storage, Lane, accumulator, quotient,         \
                      fraction, ...)                                                               \
  table.rows[number] = {                                                                           \
      #text,           #tag,    sizeof(Storage), DTypeCategory::kind, DType::accumulator,          \
      DType::quotient, fraction};
#include "tracert/DTypes.inc"
  return table;
}();

constexpr const DTypeRecord &dtypeRecord(DType dtype) {
  return kDTypeTable.rows[static_cast<uint8_t>(dtype) % kDTypeLimit];
}

constexpr bool isKnownDType(uint8_t raw) {
  return raw < kDTypeLimit && kDTypeTable.rows[raw].size != 0;
}

/// Bytes per element.
constexpr size_t dtypeSize(DType dtype) { return dtypeRecord(dtype).size; }

/// The public name: "bool", "int32", "float16", ...; ends in a null byte.
constexpr std::string_view dtypeName(DType dtype) { return dtypeRecord(dtype).name; }

/// The short name used in bitcode symbols and MLIR-free text: b1 u8 i32 i64 f16 f32 f64.
constexpr std::string_view dtypeShortName(DType dtype) { return dtypeRecord(dtype).shortName; }

constexpr std::optional<DType> dtypeFromName(std::string_view name) {
  for (DType dtype : kAllDTypes) {
    if (dtypeName(dtype) == name) {
      return dtype;
    }
  }
  return std::nullopt;
}

/// The dtype of a category whose elements have so many bytes; of two (float16 and bfloat16) the
/// one that IEEE 754 names.
constexpr std::optional<DType> dtypeOf(DTypeCategory category, size_t size) {
  for (DType dtype : kAllDTypes) {
    if (dtypeRecord(dtype).category == category && dtypeSize(dtype) == size) {
      return dtype;
    }
  }
  return std::nullopt;
}

constexpr DTypeCategory dtypeCategory(DType dtype) { return dtypeRecord(dtype).category; }
constexpr bool isFloat(DType d) { return dtypeCategory(d) == DTypeCategory::Float; }
constexpr bool isSigned(DType d) { return dtypeCategory(d) == DTypeCategory::Signed; }
constexpr bool isUnsigned(DType d) { return dtypeCategory(d) == DTypeCategory::Unsigned; }
constexpr bool isInteger(DType d) { return isSigned(d) || isUnsigned(d); }
constexpr bool isBool(DType d) { return dtypeCategory(d) == DTypeCategory::Bool; }

/// The dtype in which a sum of this dtype is accumulated (see scalar/Numbers.md).
constexpr DType accumulateDType(DType dtype) { return dtypeRecord(dtype).accumulator; }

/// The dtype of a true quotient: integers are divided as floats.
constexpr DType quotientDType(DType dtype) { return dtypeRecord(dtype).quotient; }

namespace dtype {
/// The tag of the unsigned integer that has as many bytes, for loops to which only bits matter.
template <class D>
using BitsTag =
    typename TagOf<*dtypeOf(DTypeCategory::Unsigned, sizeof(typename D::Storage))>::Type;
} // namespace dtype

/// A set of dtypes as bits by number.
constexpr uint32_t dtypeBit(DType dtype) { return 1u << static_cast<int>(dtype); }

/// The bits of a float dtype's infinity.
constexpr uint64_t infinityBits(DType dtype) {
  uint64_t fractionBits = dtypeRecord(dtype).fractionBits;
  return (uint64_t(1) << (8 * dtypeSize(dtype) - 1)) - (uint64_t(1) << fractionBits);
}

/// The bits of 1 (of bools true).
constexpr uint64_t oneBits(DType dtype) {
  uint64_t fractionBits = dtypeRecord(dtype).fractionBits;
  return isFloat(dtype) ? infinityBits(dtype) >> (fractionBits + 1) << fractionBits : 1;
}

/// The bits of the least element: -infinity, the least integer, false.
constexpr uint64_t lowestBits(DType dtype) {
  uint64_t signBit = uint64_t(1) << (8 * dtypeSize(dtype) - 1);
  return isFloat(dtype) ? signBit | infinityBits(dtype) : isSigned(dtype) ? signBit : 0;
}

/// The bits of the greatest element: infinity, the greatest integer, true.
constexpr uint64_t highestBits(DType dtype) {
  uint64_t signBit = uint64_t(1) << (8 * dtypeSize(dtype) - 1);
  return isFloat(dtype)    ? infinityBits(dtype)
         : isSigned(dtype) ? signBit - 1
         : isBool(dtype)   ? 1
                           : 2 * (signBit - 1) + 1;
}

} // namespace tracert
