/// The arithmetic over sizes that type rules are written in, once for numbers and once for symbols.
///
///   template <class M> Result<typename M::Shape> rule(const M &math, ...) {
///     if (math.refuses(math.equal(a, b))) { return Status::invalidArgument(...); }
///
/// A math gives `Dim`, `Shape` (a vector of Dims), `Type` (dtype and Shape), `Operand` (a Type and
/// perhaps its value) and `Types`. NumberMath is what eager, loader and executor use: a Dim is an
/// int64, kUnknownDim while it is not known. The compiler's math has dims that are expressions of
/// symbols (dialects/trace). What a rule may ask of a math is what NumberMath has.
#pragma once

#include "ops/ShapeMath.h"

namespace tracert::rules {

enum class Truth : uint8_t { No, Yes, Undecided };

inline Truth truthOf(bool holds) { return holds ? Truth::Yes : Truth::No; }
inline Truth both(Truth a, Truth b) {
  if (a == Truth::No || b == Truth::No) {
    return Truth::No;
  }
  return a == Truth::Yes ? b : a;
}
inline Truth operator!(Truth truth) {
  return truth == Truth::Undecided ? truth : truthOf(truth == Truth::No);
}

class NumberMath {
public:
  using Dim = int64_t;
  using Shape = Dims;
  using Type = TensorType;
  using Operand = OperandInfo;
  using Types = ResultTypes;

  NumberMath() = default;
  /// With the counts of a data-dependent op, in the order of its masks.
  explicit NumberMath(std::span<const int64_t> counts) : counts(counts) {}

  Dim number(int64_t size) const { return size; }
  /// A size of which nothing is known.
  Dim unknown() const { return kUnknownDim; }

  Truth equal(Dim a, Dim b) const {
    if (a == b && a != kUnknownDim) {
      return Truth::Yes;
    }
    return isUnknown(a) || isUnknown(b) ? Truth::Undecided : Truth::No;
  }
  /// Whether what a call is checked for does not hold. What cannot be decided passes: the rule runs
  /// again when it can.
  bool refuses(Truth holds) const { return holds == Truth::No; }
  /// The same for two sizes that must be equal.
  bool refusesEqual(Dim a, Dim b) const { return refuses(equal(a, b)); }
  /// The same for an axis of size `from` that is repeated to `to`.
  bool refusesRepeat(Dim from, Dim to) const { return from != 1 && refusesEqual(from, to); }

  /// What NumPy's broadcasting gives for one axis; nullopt for two sizes that do not go together.
  std::optional<Dim> broadcast(Dim a, Dim b) const { return broadcastDim(a, b); }
  /// One of two sizes that were checked to be equal.
  Dim either(Dim a, Dim b) const { return isUnknown(a) ? b : a; }
  /// Nullopt when it does not fit int64; so is a product.
  std::optional<Dim> sum(Dim a, Dim b) const {
    if (isUnknown(a) || isUnknown(b)) {
      return kUnknownDim;
    }
    Dim result;
    return __builtin_add_overflow(a, b, &result) ? std::nullopt : std::optional(result);
  }
  std::optional<Dim> product(std::span<const Dim> dims) const { return checkedProduct(dims); }
  /// Nullopt unless `b` goes into `a` without a rest.
  std::optional<Dim> quotient(Dim a, Dim b) const {
    if (isUnknown(a) || isUnknown(b)) {
      return kUnknownDim;
    }
    return a % b == 0 ? std::optional(a / b) : std::nullopt;
  }
  /// How many elements a slice takes from an axis; a bound may be unknown.
  Dim sliced(const IndexItem &item, std::optional<Dim> begin, std::optional<Dim> end,
             Dim size) const {
    if (isUnknown(size) || !begin || !end) {
      return size == 0 ? 0 : kUnknownDim;
    }
    return resolveSlice(item, *begin, *end, size).count;
  }
  Truth isPosition(std::optional<Dim> position, Dim size) const {
    if (!position || isUnknown(size)) {
      return Truth::Undecided;
    }
    return truthOf(resolveIndex(*position, size));
  }
  /// True elements of mask number `number`.
  Dim count(const Operand &, size_t number) const {
    return counts && number < counts->size() ? (*counts)[number] : kUnknownDim;
  }
  Status checkCounts(const OpCall &call, size_t wanted) const {
    if (!counts || counts->size() == wanted) {
      return {};
    }
    return Status::internal(opPrefix(call) + "takes " + std::to_string(wanted) + " counts, got " +
                            std::to_string(counts->size()));
  }

  // Values of size operands, which are numbers of either sign and never unknown.
  Truth valueEquals(Dim value, int64_t number) const { return truthOf(value == number); }
  Truth isNegative(Dim value) const { return truthOf(value < 0); }

  // Strides in bytes, and counts of elements that are known to fit.
  Dim times(Dim a, Dim b) const { return a * b; }
  /// `stride` along the steps of a slice. As in NumPy it keeps the step for any count; a huge step
  /// of one element may wrap.
  Dim stepped(Dim stride, int64_t step) const {
    Dim result;
    return multiply(stride, step, result) ? result : 0;
  }
  Truth isSameStride(Dim a, Dim b) const { return truthOf(a == b); }
  Truth isBelow(Dim a, Dim b) const { return truthOf(a < b); }

  /// What a guard asks of whole shapes, strides and sizes.
  Status checkGuard(const OpCall &call, std::span<const Operand> operands) const;
  Status checkLimits(const OpCall &call, const Type &type) const {
    return rules::checkLimits(call, type);
  }
  std::string text(Dim dim) const { return std::to_string(dim); }
  std::string text(const Shape &shape) const { return shapeString(shape); }
  std::string denseText(const Shape &shape) const { return denseShapeString(shape); }
  /// " of 6 elements", or nothing while that is not known.
  std::string countText(const Shape &shape) const;

private:
  std::optional<std::span<const int64_t>> counts;
};

template <class M> using OperandsOf = std::span<const typename M::Operand>;
template <class M> using TypesOr = Result<typename M::Types>;

/// The shape that broadcasting gives; nullopt when two sizes do not go together.
template <class M>
std::optional<typename M::Shape> broadcastOf(const M &math, const typename M::Shape &a,
                                             const typename M::Shape &b) {
  size_t rank = std::max(a.size(), b.size());
  typename M::Shape shape(rank, math.number(1));
  for (size_t fromEnd = 1; fromEnd <= rank; ++fromEnd) {
    typename M::Dim dimA = fromEnd <= a.size() ? a[a.size() - fromEnd] : math.number(1);
    typename M::Dim dimB = fromEnd <= b.size() ? b[b.size() - fromEnd] : math.number(1);
    std::optional<typename M::Dim> dim = math.broadcast(dimA, dimB);
    if (!dim) {
      return std::nullopt;
    }
    shape[rank - fromEnd] = *dim;
  }
  return shape;
}

/// Whether `from` does not broadcast to exactly `to`.
template <class M>
bool refusesRepeat(const M &math, const typename M::Shape &from, const typename M::Shape &to) {
  if (from.size() > to.size()) {
    return true;
  }
  size_t added = to.size() - from.size();
  for (size_t axis = 0; axis < from.size(); ++axis) {
    if (math.refusesRepeat(from[axis], to[axis + added])) {
      return true;
    }
  }
  return false;
}

/// The attribute `shape` of an op, sizes from operands put in.
template <class M> struct TakenSizes {
  /// Holds -1 where the size is inferred.
  typename M::Shape shape;
  std::optional<size_t> inferred;
  bool infersTwice = false;
};

/// `sizes` with each kFromOperand entry replaced by the next operand from `firstExtra` on. A -1 is
/// a size to infer if `mayInfer`, else an error.
template <class M>
Result<TakenSizes<M>> takeSizes(const M &math, const OpCall &call, const Dims &sizes,
                                OperandsOf<M> operands, size_t firstExtra, bool mayInfer = false) {
  TakenSizes<M> taken;
  size_t next = firstExtra;
  for (int64_t entry : sizes) {
    typename M::Dim size = math.number(entry);
    if (entry == kFromOperand) {
      const typename M::Operand &operand = operands[next++];
      if (operand.type.rank() != 0 || operand.type.dtype != DType::Int64) {
        return Status::invalidType(
            opPrefix(call) + "size operand must be an int64 of rank 0, got " + operand.type.str());
      }
      if (!operand.sizeValue) {
        taken.shape.push_back(math.unknown());
        continue;
      }
      size = *operand.sizeValue;
    }
    if (mayInfer && math.valueEquals(size, -1) == Truth::Yes) {
      taken.infersTwice = taken.infersTwice || taken.inferred;
      taken.inferred = taken.shape.size();
      taken.shape.push_back(size);
      continue;
    }
    if (math.refuses(!math.isNegative(size))) {
      return Status::invalidArgument(opPrefix(call) + "sizes must not be negative, got " +
                                     math.text(size));
    }
    bool mayBeInferred = mayInfer && math.valueEquals(size, -1) == Truth::Undecided;
    taken.shape.push_back(mayBeInferred ? math.unknown() : size);
  }
  return taken;
}

} // namespace tracert::rules
