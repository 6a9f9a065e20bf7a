/// KernelLowering: one kernel.func becomes loops of vector instructions. Private to the conversion.
///
///   KernelLowering(func, config).run();
///
/// Loop order: kept axes outermost in C order, then reduced axes in C order; unit axes make no
/// loop. The vector axis gets a loop of full vectors and a tail; in outer-order reductions the
/// loops over the reduced rows lie inside it, with one chain per lane.
#pragma once

#include "Conversion/KernelToVector/KernelToVector.h"
#include "Conversion/KernelToVector/VectorBuilder.h"

namespace tracec {

/// Where the nest stands: pointers and indices move as loops are entered.
struct NestPoint {
  /// Per access; per lane offsets along the vector axis are not in it.
  llvm::SmallVector<mlir::Value> pointers;
  /// Per access: the element, loaded before the vector loop, where its stride there is zero.
  llvm::SmallVector<mlir::Value> hoisted;
  /// Per axis; null for unit axes and axes not entered yet.
  llvm::SmallVector<mlir::Value> indices;
  Lanes lanes;
  /// sequence_blocks: the block.
  mlir::Value block;
};

struct Reduction {
  enum Form {
    /// Ordered, of floats, in inner order: through a block buffer in scratch; carries its count.
    Sequence,
    /// Ordered, of floats, in outer order: carries a chain per lane.
    Columns,
    /// The order has no effect: carries a vector of partial results.
    AnyOrder
  };
  mutable kernel::ReduceOp op;
  const tracert::ReductionInfo *info = nullptr;
  Form form = AnyOrder;
  tracert::DType input, accumulator, output;
  /// In scratch; Sequence and Columns.
  mlir::Value state;
};

class KernelLowering {
public:
  KernelLowering(kernel::FuncOp func, const LaneConfig &config);
  mlir::LogicalResult run();

private:
  using Values = llvm::SmallVector<mlir::Value>;

  // KernelLowering.cpp: the frame and the loops.
  void readFrame();
  mlir::LogicalResult planReductions();
  void emitKernel();
  Values emitLevel(size_t level, const NestPoint &point, mlir::ValueRange carried);
  Values emitLoop(size_t level, const NestPoint &point, mlir::ValueRange carried);
  Values emitVectorLoop(size_t level, NestPoint point, mlir::ValueRange carried);
  NestPoint enter(const NestPoint &point, int64_t axis, mlir::Value index);
  void hoistLoads(NestPoint &point);
  std::pair<mlir::Value, mlir::Value> bounds(int64_t axis);

  // BodyLowering.cpp: the ops at one point.
  Values emitBody(const NestPoint &point, mlir::ValueRange carried);
  mlir::Value emitLoad(const NestPoint &point, mlir::BlockArgument access);
  mlir::Value emitGather(const NestPoint &point, kernel::GatherOp op);
  mlir::Value emitApply(kernel::ApplyOp apply, int64_t lanes);
  void emitStore(const NestPoint &point, mlir::BlockArgument access, mlir::Value value);
  /// `selected`: how many elements were selected before this point.
  void emitCompact(const NestPoint &point, kernel::CompactOp compact, mlir::Value selected);
  /// A bit per lane that the mask selects; made once per point.
  mlir::Value bitsOfMask(const NestPoint &point);
  mlir::Value position(const NestPoint &point);
  /// Byte offsets of the lanes of an access along the vector axis.
  mlir::Value laneOffsets(const NestPoint &point, unsigned access);
  mlir::Value lookup(mlir::Value value) { return mapping.lookup(value); }

  // ReductionLowering.cpp
  Values beginReductions(const NestPoint &point);
  mlir::Value accumulate(const Reduction &reduction, const NestPoint &point, mlir::Value carried,
                         mlir::Value terms, mlir::Value value);
  void finishReductions(const NestPoint &point, mlir::ValueRange carried);
  mlir::Value joinLanes(const Reduction &reduction, mlir::Value vector);
  int64_t carriedLanes(const Reduction &reduction, const NestPoint &point) const;
  mlir::Value identity(const Reduction &reduction, int64_t lanes);
  llvm::StringRef combiner(const Reduction &reduction) const;

  kernel::FuncOp func;
  LaneConfig config;
  mlir::OpBuilder builder;
  mlir::Location loc;
  mlir::LLVM::LLVMFuncOp lowered;
  std::optional<VectorBuilder> build;

  int64_t rank, vectorAxis;
  /// Axes in loop order.
  llvm::SmallVector<int64_t> order;
  size_t vectorLevel = 0, carryLevel = 0;
  bool isInnerOrder = true, hasCheckedGather = false;
  mlir::Value mask;

  mlir::Value frame, scratch;
  Values sizes;                                       // per axis, null for unit axes
  llvm::SmallVector<Values> strides;                  // per access and axis
  llvm::SmallVector<Values> gatherSizes, gatherSteps; // per access
  mlir::Value begin, end;
  /// Bounds of the vector axis inside a block; null elsewhere.
  mlir::Value blockBegin, blockEnd;
  llvm::SmallVector<Reduction> reductions;
  bool hasColumns = false;
  /// From kernel values to lanes, at the point being emitted.
  llvm::DenseMap<mlir::Value, mlir::Value> mapping;
  /// Of that point; see bitsOfMask().
  mlir::Value selectedBits;
};

} // namespace tracec
