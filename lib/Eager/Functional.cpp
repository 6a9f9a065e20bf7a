#include "tracec/Functional.h"

#include "Eager/Evaluate.h"
#include "Eager/ScalarConversion.h"
#include "tracert/Element.h"

#include <algorithm>

namespace tracec {

using tracert::AttrValue;
using tracert::OpFamily;
using tracert::OpKind;

namespace {

Result<Value> operandAs(const Operand &operand, DType dtype) {
  if (operand.isScalar) {
    return scalarValue(operand.scalar, dtype);
  }
  return castTo(operand.value, dtype);
}

/// An int that the tensor's dtype cannot hold lies beyond all its elements: its sign decides.
Result<Value> compareWithOutside(OpKind kind, std::span<const Operand> operands, DType dtype) {
  Values inputs;
  for (const Operand &operand : operands) {
    if (operand.isScalar) {
      bool isBelow =
          operand.scalar.isBigInt ? operand.scalar.floatValue < 0 : operand.scalar.intValue < 0;
      PythonScalar sign{PythonScalar::Kind::Int, isBelow ? -1 : 1, 0, false};
      TRACERT_ASSIGN(Value one, scalarValue(sign, DType::Int64));
      inputs.push_back(std::move(one));
      continue;
    }
    TRACERT_ASSIGN(Value same, castTo(operand.value, dtype));
    TRACERT_ASSIGN(Value wide, castTo(std::move(same), DType::Int64));
    TRACERT_ASSIGN(Value zero, scalarValue({PythonScalar::Kind::Int, 0, 0, false}, DType::Int64));
    Value pair[] = {std::move(wide), std::move(zero)};
    TRACERT_ASSIGN(Value zeros, dispatchOne({OpKind::mul, {}}, pair));
    inputs.push_back(std::move(zeros));
  }
  return dispatchOne({kind, {}}, inputs);
}

/// Exact, and not in float64, which is what uint64 and a signed integer promote to: where the
/// signed one is negative, 1 and 0 stand for the two.
Result<Value> compareMixedSigns(OpKind kind, std::span<const Operand> operands) {
  size_t negativeAt = isSigned(operands[0].value->dtype()) ? 0 : 1;
  const Value &mayBeNegative = operands[negativeAt].value;
  PythonScalar zero{PythonScalar::Kind::Int, 0, 0, false};
  TRACERT_ASSIGN(Value none, scalarValue(zero, mayBeNegative->dtype()));
  Value test[] = {mayBeNegative, std::move(none)};
  TRACERT_ASSIGN(Value isNegative, dispatchOne({OpKind::lt, {}}, test));
  Values inputs;
  for (size_t i = 0; i < 2; ++i) {
    PythonScalar standIn{PythonScalar::Kind::Int, i == negativeAt ? 0 : 1, 0, false};
    TRACERT_ASSIGN(Value other, scalarValue(standIn, DType::UInt64));
    TRACERT_ASSIGN(Value bits, castTo(operands[i].value, DType::UInt64));
    Value choice[] = {isNegative, std::move(other), std::move(bits)};
    TRACERT_ASSIGN(Value chosen, dispatchOne({OpKind::where, {}}, choice));
    inputs.push_back(std::move(chosen));
  }
  return dispatchOne({kind, {}}, inputs);
}

/// Comparisons that no dtype would answer exactly; nullopt: `dtype` does, which starts as the
/// promoted one.
Result<std::optional<Value>> compareExactly(OpKind kind, std::span<const Operand> operands,
                                            DType &dtype) {
  DType promoted = dtype;
  for (const Operand &operand : operands) {
    if (!operand.isScalar || fitsDType(operand.scalar, promoted)) {
      continue;
    }
    if (operand.scalar.isBigInt || promoted == DType::UInt64) {
      TRACERT_ASSIGN(Value result, compareWithOutside(kind, operands, promoted));
      return std::optional(std::move(result));
    }
    dtype = DType::Int64;
  }
  bool areIntegers = std::all_of(operands.begin(), operands.end(), [](const Operand &operand) {
    return !operand.isScalar && isInteger(operand.value->dtype());
  });
  if (areIntegers && isFloat(promoted)) {
    TRACERT_ASSIGN(Value result, compareMixedSigns(kind, operands));
    return std::optional(std::move(result));
  }
  return std::optional<Value>();
}

Result<Dims> normalizeAxes(const std::optional<Dims> &axes, size_t rank, std::string_view opName) {
  Dims result;
  if (!axes) {
    for (size_t i = 0; i < rank; ++i) {
      result.push_back(static_cast<int64_t>(i));
    }
    return result;
  }
  int64_t signedRank = static_cast<int64_t>(rank);
  for (int64_t axis : *axes) {
    if (axis < -signedRank || axis >= signedRank) {
      return Status::axisOutOfRange("'" + std::string(opName) + "' axis " + std::to_string(axis) +
                                    " is out of range for rank " + std::to_string(rank));
    }
    int64_t positive = axis < 0 ? axis + signedRank : axis;
    if (std::find(result.begin(), result.end(), positive) != result.end()) {
      return Status::invalidArgument("'" + std::string(opName) + "' axis " + std::to_string(axis) +
                                     " is given twice");
    }
    result.push_back(positive);
  }
  return result;
}

/// In a replay a count is not known yet; the set op that follows checks it when it runs.
bool mayBeSameShape(const Dims &a, const Dims &b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](int64_t x, int64_t y) {
    return x == y || x == tracert::kUnknownDim || y == tracert::kUnknownDim;
  });
}

} // namespace

Result<Value> pointwise(OpKind kind, std::span<const Operand> operands) {
  const tracert::OpInfo &info = tracert::opInfo(kind);
  if (info.family == OpFamily::Logical) {
    Values inputs;
    for (const Operand &operand : operands) {
      TRACERT_ASSIGN(Value input, operandAs(operand, DType::Bool));
      inputs.push_back(std::move(input));
    }
    return dispatchOne({kind, {}}, inputs);
  }
  if (info.family == OpFamily::Select) {
    TRACERT_ASSIGN(Value condition, operandAs(operands[0], DType::Bool));
    std::span<const Operand> branches = operands.subspan(1);
    Result<DType> promoted = promote(branches);
    if (!promoted.ok()) {
      // Two Python scalars: their own default dtype.
      auto top = std::max(branches[0].scalar.kind, branches[1].scalar.kind);
      promoted = top == PythonScalar::Kind::Bool  ? DType::Bool
                 : top == PythonScalar::Kind::Int ? DType::Int32
                                                  : DType::Float32;
    }
    TRACERT_ASSIGN(Value whenTrue, operandAs(branches[0], *promoted));
    TRACERT_ASSIGN(Value whenFalse, operandAs(branches[1], *promoted));
    Value inputs[] = {std::move(condition), std::move(whenTrue), std::move(whenFalse)};
    return dispatchOne({kind, {}}, inputs);
  }
  TRACERT_ASSIGN(DType dtype, promote(operands));
  if (info.family == OpFamily::Compare) {
    TRACERT_ASSIGN(std::optional<Value> exact, compareExactly(kind, operands, dtype));
    if (exact) {
      return std::move(*exact);
    }
  }
  bool isFloatOnly = (info.dtypes & tracert::dtypeBit(DType::Int32)) == 0 &&
                     (info.dtypes & tracert::dtypeBit(DType::Float32)) != 0;
  if (isFloatOnly) {
    dtype = tracert::quotientDType(dtype);
  }
  Value inputs[3];
  for (size_t i = 0; i < operands.size(); ++i) {
    TRACERT_ASSIGN(inputs[i], operandAs(operands[i], dtype));
  }
  return dispatchOne({kind, {}}, {inputs, operands.size()});
}

Status inPlace(OpKind kind, Tensor &x, const Operand &y) {
  TRACERT_ASSIGN(Value old, x.read());
  DType dtype = old->dtype();
  Dims shape = old->shape();
  Operand operands[] = {Operand::of(std::move(old)), y};
  std::string name(tracert::opInfo(kind).name);
  // Type errors come before any computation that could be large.
  TRACERT_ASSIGN(DType promoted, promote(operands));
  if (!isSameKindCast(promoted, dtype)) {
    return Status::invalidType(
        "'" + name + "' in place gives " + std::string(dtypeName(promoted)) +
        ", which cannot be stored in a " + std::string(dtypeName(dtype)) + " tensor; write x = x " +
        "op y, or convert the operand with .astype(tc." + std::string(dtypeName(dtype)) + ")");
  }
  TRACERT_ASSIGN(Value result, pointwise(kind, operands));
  if (!isSameKindCast(result->dtype(), dtype)) {
    return Status::invalidType("'" + name + "' in place gives " +
                               std::string(dtypeName(result->dtype())) +
                               ", which cannot be stored in a " + std::string(dtypeName(dtype)) +
                               " tensor; write x = x op y instead");
  }
  if (!mayBeSameShape(shape, result->shape())) {
    return tracert::shapeWouldChange(shape, result->shape());
  }
  bool isNumber = y.isScalar || y.value->shape().empty();
  if (!isNumber) {
    TRACERT_TRY(stack().expectSameShape(operands[0].value, result));
  }
  TRACERT_ASSIGN(result, castTo(std::move(result), dtype));
  operands[0].value = Value();
  return x.assign(std::move(result));
}

Result<Value> reduce(OpKind kind, const Value &x, const std::optional<Dims> &axes, bool keepdims,
                     std::optional<DType> dtype) {
  TRACERT_ASSIGN(Dims normalized,
                 normalizeAxes(axes, x->shape().size(), tracert::opInfo(kind).name));
  std::sort(normalized.begin(), normalized.end());
  Value input = x;
  if (dtype) {
    TRACERT_ASSIGN(input, castTo(std::move(input), *dtype));
  }
  OpCall call{kind, {AttrValue::ints(std::move(normalized)), AttrValue::boolean(keepdims)}};
  TRACERT_ASSIGN(Value result, dispatchOne(call, {&input, 1}));
  return dtype ? castTo(std::move(result), *dtype) : std::move(result);
}

Result<Value> matmul(const Operand &x, const Operand &y) {
  Operand operands[] = {x, y};
  for (const Operand &operand : operands) {
    if (operand.isScalar) {
      return Status::invalidArgument("'matmul' expects tensors of rank 1 or more, got a number; "
                                     "use * to scale");
    }
  }
  TRACERT_ASSIGN(DType dtype, promote(operands));
  TRACERT_ASSIGN(Value left, castTo(x.value, dtype));
  TRACERT_ASSIGN(Value right, castTo(y.value, dtype));
  Value inputs[] = {std::move(left), std::move(right)};
  return dispatchOne({OpKind::matmul, {}}, inputs);
}

Result<Value> concat(std::span<const Operand> operands, std::optional<int64_t> axis) {
  if (operands.empty()) {
    return Status::invalidArgument("'concat' expects at least one tensor, got an empty list");
  }
  TRACERT_ASSIGN(DType dtype, promote(operands));
  Values inputs;
  for (const Operand &operand : operands) {
    TRACERT_ASSIGN(Value input, operandAs(operand, dtype));
    if (!axis) {
      TRACERT_ASSIGN(input, dispatchOne(reshapeCall(Dims{-1}), {&input, 1}));
    }
    inputs.push_back(std::move(input));
  }
  size_t rank = inputs.front()->shape().size();
  if (rank == 0) {
    return Status::invalidArgument("'concat' expects tensors of rank 1 or more, got rank 0; use "
                                   "x.reshape(1) first, or axis=None");
  }
  TRACERT_ASSIGN(Dims axes, normalizeAxes(Dims{axis.value_or(0)}, rank, "concat"));
  return dispatchOne({OpKind::concat, {AttrValue::integer(axes[0])}}, inputs);
}

Result<Values> condTake(const Value &mask, const Value &x) {
  if (mask->dtype() != DType::Bool) {
    return Status::invalidType("'cond_take' expects a bool mask, got " + mask->type().str() +
                               "; write mask != 0");
  }
  Value inputs[] = {mask, x};
  return dispatch({OpKind::cond_take, {}}, inputs);
}

ShapeArgs makeShapeArgs(std::span<const SizeArg> sizes) {
  ShapeArgs args;
  for (const SizeArg &size : sizes) {
    args.shape.push_back(size.value ? tracert::kFromOperand : size.literal);
    if (size.value) {
      args.extras.push_back(size.value);
    }
  }
  return args;
}

Result<OpCall> permuteCall(const Value &x, const std::optional<Dims> &axes) {
  size_t rank = x->shape().size();
  Dims order;
  if (!axes) {
    for (size_t i = rank; i-- > 0;) {
      order.push_back(static_cast<int64_t>(i));
    }
  } else {
    TRACERT_ASSIGN(order, normalizeAxes(axes, rank, "permute"));
    if (order.size() != rank) {
      return Status::invalidArgument("'permute' expects " + std::to_string(rank) +
                                     " axes for rank " + std::to_string(rank) + ", got " +
                                     std::to_string(order.size()));
    }
  }
  return OpCall{OpKind::permute, {AttrValue::ints(std::move(order))}};
}

OpCall reshapeCall(const Dims &shape) { return {OpKind::reshape, {AttrValue::ints(shape)}}; }

OpCall broadcastToCall(const Dims &shape) {
  return {OpKind::broadcast_to, {AttrValue::ints(shape)}};
}

Result<int64_t> hostInt(const Value &value) {
  TRACERT_ASSIGN(Value host, stack().onHostRead(value));
  if (!host->shape().empty() || !isInteger(host->dtype())) {
    return Status::invalidType("expected an integer of rank 0, got " + host->type().str());
  }
  return tracert::integerAt(host->view().data, host->dtype());
}

Result<Value> axisSize(const Value &x, const Dims &axes) {
  return dispatchOne({OpKind::axis_size, {AttrValue::ints(axes)}}, {&x, 1});
}

Result<Value> getItem(const Value &x, const std::shared_ptr<const tracert::IndexItems> &items,
                      std::span<const Value> extras) {
  Values operands{x};
  operands.insert(operands.end(), extras.begin(), extras.end());
  OpKind kind = items->isBasic() ? OpKind::subtensor : OpKind::indexing_multi_axis_vec;
  return dispatchOne({kind, {AttrValue::index(items)}}, operands);
}

namespace {

/// The value of the update `set` of x, in x's dtype.
Result<Value> updateValue(OpKind set, const Value &x, const Operand &value) {
  Operand operands[] = {Operand::of(x), value};
  TRACERT_ASSIGN(DType promoted, promote(operands));
  if (!isSameKindCast(promoted, x->dtype())) {
    std::string dtype(dtypeName(x->dtype()));
    return Status::invalidType("'" + std::string(tracert::opInfo(set).name) + "' of a " + dtype +
                               " tensor gives " + std::string(dtypeName(promoted)) +
                               ", which it cannot store; convert the value with .astype(tc." +
                               dtype + ")");
  }
  return operandAs(value, x->dtype());
}

} // namespace

Result<Value> updated(OpKind set, const Value &x,
                      const std::shared_ptr<const tracert::IndexItems> &items, const Operand &value,
                      std::span<const Value> extras) {
  TRACERT_ASSIGN(Value converted, updateValue(set, x, value));
  Values operands{x, std::move(converted)};
  operands.insert(operands.end(), extras.begin(), extras.end());
  return dispatchOne({set, {AttrValue::index(items)}}, operands);
}

Status updateInPlace(OpKind set, Tensor &x, const std::shared_ptr<const tracert::IndexItems> &items,
                     const Operand &value, std::span<const Value> extras) {
  TRACERT_ASSIGN(Value old, x.read());
  TRACERT_ASSIGN(Value converted, updateValue(set, old, value));
  old = Value();
  return x.setBy({set, {AttrValue::index(items)}}, std::move(converted), extras);
}

} // namespace tracec
