/// GroupLowering: builds the kernel of one fusion group. Private to the conversion; one file per
/// family of ops.
#pragma once

#include "Conversion/TraceToKernel/FusionGroup.h"

#include "trace/IR/OpBridge.h"

#include "llvm/ADT/DenseSet.h"

namespace tracec {

class GroupLowering {
public:
  GroupLowering(const FusionGroup &group, mlir::ModuleOp module);
  tracert::Result<LoweredGroup> run();

private:
  // GroupLowering.cpp: domain, accesses, outputs.
  tracert::Status readDomain();
  tracert::Status lowerOp(mlir::Operation *op);
  tracert::Status storeOutputs();
  void chooseSplit();
  float cost();
  /// The element of a value at the point: from inside, or a load.
  tracert::Result<mlir::Value> element(mlir::Value value);
  mlir::BlockArgument addAccess(tracert::AccessKind kind, mlir::Value value,
                                tracert::InnerStride stride, int64_t indexedAxes = 0);
  mlir::Type elementTypeOf(mlir::Value value) const;
  tracert::InnerStride strideOf(mlir::Value value) const;
  bool isInside(mlir::Value value) const { return elements.contains(value); }
  bool isCompacted(mlir::Value value) const { return compacted.contains(value); }

  // Pointwise.cpp
  tracert::Status lowerPointwise(mlir::Operation *op, const tracert::OpInfo &info);
  tracert::Status lowerFull(mlir::Operation *op);
  // Reduce.cpp
  tracert::Status lowerReduce(mlir::Operation *op);
  // Indexing.cpp
  tracert::Status lowerGather(mlir::Operation *op);
  tracert::Status lowerMaskRead(mlir::Operation *op, mlir::Value mask, mlir::Value operand);
  tracert::Status lowerCondTake(mlir::Operation *op);
  tracert::Status lowerSet(mlir::Operation *op);
  tracert::Result<mlir::Value> useMask(mlir::Operation *op, mlir::Value mask);

  const FusionGroup &group;
  mlir::ModuleOp module;
  mlir::OpBuilder builder;
  LoweredGroup lowered;
  llvm::SmallVector<int64_t> domain;
  /// As vectorAxisOf; -1 for rank 0.
  int64_t vectorAxis = -1;
  llvm::DenseMap<mlir::Value, mlir::Value> elements;
  llvm::DenseSet<mlir::Value> compacted;
  /// Reductions: what is combined, until the split says what the access holds.
  struct PendingReduction {
    mlir::Operation *op;
    const tracert::ReductionInfo *info;
    mlir::Value value;
    bool isMasked;
  };
  llvm::SmallVector<PendingReduction> reductions;
  /// The trace value that selects, and its element.
  mlir::Value maskValue, maskElement;
  bool hasSet = false;
};

/// An error that says which op cannot be in the kernel, and why.
tracert::Status notInKernel(mlir::Operation *op, const std::string &why);

} // namespace tracec
