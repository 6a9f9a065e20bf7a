/// Passes on the trace dialect; all work on one function, are linear in its ops, and keep op
/// numbers and locations. The order is in lib/Pipelines.
#pragma once

#include "trace/IR/TraceDialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace tracec::trace {

#define GEN_PASS_DECL
#include "trace/Transforms/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "trace/Transforms/Passes.h.inc"

} // namespace tracec::trace
