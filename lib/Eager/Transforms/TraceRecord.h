/// What one specialisation of a traced function recorded: its steps, the slots through which
/// outside values come in, and the segments that are compiled and run as Programs.
#pragma once

#include "tracec/Functional.h"
#include "tracec/Tensor.h"
#include "tracec/Trace.h"

#include <map>
#include <optional>
#include <vector>

namespace tracec {

/// Where an outside value comes from on each call.
struct TraceSlot {
  enum class Kind : uint8_t {
    /// The value of argument tensor `argument`.
    Argument,
    /// The value of the cell that argument `argument`, a view, belongs to.
    ArgumentBase,
    /// The value of `cell`, which the function reached by itself.
    Captured,
    /// A value that entered in the middle (from an excluded region); bound at its first use.
    Loose,
  };
  Kind kind = Kind::Argument;
  uint32_t argument = 0;
  CellRef cell;
  VarId var = 0;
  /// Steps recorded when the value came in.
  uint32_t firstStep = 0;
  /// In the recorded call.
  bool isContiguous = true;
};

inline constexpr uint32_t kNoGuard = ~0u;

/// How a constant was written in Python, so that 1, True and 1.0 differ.
enum class ConstantTag : uint8_t { PythonBool, PythonInt, PythonFloat, Array };

struct ConstantStep {
  ConstantTag tag = ConstantTag::Array;
  PythonScalar scalar; // unless Array
  Value value;
  VarId var = 0;
  tracert::SourceLoc loc;
};

struct OpStep {
  OpCall call;
  std::vector<VarId> operands;
  std::vector<VarId> results;
  tracert::SourceLoc loc;
  tracert::IndexMode indexMode = tracert::IndexMode::Checked;
  /// A view op gave a view; false: it had to copy.
  bool isAlias = false;
  /// Into TraceRecord::guards: the guard on isAlias where Python's result hangs on it.
  uint32_t guard = kNoGuard;
};

/// What the record took for granted about sizes, strides and size values: a call of the op in the
/// graphs that are compiled. A replay that knows the sizes takes the decision anew instead.
struct TraceGuard {
  OpCall call;
  std::vector<VarId> operands;
  tracert::SourceLoc loc;
  /// Steps and segments recorded when the decision was taken.
  uint32_t afterStep = 0;
  uint32_t segment = 0;
  /// A replay knows the sizes only after it has computed something.
  bool hangsOnData = false;
  /// A file needs it: the decision changes what the function computes.
  bool isInFile = true;

  bool isOnValue() const { return !call.info().has(tracert::kTraitSizeOnly); }
  bool isOnStrides() const { return call.info().hasAttr(tracert::AttrName::layout); }
};

struct TraceStep {
  bool isConstant = false;
  /// Into TraceRecord::constants or ::ops; ops are numbered by this index in messages.
  uint32_t index = 0;
};

/// Steps [first, end) up to a host read, an excluded region or the end of the call.
struct TraceSegment {
  uint32_t firstStep = 0;
  uint32_t endStep = 0;
  /// Defined before the segment, constants excepted.
  std::vector<VarId> inputs;
  /// Values that Python still held at the end of the segment.
  std::vector<VarId> outputs;
  /// What ended it, for messages.
  tracert::SourceLoc endLoc;
  bool endsInExcluded = false;
};

/// What came in through a slot in the recorded call: small values are kept, others are found again
/// as long as the caller keeps the tensor, so that a trace pins no large memory.
struct RecordedInput {
  Value value;
  WeakTensor tensor;
};

/// A cell from outside that the call wrote, and the last value it got.
struct TraceWrite {
  uint32_t slot = 0;
  VarId var = 0;
};

/// What of a tensor must be the same for a record to serve a call: sizes may differ, but not
/// between 1 and more.
struct TypeKey {
  DType dtype = DType::Float32;
  size_t rank = 0;
  uint64_t onesMask = 0;
  static TypeKey of(DType dtype, const Dims &shape);
  static TypeKey of(const TensorType &type) { return of(type.dtype, type.shape); }
  friend bool operator==(const TypeKey &, const TypeKey &) = default;
};

/// How a call's arguments look; what CallArguments says without the data.
struct CallSignature {
  std::string structure;
  /// See Transform::traceKey().
  std::string transforms;
  /// Per argument, the first one with its cell, the first one that is the very same tensor, and
  /// whether it is a view.
  std::vector<uint32_t> cellOf;
  std::vector<uint32_t> sameAs;
  std::vector<uint8_t> isView;
  std::vector<TypeKey> types;
  friend bool operator==(const CallSignature &, const CallSignature &) = default;
};

/// Which guards a graph holds.
enum class GuardSet : uint8_t {
  None,
  /// Those that a replay cannot decide while Python runs.
  OnData,
  /// All that a file needs.
  InFile,
};

struct TraceRecord {
  CallSignature signature;
  std::vector<std::string> argumentNames;
  std::vector<TensorType> vars;
  std::vector<TraceSlot> slots;
  std::vector<ConstantStep> constants;
  std::vector<OpStep> ops;
  std::vector<TraceStep> steps;
  std::vector<TraceGuard> guards;
  /// (var, axis) -> the guard on whether its size is 1.
  std::map<std::pair<VarId, size_t>, uint32_t> guardsOnOne;
  std::vector<TraceSegment> segments;
  std::vector<TraceWrite> writes;
  /// Vars of the tensors that the function returned; ~0 for one that is not of this trace.
  std::vector<VarId> results;
  /// By slot, to make test vectors from the recorded call.
  std::vector<RecordedInput> recordedInputs;

  /// ~0: defined by an op or a constant.
  std::vector<uint32_t> slotOfVar;
  /// Per var, a bit per axis whose size is 1 in every call with this signature. A slice or a mask
  /// may give size 1 by chance.
  std::vector<uint64_t> alwaysOnes;
  /// Into `constants`; ~0: no constant.
  std::vector<uint32_t> constantOfVar;

  /// See TracedFunction::sharesArguments().
  bool sharesArguments() const;
  /// The bits of alwaysOnes for the op's results; none if they cannot be told.
  std::vector<uint64_t> alwaysOnesOf(const OpStep &op, size_t resultCount) const;
  /// A graph of the steps [first, end), for the compiler or for printing. `inputTypes`: of the call
  /// that it is made for; empty: as recorded.
  TraceGraph graph(const std::string &name, uint32_t first, uint32_t end,
                   const std::vector<VarId> &inputs, const std::vector<VarId> &outputs,
                   GuardSet guards, std::span<const TensorType> inputTypes = {}) const;
  /// The first op from `step` on; the number of ops when there is none.
  uint32_t opAfter(uint32_t step) const;
  /// All segments as one graph; inputs are the slots in order.
  TraceGraph wholeGraph(const std::string &name) const;
  /// Fills constantOfVar and segments' inputs and guards once all steps are known.
  void completeSegments();

private:
  void findSegmentInputs();
  void giveSegmentInputs();
  void findGuardsOnData();
};

/// "file.py:12", or "an unknown line".
std::string locationText(const tracert::SourceLoc &loc);
/// Sets lastTraceMismatch() and makes the status; `detail` says both sides, `advice` what to do.
Status traceMismatch(TraceMismatch mismatch, const std::string &detail, const std::string &advice);

} // namespace tracec
