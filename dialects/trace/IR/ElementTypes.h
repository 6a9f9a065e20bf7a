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

/// The MLIR type of a float dtype; declared only, so that a float dtype without one is an error.
template <class D> struct FloatElement;
template <> struct FloatElement<tracert::dtype::f16> {
  using Type = mlir::Float16Type;
};
template <> struct FloatElement<tracert::dtype::bf16> {
  using Type = mlir::BFloat16Type;
};
template <> struct FloatElement<tracert::dtype::f32> {
  using Type = mlir::Float32Type;
};
template <> struct FloatElement<tracert::dtype::f64> {
  using Type = mlir::Float64Type;
};

template <class D> mlir::Type elementTypeOf(mlir::MLIRContext *context) {
  constexpr unsigned bits = 8 * sizeof(typename D::Storage);
  if constexpr (tracert::isBoolTag<D>) {
    return mlir::IntegerType::get(context, 1);
  } else if constexpr (tracert::isIntegerTag<D>) {
    bool isUnsigned = D::category == tracert::DTypeCategory::Unsigned;
    return mlir::IntegerType::get(
        context, bits, isUnsigned ? mlir::IntegerType::Unsigned : mlir::IntegerType::Signless);
  } else {
    return FloatElement<D>::Type::get(context);
  }
}

inline mlir::Type elementTypeOf(mlir::MLIRContext *context, tracert::DType dtype) {
  return tracert::visitDType(dtype,
                             [&](auto tag) { return elementTypeOf<decltype(tag)>(context); });
}

template <class D> bool isFloatElement(mlir::Type type) {
  if constexpr (tracert::isFloatTag<D>) {
    return llvm::isa<typename FloatElement<D>::Type>(type);
  } else {
    return false;
  }
}

/// nullopt for a type that is the element type of no tensor. Asks the type, since to make and
/// compare the type of each dtype would cost the passes a tenth of their time.
inline std::optional<tracert::DType> dtypeOfElement(mlir::Type type) {
  if (auto integer = llvm::dyn_cast<mlir::IntegerType>(type)) {
    unsigned bits = integer.getWidth();
    if (bits == 1) {
      return integer.isSignless() ? std::optional(tracert::DType::Bool) : std::nullopt;
    }
    if (bits % 8 != 0 || integer.isSigned()) {
      return std::nullopt;
    }
    return tracert::dtypeOf(integer.isUnsigned() ? tracert::DTypeCategory::Unsigned
                                                 : tracert::DTypeCategory::Signed,
                            bits / 8);
  }
#define TRACERT_DTYPE(name, number, text, tag, ...)                                                \
  if (isFloatElement<tracert::dtype::tag>(type)) {                                                 \
    return tracert::DType::name;                                                                   \
  }
#include "tracert/DTypes.inc"
  return std::nullopt;
}

} // namespace tracec
