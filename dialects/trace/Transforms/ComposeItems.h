/// x[inner][outer] as one basic index, for all sizes that dynamic axes may have.
///
///   IndexWithOperands one = *composeBasic({innerItems, innerOperands}, {outerItems, ...}, shape);
///
/// Nullopt when the bounds do not compose for every size, or when a position might be out of range
/// (its error must name the size that the user's index met).
#pragma once

#include "trace/IR/OpBridge.h"

namespace tracec::trace {

struct IndexWithOperands {
  tracert::IndexItems items;
  llvm::SmallVector<mlir::Value> operands;
};

/// The index of an Indexing op.
IndexWithOperands indexOf(mlir::Operation *op);

/// `shape`: sizes of x, ShapedType::kDynamic where dynamic.
std::optional<IndexWithOperands> composeBasic(const IndexWithOperands &inner,
                                              const IndexWithOperands &outer,
                                              llvm::ArrayRef<int64_t> shape);

bool isFullSlice(const tracert::IndexItem &item);
/// x[a][b] for slices of an axis of `size` (or ShapedType::kDynamic).
std::optional<tracert::IndexItem> composeSlices(const tracert::IndexItem &a,
                                                const tracert::IndexItem &b, int64_t size);
/// x[a][i] where i is an Int item that is known to be in range.
std::optional<tracert::IndexItem> composeInt(const tracert::IndexItem &a,
                                             const tracert::IndexItem &position, int64_t size);

/// x[gather][outer] as x[view][gather]: the indexed axes are kept whole and where they are.
struct SlicedGather {
  tracert::IndexItems view;
  tracert::IndexItems gather;
};
/// For a gather by one array or mask with slices beside it; nullopt also when nothing is gained.
std::optional<SlicedGather> sliceThenGather(const IndexWithOperands &gather,
                                            const tracert::IndexItems &outer,
                                            llvm::ArrayRef<int64_t> shape);

} // namespace tracec::trace
