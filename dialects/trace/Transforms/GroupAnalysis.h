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
  /// The value whose shape is the iteration domain; its element type does not matter. For
  /// `set_subtensor`, where no value may have that shape, null and `domainShape` says it.
  mlir::Value domain;
  /// Dims of the domain when `domain` is null (ShapedType::kDynamic where dynamic).
  llvm::SmallVector<int64_t> domainShape;
  /// Axes of the domain that the reductions of the group reduce, ascending; empty for maps. In a
  /// group with a mask: all axes if it reduces, else empty.
  llvm::SmallVector<int64_t> reducedAxes;
  /// Every outside operand is contiguous with the domain's shape or repeats one element, and the
  /// group reduces all axes or none: the domain is one flat axis.
  bool isFlat = false;
  /// Values from outside: their stride along the domain's vector axis, or along the flat axis. Any
  /// when absent. Zero is taken without being told for values that are statically 1 along that
  /// axis.
  llvm::DenseMap<mlir::Value, tracert::InnerStride> innerStrides;
  /// set_subtensor: stride of the written view along the vector axis.
  tracert::InnerStride setInnerStride = tracert::InnerStride::Any;
  /// Values computed inside that have one element per selected element of the mask.
  llvm::DenseSet<mlir::Value> compacted;
  /// Results of the group that something else than a size op reads; of a mask read at least one,
  /// for its count, if nothing is reduced.
  llvm::SmallVector<mlir::Value> outputs;
};

GroupShape analyzeGroup(GroupOp group, const SizeAnalysis &sizes);

} // namespace tracec::trace
