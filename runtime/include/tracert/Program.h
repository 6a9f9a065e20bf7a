/// Program: what the executor runs, in memory or read from a file. Plain data, immutable once
/// built.
///
///   Program
///     values      every SSA value: dtype and dims (kUnknownDim where dynamic)
///     ops         the canonical ops in order, on values: the meaning of the program
///     sections    schedules over those ops: one portable, any number of native
///
/// The ops ARE the portable section: running each with its library kernel gives the result on any
/// machine. A native section is another schedule over the same ops: some run inside compiled
/// kernels. Types, source lines and checks belong to the ops, so they are the same on every path,
/// and a launch can always be replaced by its ops (that is how a kernel whose stride assumptions do
/// not hold for some call is handled, and how a difference is bisected).
#pragma once

#include "tracert/Export.h"
#include "tracert/Kernels.h"

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace tracert {

using ValueId = uint32_t;
using OpIndex = uint32_t;
inline constexpr uint32_t kNoIndex = UINT32_MAX;

struct ValueDef {
  DType dtype = DType::Float32;
  /// kUnknownDim where the size is known only at run time.
  Dims dims;
};

struct SourceLoc {
  std::string file;
  int32_t line = 0;
};

struct OpDef {
  OpCall call;
  std::vector<ValueId> operands;
  std::vector<ValueId> results;
  /// Ids of the recorded ops this op came from (canonicalisation may merge several).
  std::vector<uint32_t> sourceOps;
  /// Index into Program::locs, or kNoIndex.
  uint32_t loc = kNoIndex;
  IndexMode indexMode = IndexMode::Checked;
  /// kTraitSet ops: operand 0's old value is not read by anything later, so write in place if
  /// nothing outside the program can see its memory.
  bool inPlace = false;
};

//===----------------------------------------------------------------------===//
// Native sections
//===----------------------------------------------------------------------===//

/// Assumption that generated code makes about the stride of an access along the vector axis: the
/// innermost axis of the domain whose declared size is not 1 (along the flat axis of flat kernels).
/// Checked when a call is bound; the launch is replaced by its ops when it does not hold. Does not
/// concern CompactStore, and ReduceStore along a reduced axis.
enum class InnerStride : uint8_t { Zero = 0, Contiguous = 1, Any = 2 };

enum class AccessKind : uint8_t {
  /// Reads `value`, broadcast onto the domain.
  Load = 0,
  /// Reads operand 0 of the advanced read `op`: base strides from indexAccess; the pointer and the
  /// gathers entries come from it. Its index arrays are separate Load-like accesses that follow
  /// (kind Index), one per indexed axis, in order.
  Gather = 1,
  Index = 2,
  /// Writes `value` (contiguous, domain shape or, for reductions, the result shape).
  Store = 3,
  /// Writes the elements where the mask is true, packed; `value` is rank 1.
  CompactStore = 4,
  /// Writes the reduction of the domain's reduced axes.
  ReduceStore = 5,
  /// Writes through the view that the items of the set_subtensor `op` select in its result, over
  /// the domain. The executor has made the result (in place, or a copy of the old value) before.
  SetStore = 6,
};

struct KernelAccess {
  AccessKind kind = AccessKind::Load;
  ValueId value = 0;
  /// Gather, Index and SetStore: the op whose items are meant.
  OpIndex op = kNoIndex;
  /// Index: which indexed axis of `op`.
  uint8_t indexedAxis = 0;
  InnerStride innerStride = InnerStride::Any;
};

/// What the kernel's begin/end range splits.
enum class KernelSplit : uint8_t {
  /// Never split.
  None = 0,
  /// Domain axis 0 (which is not reduced).
  OuterAxis = 1,
  /// Blocks of 4096 elements of one sequence, all axes reduced; each ReduceStore pointer then
  /// points
  /// at an array of one partial per block (entry i for block i), which the executor joins: for sum
  /// of accumulateDType(operand) by the fixed tree, for max of the operand's dtype.
  SequenceBlocks = 2,
};

struct KernelDef {
  std::string name;
  /// Byte offset of the entry in the section's code.
  uint64_t codeOffset = 0;
  /// The domain is the shape of this value (an operand of, or a value inside, the covered ops), or
  /// with kNoIndex what the items of the SetStore access's op select ...
  ValueId domainValue = 0;
  /// ... with its axes flattened into one when `isFlat` (then every access is contiguous or rank
  /// 0).
  bool isFlat = false;
  uint8_t domainRank = 0;
  /// Reduced axes of the domain (before flattening), ascending; empty for maps.
  Dims reducedAxes;
  std::vector<KernelAccess> accesses;
  KernelSplit split = KernelSplit::None;
  /// Masked kernels: the value whose unknown dim is the count that the kernel returns, so that no
  /// separate count pass is needed; kNoIndex when there is none or a count is needed before.
  ValueId countValue = kNoIndex;
  /// Estimated cost per domain element, for the decision to use threads.
  float nanosecondsPerElement = 1.0f;
};

enum class InstructionKind : uint8_t {
  /// Runs one op with its library kernel (or as a view).
  RunOp = 0,
  /// Gives the results of an op their types, with all checks of eager's rule (count dims that meet
  /// another dim among them: this is the dim check), without computing anything. For ops inside
  /// kernels. `op`.
  CheckTypes = 1,
  /// Runs kernels[index], which covers ops [firstCovered, firstCovered + coveredCount) of
  /// coveredOps: results of those that are used outside are written by its accesses.
  Launch = 2,
  /// Reserved, not written by version 1: Loop = 3, If = 4, HostRead = 5.
};

struct Instruction {
  InstructionKind kind = InstructionKind::RunOp;
  /// RunOp, CheckTypes: an op. Launch: a kernel.
  uint32_t index = 0;
  uint32_t firstCovered = 0;
  uint32_t coveredCount = 0;
};

struct Block {
  std::vector<Instruction> instructions;
};

class Device;
class DeviceCode;

/// A section's code where it can run: loaded by the first executor of a device that runs the
/// section, shared by all of that device, unloaded with the last. The one part of a Program that
/// changes; thread safe. A copy of a section starts without any, since its code may be changed.
class SharedCode {
public:
  SharedCode() = default;
  SharedCode(const SharedCode &) {}
  SharedCode &operator=(const SharedCode &other) {
    if (this != &other) {
      std::lock_guard lock(mutex);
      loaded.clear();
    }
    return *this;
  }
  /// As Device::load, when no executor of the device holds it already.
  Result<std::shared_ptr<const DeviceCode>> load(Device &device, std::span<const uint8_t> code,
                                                 std::optional<uint64_t> hash) const;

private:
  struct Loaded {
    const Device *device;
    std::weak_ptr<const DeviceCode> code;
  };
  mutable std::mutex mutex;
  mutable std::vector<Loaded> loaded;
};

struct NativeSection {
  /// What the code needs.
  Target target = kX86V4;
  std::vector<Block> blocks; // version 1: exactly one
  std::vector<KernelDef> kernels;
  std::vector<OpIndex> coveredOps;
  /// Text then read-only data, position independent, no relocations left.
  std::vector<uint8_t> code;
  /// Of a loaded file: contentHash of `code`, checked on the copy that becomes executable.
  std::optional<uint64_t> codeHash;
  SharedCode sharedCode;
};

//===----------------------------------------------------------------------===//
// Signature and proof
//===----------------------------------------------------------------------===//

/// A named size of the signature. A dim that was 1 while tracing is static.
struct SymbolDef {
  std::string name;
  int64_t min = 0;
  int64_t max = INT64_MAX;
};

struct InputDef {
  std::string name;
  ValueId value = 0;
  /// One per axis: index into symbols, or kNoIndex for a static size (in the ValueDef).
  std::vector<uint32_t> dimSymbols;
  /// Session state: initialised from constant `initial`, written back by output `stateOutput`.
  bool isState = false;
  uint32_t initialConstant = kNoIndex;
};

struct OutputDef {
  std::string name;
  ValueId value = 0;
  /// The state input (index into inputs) that this output updates, or kNoIndex.
  uint32_t stateInput = kNoIndex;
};

/// A weight or a baked constant. `data` points at memory that `owner` keeps alive (mapped file or
/// heap), 64-byte aligned, contiguous.
struct ConstantDef {
  ValueId value = 0;
  TensorType type;
  const void *data = nullptr;
};

struct TestTensor {
  TensorType type;
  const void *data = nullptr;
};

struct TestVector {
  std::vector<TestTensor> inputs;
  std::vector<TestTensor> outputs;
  /// How the inputs were made: "recorded", "user", ...
  std::string origin;
};

struct Program {
  std::vector<SymbolDef> symbols;
  std::vector<InputDef> inputs;
  std::vector<OutputDef> outputs;
  std::vector<ConstantDef> constants;
  std::vector<ValueDef> values;
  std::vector<OpDef> ops;
  std::vector<NativeSection> sections;
  std::vector<SourceLoc> locs;
  std::vector<TestVector> testVectors;
  /// JSON text, never interpreted.
  std::string userInfo;
  std::string producer;
  /// Frozen Python values: "file:line name = repr".
  std::vector<std::string> ledger;
  /// Keeps constants' and vectors' memory alive.
  std::vector<std::shared_ptr<const void>> owners;
};

/// The meaning check (dump-and-cli §2): indices in range, each value defined once before its uses,
/// op types consistent with the type rules, attribute ranges, accesses within their kernels, code
/// offsets inside the code. The loader calls it for files; tests call it for compiled programs.
TRACERT_API Status verifyProgram(const Program &program);

} // namespace tracert
