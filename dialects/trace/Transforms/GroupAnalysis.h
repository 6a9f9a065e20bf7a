/// What the kernel of a group iterates over: domain, reduced axes, and the stride classes that its
/// accesses will most likely have.
///
///   GroupShape shape = analyzeGroup(group, sizes);
#pragma once

#include "trace/Transforms/SizeAnalysis.h"

#include "llvm/ADT/MapVector.h"

namespace tracec::trace {

/// What an op can be in a group.
enum class GroupRole : uint8_t {
  /// Not in any group: views, library kernels, constants.
  None,
  /// One element per domain element: pointwise ops.
  Map,
  /// Advanced read with int arrays; operand 0 comes from outside.
  Gather,
  /// x[mask] over all axes.
  MaskRead,
  Reduce,
};
GroupRole groupRoleOf(mlir::Operation *op);
/// The mask operand of a MaskRead.
mlir::Value maskOf(mlir::Operation *maskRead);
/// The reduced axes of a Reduce op.
llvm::ArrayRef<int64_t> reducedAxesOf(mlir::Operation *reduce);

struct GroupShape {
  /// Null for a group whose domain is the selection of its set op.
  mlir::Value domain;
  llvm::SmallVector<int64_t> domainShape;
  llvm::SmallVector<int64_t> reducedAxes;
  bool isFlat = false;
  llvm::DenseMap<mlir::Value, tracert::InnerStride> innerStrides;
  tracert::InnerStride setInnerStride = tracert::InnerStride::Any;
  /// Values computed inside that have one element per selected element of the mask.
  llvm::DenseSet<mlir::Value> compacted;
  /// Results of the group that something else than a size op reads; of a mask read at least one,
  /// for its count, if nothing is reduced.
  llvm::SmallVector<mlir::Value> outputs;
};
GroupShape analyzeGroup(GroupOp group, const SizeAnalysis &sizes);

} // namespace tracec::trace
