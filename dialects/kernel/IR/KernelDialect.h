/// The kernel dialect: one fused loop nest per kernel.func (see KernelOps.td).
///
///   auto func = kernel::FuncOp::create(builder, loc, "k0", /*domainRank=*/2);
///   mlir::BlockArgument x = func.addAccess(kernel::AccessType::get(...), loc);
///
/// Element types are those of trace/IR/ElementTypes.h.
#pragma once

#include "trace/IR/ElementTypes.h"
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
