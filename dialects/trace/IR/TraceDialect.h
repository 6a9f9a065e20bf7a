/// The trace dialect: one op per recorded op of an eager program, on immutable tensor values.
///
///   context.loadDialect<tracec::trace::TraceDialect>();
///
/// The ops come from TraceOps.td, which is also the list that the runtime is generated from; see
/// OpBridge.h for the way between an MLIR op and a tracert::OpCall.
#pragma once

#include "tracert/Op.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributeInterfaces.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/DenseMap.h"

#include <optional>

namespace tracec::trace {

/// What an op that may fail on data writes to, so that generic passes keep it.
struct CheckResource : mlir::SideEffects::Resource::Base<CheckResource> {
  llvm::StringRef getName() final { return "trace.check"; }
};

/// The one verifier of all ops: tracert::inferTypes on operand types and attributes.
llvm::LogicalResult verifyTypeRule(mlir::Operation *op);

/// An effect on CheckResource unless the index items of `op` can never be out of range.
void addCheckEffects(mlir::Operation *op,
                     llvm::SmallVectorImpl<mlir::MemoryEffects::EffectInstance> &effects);

} // namespace tracec::trace

#include "trace/IR/TraceDialect.h.inc"

#define GET_ATTRDEF_CLASSES
#include "trace/IR/TraceAttrs.h.inc"

#define GET_OP_CLASSES
#include "trace/IR/TraceOps.h.inc"

#define GET_OP_CLASSES
#include "trace/IR/TraceStructure.h.inc"
