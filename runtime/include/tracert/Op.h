/// Op kinds, what is known about each, attributes, and OpCall.
///
///   OpCall call{OpKind::sum, {AttrValue::ints({0}), AttrValue::boolean(true)}};
///   if (opInfo(call.kind).isElementwise()) { ... }
///
/// Everything here that depends on the list of ops is generated from dialects/trace/IR/TraceOps.td
/// (tracert generated/*.inc). Attributes are stored in the order of the .td record and read by
/// name: the generated readers (generated/OpAttrs.h, e.g. `attrs::axes(call)`) work for every op
/// that has the attribute. A shape entry that is read from a rank-0 int64 operand at run time is
/// kFromOperand.
#pragma once

#include "tracert/Export.h"
#include "tracert/IndexItems.h"
#include "tracert/Tensor.h"

#include <bit>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tracert {

/// In the attributes `shape` of reshape, broadcast_to and full: the size is the next extra operand
/// (rank-0 int64), in order, after the op's fixed operands.
inline constexpr int64_t kFromOperand = INT64_MIN;

/// Numbers are private to a build: files and code name ops.
enum class OpKind : uint16_t {
#define TRACERT_OP(name, ...) name,
#include "tracert/generated/Ops.inc"
#undef TRACERT_OP
};

/// Set in the .td; code asks for a family or a trait, never for a list of names.
enum class OpFamily : uint8_t {
#define TRACERT_FAMILY(name, ...) name,
#include "tracert/generated/Families.inc"
#undef TRACERT_FAMILY
};

enum OpTrait : uint32_t {
  /// Computes each output element from the operand elements at the same (broadcast) position.
  kTraitPointwise = 1u << 0,
  /// The result may be a strided view of operand 0.
  kTraitView = 1u << 1,
  /// Operand 0 is the old value of a tensor and the result is that tensor with some elements
  /// replaced; runs in place when operand 0 dies here.
  kTraitSet = 1u << 2,
  /// A result dim depends on operand data.
  kTraitDataDependentShape = 1u << 3,
  /// Replaced by other ops before execution; has no kernel and no lowering.
  kTraitComposite = 1u << 4,
  /// a op b == b op a, bit for bit.
  kTraitCommutative = 1u << 5,
  /// Can fail on operand data (out-of-range index), so it is kept even when its result is unused.
  kTraitMayFail = 1u << 6,
  /// The result is known once operand types and operand size values are known.
  kTraitSizeOnly = 1u << 7,
  /// A view op whose view rule refuses some strides, so that it copies.
  kTraitMayCopy = 1u << 8,
  /// Of index ops: slices, ints and new axes only.
  kTraitBasicIndex = 1u << 9,
  /// A view of all elements, with the axes in the order of the attribute `axes`.
  kTraitPermutes = 1u << 10,
  /// A read-only view that repeats elements along new axes and axes of size 1.
  kTraitRepeats = 1u << 11,
  /// All elements in row-major order, under another shape.
  kTraitKeepsOrder = 1u << 12,
  /// Every element is the attribute `value`.
  kTraitFill = 1u << 13,
};

/// Stored in files; never renumber.
enum class AttrKind : uint8_t {
  Int = 0,
  Bool = 1,
  DType = 2,
  Ints = 3,
  Scalar = 4,
  Index = 5,
  Float = 6,
  String = 7
};

/// The names of all attributes; private to a build.
enum class AttrName : uint8_t {
#define TRACERT_ATTR_NAME(name) name,
#include "tracert/generated/AttrNames.inc"
#undef TRACERT_ATTR_NAME
};

struct AttrSpec {
  std::string_view name;
  AttrKind kind;
  AttrName id;
  /// Python's spelling of the default; empty: there is none. See defaultAttr.
  std::string_view defaultText = {};
  /// Ints: entries may be kFromOperand.
  bool isShape = false;
  /// String: the values that it may have, separated by '|'; empty: any.
  std::string_view values = {};

  bool allows(std::string_view value) const;
};

/// How the dtype of a result follows from a call; see resultDType.
enum class ResultRule : uint8_t {
  SameAs0,
  SameAs1,
  Bool,
  Int64,
  Widened,
  Averaged,
  FromDType,
  FromValue,
  FromStart
};

/// The accumulator that a combiner leaves every other unchanged with.
enum class ReductionStart : uint8_t {
  /// 0, and -0.0 of floats.
  Zero,
  One,
  /// The smallest value of the dtype, -inf of floats; false.
  Lowest,
  Highest,
  /// There is none: the first element.
  First
};

/// What a reduction of no elements is.
enum class EmptyReduction : uint8_t { Error, Zero, Start };

/// The combiner of a reduction, from its record: cores, joins and lowerings are made from it.
struct ReductionInfo {
  /// Joins two accumulators. Of an indexed reduction: whether its first operand replaces the
  /// second.
  OpKind combiner;
  ReductionStart start;
  EmptyReduction empty;
  /// Rounding makes the order count: it is that of scalar/Numbers.md. Else any order gives the
  /// same.
  bool isOrdered;
  /// Accumulates in accumulateDType; otherwise in the operand's dtype.
  bool isWidened;
  /// The result is the position of the element, in C order over the reduced axes, not its value.
  bool isIndexed;
  /// Row in the tables of reductions (order of generated/Reductions.inc).
  int8_t index;

  DType accumulator(DType operand) const { return isWidened ? accumulateDType(operand) : operand; }
  /// The dtype of the values that it gives (an indexed reduction has none).
  DType result(DType operand) const { return isFloat(operand) ? operand : accumulator(operand); }
};

/// What the elements of an operand must be, checked before the op's kernel writes anything.
enum class ElementRule : uint8_t {
  None,
  /// An integer that the attribute `dtype` holds; Overflow.
  FitsDType
};

struct OperandSpec {
  std::string_view name;
  /// Bit (1 << DType) for each element type that the operand may have.
  uint32_t dtypes;
};

struct OpInfo {
  std::string_view name;
  OpFamily family;
  uint32_t traits;
  /// Fixed operands; -1: variadic (concat). Extra size and index operands follow the fixed ones.
  int8_t operandCount;
  int8_t resultCount;
  /// Bit (1 << DType) for each element type that the op is about: of its operands, or of the
  /// result of an op without operands.
  uint32_t dtypes;
  /// Per fixed operand; null if variadic or none.
  const OperandSpec *operands;
  const ResultRule *results;
  const AttrSpec *attrs;
  uint8_t attrCount;
  /// Version of the op's meaning; a loader refuses newer ones.
  uint8_t version;
  /// Row in the elementwise tables (order of generated/ElementwiseOps.inc), -1 if not in it.
  int16_t elementwiseIndex;
  /// Null for ops that have no combiner.
  const ReductionInfo *reduction;
  /// Of kTraitSet ops: the pointwise op that makes the new element from the old one and the value;
  /// nullopt: the value replaces it.
  std::optional<OpKind> update = {};
  ElementRule elementRule = ElementRule::None;
  uint8_t checkedOperand = 0;

  bool has(OpTrait trait) const { return (traits & trait) != 0; }
  bool isPointwise() const { return has(kTraitPointwise); }
  bool isReplacingSet() const { return has(kTraitSet) && !update; }
  /// A read by slices, ints and new axes: a view. Other reads copy.
  bool isBasicRead() const { return family == OpFamily::Indexing && has(kTraitView); }
  bool isAdvancedRead() const {
    return family == OpFamily::Indexing && !has(kTraitView) && !has(kTraitSet);
  }
  bool checksElements() const { return elementRule != ElementRule::None; }
  bool hasAttr(AttrName attr) const { return attrPosition(attr) >= 0; }
  /// Where the attribute is stored, -1 if the op has none of the name.
  int attrPosition(AttrName attr) const {
    for (int i = 0; i < attrCount; ++i) {
      if (attrs[i].id == attr) {
        return i;
      }
    }
    return -1;
  }
};

/// Never fails: kinds come from code or from opKindFromName.
TRACERT_API const OpInfo &opInfo(OpKind kind);
TRACERT_API int opCount();
/// nullopt if this build has no such op. Takes constant time.
TRACERT_API std::optional<OpKind> opKindFromName(std::string_view name);

/// A constant of any dtype: the element's bytes, little endian, in the low bytes of bits.
struct Scalar {
  DType dtype = DType::Float32;
  uint64_t bits = 0;

  template <class T> static Scalar of(DType dtype, T value) {
    Scalar scalar{dtype, 0};
    static_assert(sizeof(T) <= sizeof(uint64_t));
    std::memcpy(&scalar.bits, &value, sizeof(T));
    return scalar;
  }
  template <class T> T as() const {
    T value;
    std::memcpy(&value, &bits, sizeof(T));
    return value;
  }
  friend bool operator==(const Scalar &, const Scalar &) = default;
};

class TRACERT_API AttrValue {
public:
  AttrValue() = default;
  // Not inline: copies and destructors of lists of attributes are everywhere, and seldom hot.
  AttrValue(const AttrValue &);
  AttrValue(AttrValue &&) noexcept;
  AttrValue &operator=(const AttrValue &);
  AttrValue &operator=(AttrValue &&) noexcept;
  ~AttrValue();

  static AttrValue integer(int64_t v) {
    AttrValue a(AttrKind::Int);
    a.scalarPart.bits = static_cast<uint64_t>(v);
    return a;
  }
  static AttrValue boolean(bool v) {
    AttrValue a(AttrKind::Bool);
    a.scalarPart.bits = v;
    return a;
  }
  static AttrValue dtype(DType v) {
    AttrValue a(AttrKind::DType);
    a.scalarPart.dtype = v;
    return a;
  }
  static AttrValue ints(Dims v) {
    AttrValue a(AttrKind::Ints);
    a.intsPart = std::move(v);
    return a;
  }
  static AttrValue scalar(Scalar v) {
    AttrValue a(AttrKind::Scalar);
    a.scalarPart = v;
    return a;
  }
  static AttrValue index(std::shared_ptr<const IndexItems> v) {
    AttrValue a(AttrKind::Index);
    a.indexPart = std::move(v);
    return a;
  }
  static AttrValue number(double v) {
    AttrValue a(AttrKind::Float);
    a.scalarPart.bits = std::bit_cast<uint64_t>(v);
    return a;
  }
  static AttrValue text(std::string v) {
    AttrValue a(AttrKind::String);
    a.textPart = std::make_shared<const std::string>(std::move(v));
    return a;
  }

  AttrKind kind() const { return tag; }
  int64_t asInt() const { return static_cast<int64_t>(scalarPart.bits); }
  bool asBool() const { return scalarPart.bits != 0; }
  DType asDType() const { return scalarPart.dtype; }
  const Dims &asInts() const { return intsPart; }
  const Scalar &asScalar() const { return scalarPart; }
  const IndexItems &asIndex() const { return *indexPart; }
  const std::shared_ptr<const IndexItems> &sharedIndex() const { return indexPart; }
  double asNumber() const { return std::bit_cast<double>(scalarPart.bits); }
  const std::string &asText() const { return *textPart; }
  bool hasText() const { return textPart != nullptr; }

  /// Bitwise: NaN equals itself, -0.0 differs from 0.0, dtypes must match.
  friend bool operator==(const AttrValue &a, const AttrValue &b) {
    return a.tag == b.tag && a.scalarPart == b.scalarPart && a.intsPart == b.intsPart &&
           (a.indexPart == b.indexPart ||
            (a.indexPart && b.indexPart && *a.indexPart == *b.indexPart)) &&
           (a.textPart == b.textPart || (a.textPart && b.textPart && *a.textPart == *b.textPart));
  }

private:
  explicit AttrValue(AttrKind kind) : tag(kind) {}
  AttrKind tag = AttrKind::Int;
  Scalar scalarPart;
  Dims intsPart;
  std::shared_ptr<const IndexItems> indexPart;
  std::shared_ptr<const std::string> textPart;
};

using AttrList = std::vector<AttrValue>;

/// An op with its attributes, about to run; operands travel beside it.
struct OpCall {
  OpKind kind;
  AttrList attrs;

  const OpInfo &info() const { return opInfo(kind); }
  /// The op has an attribute of that name.
  const AttrValue &attr(AttrName name) const {
    return attrs[static_cast<size_t>(info().attrPosition(name))];
  }
  friend bool operator==(const OpCall &a, const OpCall &b) = default;
};

/// What a call that lacks the attribute means; nullopt if the attribute must be given.
TRACERT_API std::optional<AttrValue> defaultAttr(const AttrSpec &spec);

/// The element in which an accumulator of `dtype` starts; `start` is not First.
TRACERT_API Scalar reductionStart(ReductionStart start, DType dtype);

/// 'sum(axes=[0], keepdims=true)' for messages and dumps.
TRACERT_API std::string opCallString(const OpCall &call);

} // namespace tracert
