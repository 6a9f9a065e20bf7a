#include "Codegen/KernelPasses.h"

#include "Codegen/CPU/ToLlvm.h"
#include "Conversion/KernelToVector/KernelToVector.h"
#include "Conversion/TraceToKernel/TraceToKernelPass.h"

#include "mlir/Pass/PassRegistry.h"

namespace tracec {

void registerKernelPasses() {
  mlir::registerPass(createTraceToKernelPass);
  mlir::registerPass(createKernelToVectorPass);
  mlir::registerPass(createKernelVectorToLlvmPass);
}

} // namespace tracec
