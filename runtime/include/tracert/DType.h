/// Element types. The numbers are stored in files and never change.
///
///   dtypeSize(DType::Float16) == 2; dtypeName(DType::Bool) == "bool"
///
/// Bool is one byte, 0 or 1. Float16 is stored as its 16 bits and is never an arithmetic type.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace tracert {

/// Values 1, 2, 6, 7, 8, 10, 13 and 14 are reserved for int8, int16, uint16, uint32, uint64,
/// bfloat16, complex64 and complex128.
enum class DType : uint8_t {
  Bool = 0,
  Int32 = 3,
  Int64 = 4,
  UInt8 = 5,
  Float16 = 9,
  Float32 = 11,
  Float64 = 12,
};

inline constexpr DType kAllDTypes[] = {DType::Bool,    DType::UInt8,   DType::Int32,  DType::Int64,
                                       DType::Float16, DType::Float32, DType::Float64};
/// One more than the largest DType value that may appear in a file.
inline constexpr int kDTypeLimit = 16;

constexpr bool isKnownDType(uint8_t raw) {
  for (DType dtype : kAllDTypes) {
    if (static_cast<uint8_t>(dtype) == raw) {
      return true;
    }
  }
  return false;
}

/// Bytes per element.
constexpr size_t dtypeSize(DType dtype) {
  switch (dtype) {
  case DType::Bool:
  case DType::UInt8:
    return 1;
  case DType::Float16:
    return 2;
  case DType::Int32:
  case DType::Float32:
    return 4;
  case DType::Int64:
  case DType::Float64:
    return 8;
  }
  return 0;
}

/// The public name: "bool", "int32", "float16", ...
constexpr std::string_view dtypeName(DType dtype) {
  switch (dtype) {
  case DType::Bool:
    return "bool";
  case DType::UInt8:
    return "uint8";
  case DType::Int32:
    return "int32";
  case DType::Int64:
    return "int64";
  case DType::Float16:
    return "float16";
  case DType::Float32:
    return "float32";
  case DType::Float64:
    return "float64";
  }
  return "unknown";
}

/// The short name used in bitcode symbols and MLIR-free text: b1 u8 i32 i64 f16 f32 f64.
constexpr std::string_view dtypeShortName(DType dtype) {
  switch (dtype) {
  case DType::Bool:
    return "b1";
  case DType::UInt8:
    return "u8";
  case DType::Int32:
    return "i32";
  case DType::Int64:
    return "i64";
  case DType::Float16:
    return "f16";
  case DType::Float32:
    return "f32";
  case DType::Float64:
    return "f64";
  }
  return "unknown";
}

constexpr std::optional<DType> dtypeFromName(std::string_view name) {
  for (DType dtype : kAllDTypes) {
    if (dtypeName(dtype) == name) {
      return dtype;
    }
  }
  return std::nullopt;
}

constexpr bool isFloat(DType d) {
  return d == DType::Float16 || d == DType::Float32 || d == DType::Float64;
}
constexpr bool isInteger(DType d) {
  return d == DType::UInt8 || d == DType::Int32 || d == DType::Int64;
}
constexpr bool isBool(DType d) { return d == DType::Bool; }

/// The dtype in which a sum of this dtype is accumulated (see scalar/Numbers.md).
constexpr DType accumulateDType(DType d) {
  if (d == DType::Float64) {
    return DType::Float64;
  }
  return isFloat(d) ? DType::Float32 : DType::Int64;
}

/// The dtype of a quotient: of integers float32, of those of 64 bits float64.
constexpr DType quotientDType(DType d) {
  return isFloat(d) ? d : d == DType::Int64 ? DType::Float64 : DType::Float32;
}

/// In a set of dtypes.
constexpr uint32_t dtypeBit(DType d) { return uint32_t(1) << static_cast<unsigned>(d); }

} // namespace tracert
