/// The way between an MLIR op of the trace dialect and a tracert::OpCall, for all ops alike: op
/// name and attribute names come from the generated tables (tracert::OpInfo).
///
///   FailureOr<tracert::OpCall> call = opCallOf(op);
///   Operation *op = createOp(builder, loc, call, operands, resultTypes);
///
/// A dim is ShapedType::kDynamic in MLIR and tracert::kUnknownDim in the runtime.
#pragma once

#include "trace/IR/ElementTypes.h"
#include "trace/IR/TraceDialect.h"
#include "tracert/OpRules.h"

#include "mlir/IR/Builders.h"

#include <optional>

namespace tracec::trace {

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

/// `type` is a ranked tensor of a known element type (what the dialect's ops accept).
tracert::TensorType tensorTypeOf(mlir::Type type);
mlir::RankedTensorType mlirTypeOf(mlir::MLIRContext *context, const tracert::TensorType &type);
/// Same dtype and rank, and no dim known in both with different sizes.
bool isCompatible(const tracert::TensorType &a, const tracert::TensorType &b);

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

/// The kind, or nullopt for ops that are not in the list of ops (constant, group, other dialects).
std::optional<tracert::OpKind> opKindOf(mlir::Operation *op);
/// Null for ops that are not in the list of ops.
const tracert::OpInfo *opInfoOf(mlir::Operation *op);
bool hasTrait(mlir::Operation *op, tracert::OpTrait trait);

/// Fails, with an error on the op, for an attribute that has no runtime form.
mlir::FailureOr<tracert::OpCall> opCallOf(mlir::Operation *op);

/// Creates the op with the given result types (empty: those of the type rule, which must hold).
mlir::Operation *createOp(mlir::OpBuilder &builder, mlir::Location loc, const tracert::OpCall &call,
                          mlir::ValueRange operands, mlir::TypeRange resultTypes,
                          llvm::ArrayRef<int64_t> opIds);
/// The result types that the type rule gives; fails without a diagnostic.
mlir::FailureOr<llvm::SmallVector<mlir::Type>> inferResultTypes(mlir::MLIRContext *context,
                                                                const tracert::OpCall &call,
                                                                mlir::ValueRange operands);

/// Whether the op can fail on data: an index that may be out of range, or a count that may not fit.
bool mayFail(mlir::Operation *op);

/// Numbers of the recorded ops this one came from.
llvm::ArrayRef<int64_t> opIdsOf(mlir::Operation *op);
/// Adds `ids` to the op's, sorted and without duplicates.
void addOpIds(mlir::Operation *op, llvm::ArrayRef<int64_t> ids);

/// The index items of an Indexing op; null for other ops.
IndexItemsAttr indexItemsOf(mlir::Operation *op);
/// False for what is no op of the list. See OpInfo.
bool isBasicRead(mlir::Operation *op);
bool isAdvancedRead(mlir::Operation *op);
bool isReplacingSet(mlir::Operation *op);
/// The op clamps or drops indices out of range instead of failing.
bool isUnchecked(mlir::Operation *op);
/// The operands of an Indexing op's items, in item order.
mlir::OperandRange indexOperandsOf(mlir::Operation *op);
/// Operands before the size and index operands; all of them for variadic ops.
unsigned fixedOperandCount(mlir::Operation *op);

/// A scalar that fits MLIR's typed attributes and back.
mlir::TypedAttr scalarAttr(mlir::MLIRContext *context, const tracert::Scalar &scalar);
std::optional<tracert::Scalar> scalarOf(mlir::Attribute attr);

} // namespace tracec::trace
