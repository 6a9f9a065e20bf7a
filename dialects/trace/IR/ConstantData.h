/// The bytes of constants: elements attributes as the runtime stores tensors, and back.
///
///   std::string bytes = bytesOf(constant.getValueAttr());   // contiguous, bool one byte each
#pragma once

#include "trace/IR/OpBridge.h"

#include <string>

namespace tracec::trace {

/// Contiguous bytes in row-major order; nullopt for an attribute whose data is not there.
std::optional<std::string> bytesOf(mlir::ElementsAttr value);
/// `bytes` are the contiguous elements of `type`.
mlir::DenseElementsAttr elementsFromBytes(mlir::RankedTensorType type, llvm::StringRef bytes);
/// The number in a rank-0 integer constant.
std::optional<int64_t> integerValueOf(ConstantOp constant);

} // namespace tracec::trace
