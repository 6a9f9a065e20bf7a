/// kernel -> scf, arith and llvm on vectors: one `llvm.func` per kernel.func, i32 (ptr to
/// KernelFrame).
///
///   if (failed(lowerKernelToVector(func, kX86V4))) { ... }   // replaces func in its module
///
/// Pointers are plain: base + byte strides of the frame. What ops mean is left to calls of the
/// scalar library (tcs_*), what needs no code of its own to calls of KernelSupport.cpp (tck_*). See
/// Rationale.md for the shape of the loops. Fails with a diagnostic on the kernel.
#pragma once

#include "kernel/IR/KernelDialect.h"

#include "tracert/Kernels.h"

#include "mlir/Pass/Pass.h"

namespace tracec {

/// How loops are vectorised for an ISA.
struct LaneConfig {
  /// Lanes of every vector, whatever the element type.
  int64_t lanes = 16;
  /// The tail is one masked iteration; otherwise a loop over single lanes.
  bool hasMaskedTail = true;
};
LaneConfig laneConfig(tracert::Target target);

mlir::LogicalResult lowerKernelToVector(kernel::FuncOp func, const LaneConfig &config);

/// `kernel-to-vector{lanes=16 masked-tail=true}` on a module.
std::unique_ptr<mlir::Pass> createKernelToVectorPass();

} // namespace tracec
