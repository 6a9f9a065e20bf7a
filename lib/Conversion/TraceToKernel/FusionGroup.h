/// FusionGroup: what the fusion pass hands over, and what it gets back: one loop nest in the kernel
/// dialect and how each of its accesses is bound.
///
///   FusionGroup group;                        // ops in program order, of one block
///   group.ops = {mul, add, sum}; group.domain = add.getResult(); group.reducedAxes = {1};
///   group.outputs = {sum.getResult()};
///   TRACERT_ASSIGN(LoweredGroup lowered, lowerGroupToKernel(group, kernelModule));
///   // lowered.func is in kernelModule; lowered.accesses become KernelDef::accesses in order.
///
/// The ops are not changed. An error (StatusCode::Unsupported) means that the group cannot be one
/// kernel and says why; the caller then runs the ops with library kernels or cuts differently.
///
/// What a group may hold:
///   - pointwise ops; operands that come from outside broadcast onto the domain (right-aligned);
///   - `broadcast_to`, as the identity on values (broadcasting is in the strides);
///   - `full` without size operands (a constant);
///   - `sum` and `max` over exactly `reducedAxes` of the domain; their results leave the group;
///   - `indexing_multi_axis_vec` whose items have no mask: a gather, operand 0 from outside; its
///     result has the domain's shape, and its index arrays may come from inside or outside. An
///     index array from inside must have the domain's shape or broadcast onto it like any operand,
///     so `advancedFirst` or not does not matter;
///   - one mask: `cond_take`, and `indexing_multi_axis_vec` whose only advanced item is one Mask
///   over
///     all axes of operand 0. The mask has the domain's shape. All of them use the same mask value.
///     Their results and everything computed from them are `compacted`: they may meet values from
///     outside only of rank 0 or with all dims statically 1;
///   - `sum` and `max` over all axes of a compacted value; a group with a mask has no other
///   reductions;
///   - `set_subtensor`, last op of the group: the domain is the shape that the items select, the
///     value operand comes from inside or outside, operand 0 and the item operands from outside;
///     nothing inside uses its result. A group has at most one. Whether the old value may be
///     overwritten while inputs are read is the caller's alias analysis.
/// Views (permute, subtensor, reshape) stay outside: the executor makes them, and their strides
/// arrive with the access.
#pragma once

#include "kernel/IR/KernelDialect.h"
#include "trace/Transforms/GroupAnalysis.h"

#include "tracert/Program.h"

#include "mlir/IR/BuiltinOps.h"

#include <string>

namespace tracec {

/// What the group iterates over and how its accesses lie: see trace::GroupShape.
struct FusionGroup : trace::GroupShape {
  /// Symbol of the kernel; made unique in the module.
  std::string name;
  /// Program order, one block.
  llvm::SmallVector<mlir::Operation *> ops;
};
FusionGroup fusionGroupOf(trace::GroupOp group, const trace::SizeAnalysis &sizes, std::string name);

/// One access of the kernel, to become a tracert::KernelAccess.
struct AccessBinding {
  tracert::AccessKind kind = tracert::AccessKind::Load;
  mlir::Value value;
  /// Gather, Index and SetStore: the op whose items are meant.
  mlir::Operation *op = nullptr;
  uint8_t indexedAxis = 0;
  tracert::InnerStride innerStride = tracert::InnerStride::Any;
};

struct LoweredGroup {
  kernel::FuncOp func;
  llvm::SmallVector<AccessBinding> accesses;
  uint8_t domainRank = 0;
  tracert::KernelSplit split = tracert::KernelSplit::None;
  /// A compacted value, when the kernel counts; null otherwise.
  mlir::Value countValue;
  float nanosecondsPerElement = 1.0f;
};

/// Appends to `module`. That no other symbol has the group's name is the caller's affair: a search
/// here would make the lowering of all groups quadratic.
tracert::Result<LoweredGroup> lowerGroupToKernel(const FusionGroup &group, mlir::ModuleOp module);

} // namespace tracec
