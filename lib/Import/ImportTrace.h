/// TraceGraph -> a module in the trace dialect, one op per recorded op.
///
///   TRACERT_ASSIGN(auto module, importTrace(graph, context));
///
/// The one function is named as the graph. Locations are the user's Python lines, `op_ids` the
/// recorded numbers. Constants of up to kLargestInlineBytes are written into the module; larger
/// ones are `external i`, number i of graph.constants.
#pragma once

#include "tracec/TraceGraph.h"
#include "tracert/Status.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace tracec {

inline constexpr size_t kLargestInlineBytes = 64;

/// Internal when the graph is not well formed (an op reads a variable before it is defined).
tracert::Result<mlir::OwningOpRef<mlir::ModuleOp>> importTrace(const TraceGraph &graph,
                                                               mlir::MLIRContext *context);

} // namespace tracec
