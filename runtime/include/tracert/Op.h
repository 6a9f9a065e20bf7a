/// Op kinds, what is known about each, attributes, and OpCall.
///
///   OpCall call{OpKind::sum, {AttrValue::ints({0}), AttrValue::boolean(true)}};
///   if (opInfo(call.kind).isElementwise()) { ... }
///
/// Everything here that depends on the list of ops is generated from dialects/trace/IR/TraceOps.td
/// (tracert generated/Ops.inc). Attributes are stored by position in the order of the .td record;
/// the generated accessors (generated/OpAttrs.h, e.g. `attrs::sum::axes(call)`) name the positions.
/// An operand or shape entry that is read from a rank-0 int64 operand at run time is kFromOperand.
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

enum class OpKind : uint16_t {
#define TRACERT_OP(name, ...) name,
#include "tracert/generated/Ops.inc"
#undef TRACERT_OP
};

/// Set in the .td; code asks for a family or a trait, never for a list of names.
enum class OpFamily : uint8_t {
  Elementwise, // same dtype in and out, operands broadcast
  Compare,     // same dtype in, bool out, operands broadcast
  Logical,     // bool in and out, operands broadcast
  Select,      // where: bool, T, T -> T
  Cast,
  Reduce,
  Shape,  // views: reshape permute broadcast_to
  Join,   // concat
  Create, // full arange
  Matmul,
  Indexing, // subtensor, indexing_multi_axis_vec and their sets
  Compress, // cond_take
  Size,     // axis_size: a rank-0 int64 known as soon as types are
  Guard,    // refuse a call whose sizes or strides would take another way than the record
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
};

/// Stored in files; never renumber.
enum class AttrKind : uint8_t { Int = 0, Bool = 1, DType = 2, Ints = 3, Scalar = 4, Index = 5 };

struct AttrSpec {
  std::string_view name;
  AttrKind kind;
};

struct OpInfo {
  std::string_view name;
  OpFamily family;
  uint32_t traits;
  /// Fixed operands; -1: variadic (concat). Extra size and index operands follow the fixed ones.
  int8_t operandCount;
  int8_t resultCount;
  /// Bit (1 << DType) for each element type that operand 0 may have.
  uint32_t dtypes;
  const AttrSpec *attrs;
  uint8_t attrCount;
  /// Version of the op's meaning; a loader refuses newer ones.
  uint8_t version;
  /// Row in the elementwise tables (order of generated/ElementwiseOps.inc), -1 if not in it.
  int16_t elementwiseIndex;

  bool has(OpTrait trait) const { return (traits & trait) != 0; }
  bool isPointwise() const { return has(kTraitPointwise); }
};

/// Never fails: kinds come from code or from opKindFromName.
TRACERT_API const OpInfo &opInfo(OpKind kind);
TRACERT_API int opCount();
/// nullopt if this build has no such op.
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

class AttrValue {
public:
  AttrValue() = default;
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

  AttrKind kind() const { return tag; }
  int64_t asInt() const { return static_cast<int64_t>(scalarPart.bits); }
  bool asBool() const { return scalarPart.bits != 0; }
  DType asDType() const { return scalarPart.dtype; }
  const Dims &asInts() const { return intsPart; }
  const Scalar &asScalar() const { return scalarPart; }
  const IndexItems &asIndex() const { return *indexPart; }
  const std::shared_ptr<const IndexItems> &sharedIndex() const { return indexPart; }

  /// Bitwise: NaN equals itself, -0.0 differs from 0.0, dtypes must match.
  friend bool operator==(const AttrValue &a, const AttrValue &b) {
    return a.tag == b.tag && a.scalarPart == b.scalarPart && a.intsPart == b.intsPart &&
           (a.indexPart == b.indexPart ||
            (a.indexPart && b.indexPart && *a.indexPart == *b.indexPart));
  }

private:
  explicit AttrValue(AttrKind kind) : tag(kind) {}
  AttrKind tag = AttrKind::Int;
  Scalar scalarPart;
  Dims intsPart;
  std::shared_ptr<const IndexItems> indexPart;
};

using AttrList = std::vector<AttrValue>;

/// An op with its attributes, about to run; operands travel beside it.
struct OpCall {
  OpKind kind;
  AttrList attrs;

  const OpInfo &info() const { return opInfo(kind); }
  friend bool operator==(const OpCall &a, const OpCall &b) = default;
};

/// 'sum(axes=[0], keepdims=true)' for messages and dumps.
TRACERT_API std::string opCallString(const OpCall &call);

} // namespace tracert
