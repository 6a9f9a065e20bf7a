/// The kernel dialect: one fused loop nest per kernel.func (see KernelOps.td).
///
///   auto func = kernel::FuncOp::create(builder, loc, "k0", /*domainRank=*/2);
///   mlir::BlockArgument x = func.addAccess(kernel::AccessType::get(...), loc);
///
/// Element types of dtypes: bool i1, uint8 ui8, int32 i32, int64 i64, float16 f16, f32, f64.
#pragma once

#include "tracert/Op.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "kernel/IR/KernelDialect.h.inc"
#include "kernel/IR/KernelEnums.h.inc"

#define GET_TYPEDEF_CLASSES
#include "kernel/IR/KernelTypes.h.inc"

#define GET_OP_CLASSES
#include "kernel/IR/KernelOps.h.inc"

namespace tracec::kernel {

/// nullopt for types that are no element of a tensor. Signless and unsigned i8 are uint8.
std::optional<tracert::DType> elementDType(mlir::Type type);
mlir::Type elementType(mlir::MLIRContext *context, tracert::DType dtype);

} // namespace tracec::kernel
