/// LaunchKit: sections with one kernel of TestKernels.h, put together by hand.
///
///   KernelDef def = kernel(addF32, sum, 1);
///   def.accesses = {access(AccessKind::Load, x), access(AccessKind::Store, sum)};
///   addSection(kit, kX86V3, def, {0});
#pragma once

#include "ProgramKit.h"
#include "TestKernels.h"

#include <algorithm>

namespace tracert::test {

inline KernelAccess access(AccessKind kind, ValueId value, InnerStride stride = InnerStride::Any,
                           OpIndex op = kNoIndex) {
  KernelAccess made;
  made.kind = kind;
  made.value = value;
  made.innerStride = stride;
  made.op = op;
  return made;
}

/// A section whose schedule checks and launches `covered` in one kernel and runs the other ops.
inline void addSection(ProgramKit &kit, Target target, KernelDef kernel,
                       const std::vector<OpIndex> &covered) {
  NativeSection section;
  section.target = target;
  section.code = kernelCode();
  section.kernels.push_back(std::move(kernel));
  section.coveredOps = covered;
  Block block;
  for (OpIndex op = 0; op < kit.program->ops.size(); ++op) {
    bool isCovered = std::find(covered.begin(), covered.end(), op) != covered.end();
    block.instructions.push_back(
        {isCovered ? InstructionKind::CheckTypes : InstructionKind::RunOp, op, 0, 0});
    if (op == covered.back()) {
      block.instructions.push_back(
          {InstructionKind::Launch, 0, 0, static_cast<uint32_t>(covered.size())});
    }
  }
  section.blocks.push_back(std::move(block));
  kit.program->sections.push_back(std::move(section));
}

inline KernelDef kernel(KernelEntry entry, ValueId domain, uint8_t rank) {
  KernelDef def;
  def.name = "test";
  def.codeOffset = kernelOffset(entry);
  def.domainValue = domain;
  def.domainRank = rank;
  return def;
}

} // namespace tracert::test
