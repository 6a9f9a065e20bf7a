/// ElementTypes.h: dtypes as element types of MLIR, for both dialects.
///
///   Type type = elementTypeOf(context, DType::UInt8);            // ui8
///   std::optional<DType> dtype = dtypeOfElement(type);           // UInt8
///
/// bool is i1, signed integers are signless, unsigned ones unsigned.
#pragma once

#include "tracert/DType.h"

#include "mlir/IR/BuiltinTypes.h"

#include <optional>

namespace tracec {

template <class D> mlir::Type elementTypeOf(mlir::MLIRContext *context) {
  constexpr unsigned bits = 8 * sizeof(typename D::Storage);
  if constexpr (tracert::isBoolTag<D>) {
    return mlir::IntegerType::get(context, 1);
  } else if constexpr (tracert::isIntegerTag<D>) {
    bool isUnsigned = D::category == tracert::DTypeCategory::Unsigned;
    return mlir::IntegerType::get(
        context, bits, isUnsigned ? mlir::IntegerType::Unsigned : mlir::IntegerType::Signless);
  } else if constexpr (std::is_same_v<D, tracert::dtype::f16>) {
    return mlir::Float16Type::get(context);
  } else if constexpr (std::is_same_v<D, tracert::dtype::bf16>) {
    return mlir::BFloat16Type::get(context);
  } else if constexpr (std::is_same_v<D, tracert::dtype::f32>) {
    return mlir::Float32Type::get(context);
  } else {
    static_assert(std::is_same_v<D, tracert::dtype::f64>, "a float dtype without its MLIR type");
    return mlir::Float64Type::get(context);
  }
}

inline mlir::Type elementTypeOf(mlir::MLIRContext *context, tracert::DType dtype) {
  return tracert::visitDType(dtype,
                             [&](auto tag) { return elementTypeOf<decltype(tag)>(context); });
}

/// nullopt for a type that is the element type of no tensor.
inline std::optional<tracert::DType> dtypeOfElement(mlir::Type type) {
  for (tracert::DType dtype : tracert::kAllDTypes) {
    if (elementTypeOf(type.getContext(), dtype) == type) {
      return dtype;
    }
  }
  return std::nullopt;
}

} // namespace tracec
