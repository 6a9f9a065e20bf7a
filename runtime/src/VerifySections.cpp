#include "VerifySections.h"

#include "CheckedMath.h"
#include "generated/OpAttrs.h"
#include "tracert/Limits.h"

namespace tracert {
namespace {

class SectionVerifier {
public:
  SectionVerifier(const Program &program, const NativeSection &section)
      : program(program), section(section),
        name("section " + std::string(targetName(section.target)) + ": "),
        workLeft(kScheduleWorkPerItem * itemCount(program, section)) {}

  Status run() {
    if (section.target.isPortable() ||
        targetFromName(targetName(section.target)) != section.target) {
      return bad("names no target of compiled code");
    }
    if (section.blocks.size() != 1) {
      return bad("has " + std::to_string(section.blocks.size()) + " blocks, expected one");
    }
    for (OpIndex op : section.coveredOps) {
      if (op >= program.ops.size()) {
        return bad("covers an op that does not exist");
      }
    }
    for (size_t i = 0; i < section.kernels.size(); ++i) {
      TRACERT_TRY(checkKernel(section.kernels[i]));
    }
    return checkSchedule();
  }

private:
  Status bad(const std::string &message) const { return Status::corruptFile(name + message); }

  bool isValue(ValueId value) const { return value < program.values.size(); }

  Status checkKernel(const KernelDef &kernel) const {
    std::string what = "kernel '" + kernel.name + "' ";
    if (kernel.codeOffset >= section.code.size()) {
      return bad(what + "starts outside the code");
    }
    bool takesSetDomain = kernel.domainValue == kNoIndex;
    if (!takesSetDomain && !isValue(kernel.domainValue)) {
      return bad(what + "has a domain that is no value");
    }
    if (kernel.split > KernelSplit::SequenceBlocks) {
      return bad(what + "has an unknown split");
    }
    if (!takesSetDomain) {
      size_t rank = program.values[kernel.domainValue].dims.size();
      if (kernel.domainRank != (kernel.isFlat ? 1 : rank)) {
        return bad(what + "has domain rank " + std::to_string(kernel.domainRank) +
                   " over a value of rank " + std::to_string(rank));
      }
      TRACERT_TRY(checkReducedAxes(kernel, rank, what));
    }
    // A kernel without an outermost axis, or whose outermost axis is reduced, has nothing to split.
    bool isAxisReduced = !kernel.reducedAxes.empty() && kernel.reducedAxes[0] == 0;
    if (kernel.split == KernelSplit::OuterAxis && (kernel.domainRank == 0 || isAxisReduced)) {
      return bad(what + "splits an axis that it reduces");
    }
    if (kernel.countValue != kNoIndex && !isValue(kernel.countValue)) {
      return bad(what + "counts for a value that does not exist");
    }
    bool hasSet = false;
    for (const KernelAccess &access : kernel.accesses) {
      TRACERT_TRY(checkAccess(access, what));
      hasSet = hasSet || access.kind == AccessKind::SetStore;
    }
    if (takesSetDomain && !hasSet) {
      return bad(what + "has no domain");
    }
    return {};
  }

  Status checkReducedAxes(const KernelDef &kernel, size_t rank, const std::string &what) const {
    for (size_t i = 0; i < kernel.reducedAxes.size(); ++i) {
      int64_t axis = kernel.reducedAxes[i];
      bool ascends = i == 0 || axis > kernel.reducedAxes[i - 1];
      if (axis < 0 || axis >= static_cast<int64_t>(rank) || !ascends) {
        return bad(what + "reduces axis " + std::to_string(axis) + " of rank " +
                   std::to_string(rank));
      }
    }
    return {};
  }

  Status checkAccess(const KernelAccess &access, const std::string &what) const {
    if (access.kind > AccessKind::SetStore || access.innerStride > InnerStride::Any) {
      return bad(what + "has an unknown kind of access");
    }
    if (!isValue(access.value)) {
      return bad(what + "accesses a value that does not exist");
    }
    bool needsOp = access.kind == AccessKind::Gather || access.kind == AccessKind::Index ||
                   access.kind == AccessKind::SetStore;
    if (!needsOp) {
      return {};
    }
    if (access.op >= program.ops.size()) {
      return bad(what + "has an index access without an op");
    }
    const OpCall &call = program.ops[access.op].call;
    bool isSet = call.info().has(kTraitSet);
    bool hasItems = call.info().family == OpFamily::Indexing;
    if (!hasItems || isSet != (access.kind == AccessKind::SetStore)) {
      return bad(what + "has an index access for '" + std::string(call.info().name) + "'");
    }
    if (isSet && (!call.info().isReplacingSet() || !attrs::items(call).isBasic())) {
      return bad(what + "sets through an advanced index, or combines elements");
    }
    return {};
  }

  /// Every op is run or checked before its results are used, and every value that an instruction
  /// reads from memory has been put there.
  Status checkSchedule() {
    isTyped.assign(program.values.size(), false);
    hasMemory.assign(program.values.size(), false);
    for (const InputDef &input : program.inputs) {
      isTyped[input.value] = hasMemory[input.value] = true;
    }
    for (const ConstantDef &constant : program.constants) {
      isTyped[constant.value] = hasMemory[constant.value] = true;
    }
    for (const Instruction &instruction : section.blocks[0].instructions) {
      switch (instruction.kind) {
      case InstructionKind::RunOp:
      case InstructionKind::CheckTypes:
        TRACERT_TRY(checkOp(instruction));
        break;
      case InstructionKind::Launch:
        TRACERT_TRY(checkLaunch(instruction));
        break;
      default:
        return Status::unsupported(name + "has an instruction that this version does not know");
      }
    }
    for (const OutputDef &output : program.outputs) {
      if (!hasMemory[output.value]) {
        return bad("never computes output '" + output.name + "'");
      }
    }
    return {};
  }

  Status checkOp(const Instruction &instruction) {
    if (instruction.index >= program.ops.size()) {
      return bad("runs an op that does not exist");
    }
    const OpDef &op = program.ops[instruction.index];
    bool runs = instruction.kind == InstructionKind::RunOp;
    bool operandsInMemory = true;
    for (ValueId operand : op.operands) {
      operandsInMemory = operandsInMemory && hasMemory[operand];
      if (!isTyped[operand] || (runs && !isSizeOnly(op) && !hasMemory[operand])) {
        return bad("op #" + std::to_string(instruction.index) + " reads value %" +
                   std::to_string(operand) + " before it is there");
      }
    }
    bool isMade = runs || isSizeOnly(op) || (op.call.info().has(kTraitView) && operandsInMemory);
    for (ValueId result : op.results) {
      isTyped[result] = true;
      hasMemory[result] = hasMemory[result] || isMade;
    }
    return {};
  }

  bool isSizeOnly(const OpDef &op) const { return op.call.info().has(kTraitSizeOnly); }

  Status checkLaunch(const Instruction &instruction) {
    if (instruction.index >= section.kernels.size() ||
        !isRangeInside(instruction.firstCovered, instruction.coveredCount,
                       section.coveredOps.size())) {
      return bad("launches a kernel that does not exist");
    }
    const KernelDef &kernel = section.kernels[instruction.index];
    auto covered =
        std::span(section.coveredOps).subspan(instruction.firstCovered, instruction.coveredCount);
    TRACERT_TRY(countWork(kernel, covered));
    // Only for messages: a name may be long and launched often.
    auto what = [&kernel] { return "kernel '" + kernel.name + "' "; };
    ++launchNumber;
    insideOf.resize(program.values.size(), 0);
    coveredIn.resize(program.ops.size(), 0);
    for (OpIndex op : covered) {
      coveredIn[op] = launchNumber;
      for (ValueId operand : program.ops[op].operands) {
        if (!isInside(operand) && !hasMemory[operand]) {
          return bad(what() + "reads value %" + std::to_string(operand) + " before it is there");
        }
      }
      for (ValueId result : program.ops[op].results) {
        if (!isTyped[result]) {
          return bad(what() + "covers op #" + std::to_string(op) + " before its types are checked");
        }
        insideOf[result] = launchNumber;
      }
    }
    if (kernel.domainValue != kNoIndex && !isTyped[kernel.domainValue]) {
      return bad(what() + "has a domain whose type is not known");
    }
    for (const KernelAccess &access : kernel.accesses) {
      TRACERT_TRY(checkBoundAccess(access, what));
    }
    return {};
  }

  /// What a launch covers and accesses is looked at for each launch of it, here and when it is
  /// planned and bound; a reduction's store and a set look through all of that.
  Status countWork(const KernelDef &kernel, std::span<const OpIndex> covered) {
    uint64_t work = kernel.accesses.size();
    for (OpIndex op : covered) {
      work += 1 + program.ops[op].operands.size() + program.ops[op].results.size();
    }
    uint64_t searches = 1;
    for (const KernelAccess &access : kernel.accesses) {
      searches += access.kind == AccessKind::ReduceStore || access.kind == AccessKind::SetStore;
    }
    if (__builtin_mul_overflow(work, searches, &work) || work > workLeft) {
      return bad("launches cover more than the program has");
    }
    workLeft -= work;
    return {};
  }

  static uint64_t itemCount(const Program &program, const NativeSection &section) {
    uint64_t count = program.values.size() + section.coveredOps.size();
    for (const OpDef &op : program.ops) {
      count += 1 + op.operands.size() + op.results.size();
    }
    for (const KernelDef &kernel : section.kernels) {
      count += 1 + kernel.accesses.size();
    }
    for (const Block &block : section.blocks) {
      count += block.instructions.size();
    }
    return count;
  }

  /// Computed by the launch being checked.
  bool isInside(ValueId value) const { return insideOf[value] == launchNumber; }

  template <class Name> Status checkBoundAccess(const KernelAccess &access, const Name &what) {
    bool needsOp = access.kind == AccessKind::SetStore || access.op != kNoIndex;
    if (needsOp && (access.op >= program.ops.size() || coveredIn[access.op] != launchNumber)) {
      return bad(what() + "has an access of an op that it does not cover");
    }
    ValueId value =
        access.kind == AccessKind::SetStore ? program.ops[access.op].results[0] : access.value;
    bool isStore = access.kind == AccessKind::Store || access.kind == AccessKind::CompactStore ||
                   access.kind == AccessKind::ReduceStore || access.kind == AccessKind::SetStore;
    if (!isStore) {
      if (access.kind == AccessKind::Load && !hasMemory[value]) {
        return bad(what() + "loads value %" + std::to_string(value) + " before it is there");
      }
      return {};
    }
    if (!isInside(value)) {
      return bad(what() + "stores value %" + std::to_string(value) + ", which it does not compute");
    }
    hasMemory[value] = true;
    return {};
  }

  const Program &program;
  const NativeSection &section;
  std::string name;
  std::vector<bool> isTyped;
  std::vector<bool> hasMemory;
  /// Per value, the last launch that computes it.
  std::vector<uint32_t> insideOf;
  /// Per op, the last launch that covers it.
  std::vector<uint32_t> coveredIn;
  uint32_t launchNumber = 0;
  uint64_t workLeft;
};

} // namespace

Status verifySections(const Program &program) {
  for (size_t i = 0; i < program.sections.size(); ++i) {
    TRACERT_TRY(SectionVerifier(program, program.sections[i]).run());
    for (size_t other = 0; other < i; ++other) {
      if (program.sections[other].target == program.sections[i].target) {
        return Status::corruptFile("two sections for " +
                                   std::string(targetName(program.sections[i].target)));
      }
    }
  }
  return {};
}

} // namespace tracert
