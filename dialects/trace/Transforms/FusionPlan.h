/// The cut of a function into nodes: groups that become kernels, and single ops.
///
///   FusionPlan plan(function, options); for (unsigned node : plan.order()) { ... }
///
/// Every node has a level; what a node reads lies on lower levels, so the cut has no cycles. An op
/// joins the groups of its operands when domains agree and all of them can be on one level; a group
/// may be lifted to a higher level while nothing that reads it lies at or below that level.
/// In-place sets read everything that reads their old memory, which orders them after it.
#pragma once

#include "trace/Transforms/GroupAnalysis.h"

namespace tracec::trace {

class FusionPlan {
public:
  FusionPlan(mlir::func::FuncOp function, bool groupEachOp);

  struct Node {
    /// Program order.
    llvm::SmallVector<mlir::Operation *> ops;
    bool isGroup = false;
  };
  /// In an order that respects data and memory, close to program order.
  std::vector<Node> takeNodes();

private:
  struct Group {
    unsigned parent;
    bool isGroup = false;
    /// Sizes of the iteration domain.
    llvm::SmallVector<DimExpr> domain;
    mlir::Value mask;
    llvm::SmallVector<int64_t> reducedAxes;
    unsigned level = 0;
    /// Lowest level of a node that reads this one.
    unsigned lowestReader = UINT_MAX;
    unsigned opCount = 0;
    unsigned sinkCount = 0;
    /// Nodes that must run before, beside the producers of operands.
    llvm::SmallVector<unsigned> readersBefore;
  };
  /// What a value is to the group that computes it.
  enum class Kind : uint8_t { Full, Compacted, Reduced, Other };
  struct Place {
    unsigned group;
    Kind kind;
  };

  /// One op on its way into a group.
  struct Joining {
    mlir::Operation *op;
    GroupRole role;
    llvm::SmallVector<DimExpr> domain;
    /// What its result will be.
    Kind kind = Kind::Full;
    /// It works on what a mask has selected, in the domain of the mask.
    bool joinsCompacted = false;
    /// Its own group, and those that become one with it.
    unsigned node = 0;
    llvm::SmallVector<unsigned> joined = {};
  };

  void visit(mlir::Operation *op);
  void startGroup(Joining &joining, llvm::ArrayRef<unsigned> found);
  void setDomain(const Joining &joining);
  void joinFitting(Joining &joining, llvm::ArrayRef<unsigned> found);
  void leaveStuck(Joining &joining);
  bool readsUnfinished(const Joining &joining);
  void place(const Joining &joining);
  /// The lowest level on which the op can be, with the groups that it joins.
  unsigned levelOf(const Joining &joining);
  std::vector<Node> inOrder(std::vector<Node> nodes,
                            const llvm::DenseMap<unsigned, unsigned> &nodeOfGroup);
  void placeSingle(mlir::Operation *op);
  unsigned root(unsigned group);
  unsigned newGroup();
  /// The groups that `op` could join, most recent level first.
  llvm::SmallVector<unsigned> candidates(mlir::Operation *op, GroupRole role,
                                         llvm::ArrayRef<DimExpr> domain, Kind &resultKind);
  bool canMerge(unsigned a, unsigned b);
  void merge(unsigned into, unsigned from);
  void noteReads(mlir::Operation *op, unsigned group);

  SizeAnalysis sizes;
  mlir::Block &block;
  bool groupEachOp;
  std::vector<Group> groups;
  llvm::DenseMap<mlir::Value, Place> places;
  llvm::DenseMap<mlir::Operation *, unsigned> groupOfOp;
  llvm::DenseMap<mlir::Value, unsigned> groupOfMask;
  /// Memory classes (see trace-mark-in-place) and who reads each.
  llvm::DenseMap<mlir::Value, unsigned> memoryOf;
  std::vector<llvm::SmallVector<unsigned>> memoryReaders;
};

} // namespace tracec::trace
