/// `trace-to-kernel`: adds a kernel.func for each trace.group of a module's functions. The groups
/// stay; one that cannot be a kernel gets a remark that says why.
#pragma once

#include "mlir/Pass/Pass.h"

namespace tracec {

std::unique_ptr<mlir::Pass> createTraceToKernelPass();

} // namespace tracec
