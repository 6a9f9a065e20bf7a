/// Functions on tensors with the user's semantics: promotion, axis normalisation, Python scalars.
///
///   Operand operands[] = {Operand::tensor(x), Operand::scalar(pythonInt)};
///   TRACERT_ASSIGN(Value y, pointwise(OpKind::add, operands));
///
/// Used by the bindings and by C++ users alike; every function returns a Status worded for the
/// user.
#pragma once

#include "tracec/Tensor.h"

#include <string>

namespace tracec {

/// A Python bool, int, float: promotes as semantics §2 group S.
struct PythonScalar {
  enum class Kind : uint8_t { Bool, Int, Float } kind = Kind::Int;
  int64_t intValue = 0;
  double floatValue = 0;
  /// An int outside int64: `floatValue` holds it rounded, and its sign is that of floatValue. One
  /// that uint64 holds has its bits in `intValue`, which of others is 0.
  bool isBigInt = false;

  bool isUInt64() const { return isBigInt && intValue != 0; }
};

/// A tensor (or array: group T) or a Python scalar (group S).
struct Operand {
  Value value;
  PythonScalar scalar;
  bool isScalar = false;
  static Operand of(Value v) { return {std::move(v), {}, false}; }
  static Operand of(PythonScalar s) { return {{}, s, true}; }
};

/// The dtype that semantics §2 gives for operands together; InvalidType / InvalidArgument if none.
Result<DType> promote(std::span<const Operand> operands);
/// A scalar as a rank-0 value of `dtype`, a constant of the active trace; Overflow when an int does
/// not fit.
Result<Value> scalarValue(const PythonScalar &scalar, DType dtype);
Result<Value> castTo(Value value, DType dtype);
/// A size (rank 0, int64) cast as Python's number would be converted: Overflow when an integer
/// dtype does not hold it, in a replay when the size becomes known.
Result<Value> sizeAs(Value size, DType dtype);

/// Any op of family Elementwise, Compare, Logical or Select: promotion, casts, dispatch.
/// True division and float functions of integers give float32 (of 64 bits: float64).
Result<Value> pointwise(tracert::OpKind kind, std::span<const Operand> operands);
/// x op= y: the result of `pointwise` cast to x's dtype, which must be a same-kind cast and x's
/// shape, written to x.
Status inPlace(tracert::OpKind kind, Tensor &x, const Operand &y);

/// axes: nullopt means all. Negative axes are normalised. dtype (sum only): accumulate in it.
Result<Value> reduce(tracert::OpKind kind, const Value &x, const std::optional<Dims> &axes,
                     bool keepdims, std::optional<DType> dtype);
Result<Value> matmul(const Operand &x, const Operand &y);
/// nullopt: all elements of all operands, in one axis.
Result<Value> concat(std::span<const Operand> operands, std::optional<int64_t> axis);
Result<Values> condTake(const Value &mask, const Value &x);

/// A size in a shape argument: a literal, or a rank-0 int64 value (tc.Size, a tensor).
struct SizeArg {
  int64_t literal = 0;
  Value value;
};
/// The `shape` attribute and the extra operands that it takes.
struct ShapeArgs {
  Dims shape;
  Values extras;
};
ShapeArgs makeShapeArgs(std::span<const SizeArg> sizes);

/// The path step (for Tensor::view) of each view function; axes may be negative.
Result<OpCall> permuteCall(const Value &x, const std::optional<Dims> &axes);
OpCall reshapeCall(const Dims &shape);
OpCall broadcastToCall(const Dims &shape);

Result<Value> full(const ShapeArgs &shape, const PythonScalar &value, DType dtype);
Result<Value> arange(const PythonScalar &start, const PythonScalar &stop, const PythonScalar &step,
                     std::optional<DType> dtype);
/// The value of a rank-0 integer (a host read when it is pending).
Result<int64_t> hostInt(const Value &value);
/// Product of the sizes of `axes`, as a recorded rank-0 int64.
Result<Value> axisSize(const Value &x, const Dims &axes);

/// x[items]: dispatches subtensor or indexing_multi_axis_vec.
Result<Value> getItem(const Value &x, const std::shared_ptr<const tracert::IndexItems> &items,
                      std::span<const Value> extras);

/// A set with an update (OpInfo::update: incr_subtensor) of x: `value`, cast to x's dtype
/// (InvalidType unless of the same kind) and broadcast onto x[items] (InvalidArgument), is combined
/// with the elements there, once for each time that the index names one.
Result<Value> updated(tracert::OpKind set, const Value &x,
                      const std::shared_ptr<const tracert::IndexItems> &items, const Operand &value,
                      std::span<const Value> extras);
/// The same, written to x.
Status updateInPlace(tracert::OpKind set, Tensor &x,
                     const std::shared_ptr<const tracert::IndexItems> &items, const Operand &value,
                     std::span<const Value> extras);

/// A Python scalar as setitem's right-hand side (semantics §3: int out of range Overflow, float
/// truncates, NaN to int InvalidArgument, inf to int Overflow).
Result<Value> setItemScalar(const PythonScalar &scalar, DType dtype);

} // namespace tracec
