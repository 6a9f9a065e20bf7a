/// What eager, dialect, importer, loader and executor must agree on about an op: the result types
/// (type rules), the result as a strided view (view rules), and the resolution of indices.
///
///   OperandInfo operands[] = {{type0}, {type1}};
///   TRACERT_ASSIGN(ResultTypes types, inferTypes(call, operands));
///
/// Plain functions of types and attributes: no data is read except size values that the caller
/// passes in OperandInfo. A dim may be kUnknownDim; rules then check what can be checked and give
/// kUnknownDim for what cannot be known. Broadcasting an unknown dim with a known dim d > 1 gives d
/// (the executor re-runs the rule, and with it eager's check, when the dim becomes known); with 1
/// or with another unknown dim it gives kUnknownDim. Errors are worded as the user sees them, e.g.
/// `'add' operands of shape (3,) and (4,) do not broadcast`.
#pragma once

#include "tracert/Export.h"
#include "tracert/IndexMath.h"
#include "tracert/Op.h"
#include "tracert/Status.h"

#include <optional>
#include <span>

namespace tracert {

struct OperandInfo {
  TensorType type;
  /// The value, when the operand is a rank-0 integer whose value is known (size operands).
  std::optional<int64_t> sizeValue = std::nullopt;
  /// Bytes along each axis, when the operand is an input of the program whose strides are known.
  const Dims *strides = nullptr;
};

using ResultTypes = std::vector<TensorType>;

/// Checks operand count, dtypes, attributes and shapes; returns one type per result.
/// For ops with kTraitDataDependentShape the dims that depend on data are kUnknownDim.
TRACERT_API Result<ResultTypes> inferTypes(const OpCall &call,
                                           std::span<const OperandInfo> operands);

/// For data-dependent ops, the number of selected elements has become known.
/// `counts` has one entry per mask item of the index (indexing_multi_axis_vec), or one (cond_take).
/// Checks that counts and index arrays broadcast together (IndexError otherwise).
TRACERT_API Result<ResultTypes> inferTypesWithCounts(const OpCall &call,
                                                     std::span<const OperandInfo> operands,
                                                     std::span<const int64_t> counts);

/// The value of a kTraitSizeOnly op.
TRACERT_API Result<int64_t> inferSizeValue(const OpCall &call,
                                           std::span<const OperandInfo> operands);

/// For kTraitView ops: the result as strides over operand 0's memory, or nullopt when the strides
/// do not allow it (reshape) and the op must copy. `sizeOperands` are the values of the extra
/// operands. Checks Int positions (IndexError with axis, index and size).
TRACERT_API Result<std::optional<TensorView>> viewOf(const OpCall &call, const TensorView &operand,
                                                     std::span<const int64_t> sizeOperands);

/// Appends to `layout` how the result of a view op lies in its operand, as the op guard_view reads
/// it: for slices and permutations axes and steps.
TRACERT_API void appendViewLayout(const OpCall &call, size_t operandRank, Dims &layout);

/// The error of an operator in place whose result has another shape than its tensor.
TRACERT_API Status shapeWouldChange(const Dims &from, const Dims &to);

/// The Overflow error of a Python integer that `dtype` does not hold.
TRACERT_API Status integerDoesNotFit(const std::string &integer, DType dtype);

/// The shape that broadcasting gives, by NumPy's rule, or an error naming the op and both shapes.
TRACERT_API Result<Dims> broadcastShapes(std::string_view opName, const Dims &a, const Dims &b);

/// `view` with the strides (0 on repeated axes) that make it have `shape`. The caller has checked
/// that it broadcasts.
TRACERT_API TensorView broadcastView(const TensorView &view, const Dims &shape);

/// Where an advanced index reads or writes: the base with the axes that index operands select taken
/// out, and one entry per selected axis. Masks must have been turned into their nonzero arrays.
struct IndexAccess {
  /// Strides of operand 0 along each RESULT axis (0 on the axes that index arrays span), and data
  /// moved to the start given by slices and ints; shape is the result shape.
  TensorView base;
  struct IndexedAxis {
    /// The int array (rank-0 for an Int beside arrays) broadcast onto the result shape.
    TensorView indices;
    /// Axis of operand 0, for messages.
    int axis;
    int64_t size;
    /// Bytes between neighbours of operand 0 along that axis.
    int64_t stride;
  };
  std::vector<IndexedAxis> axes;
  /// Result axes [advancedBegin, advancedEnd) are those that the index arrays span.
  size_t advancedBegin = 0;
  size_t advancedEnd = 0;
};
/// `extras` are the views of the item operands in item order, a mask replaced by as many rank-1
/// int64 arrays as it has axes (in its place; a rank-0 mask by none, its count in `rank0Counts`).
TRACERT_API Result<IndexAccess> indexAccess(const IndexItems &items, const TensorView &operand,
                                            std::span<const TensorView> extras,
                                            std::span<const int64_t> rank0Counts);

} // namespace tracert
