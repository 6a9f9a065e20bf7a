/// The dialects and passes of tracec, for tools and the compiler library.
#pragma once

#include "mlir/IR/DialectRegistry.h"

namespace tracec {

void registerAllDialects(mlir::DialectRegistry &registry);
void registerAllPasses();

} // namespace tracec
