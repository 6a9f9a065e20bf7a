/// The passes from fusion groups to the LLVM dialect, for tracec-opt and the lit tests.
///
///   registerKernelPasses();   // trace-to-kernel, kernel-to-vector, kernel-vector-to-llvm
#pragma once

namespace tracec {

void registerKernelPasses();

} // namespace tracec
