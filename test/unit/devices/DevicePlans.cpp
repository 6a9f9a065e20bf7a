#include "DevicePlans.h"

namespace tracert::test {
namespace {

constexpr DType kF32 = DType::Float32;
constexpr DType kI64 = DType::Int64;

KernelDef addKernel(ValueId a, ValueId b, ValueId result) {
  KernelDef def = kernel(addF32, result, 1);
  def.isFlat = true;
  def.split = KernelSplit::OuterAxis;
  for (ValueId value : {a, b}) {
    def.accesses.push_back(access(AccessKind::Load, value, InnerStride::Contiguous));
  }
  def.accesses.push_back(access(AccessKind::Store, result, InnerStride::Contiguous));
  return def;
}

} // namespace

std::shared_ptr<const Program> chainProgram() {
  ProgramKit kit;
  ValueId x = kit.input("x", kF32, {kUnknownDim, 3}, {"n"});
  ValueId y = kit.input("y", kF32, {kUnknownDim, 3}, {"n"});
  ValueId sum = kit.op(OpKind::add, {}, {x, y});
  ValueId scaled = kit.op(OpKind::add, {}, {sum, kit.constant(iota(kF32, {3}, 1))});
  kit.output("scaled", scaled);
  NativeSection section;
  section.target = kFakeTarget;
  section.code = kernelCode();
  auto add = [&](ValueId a, ValueId b, ValueId result) {
    KernelDef def = kernel(addStrided, result, 2);
    def.accesses = {access(AccessKind::Load, a), access(AccessKind::Load, b),
                    access(AccessKind::Store, result)};
    section.kernels.push_back(def);
  };
  add(x, y, sum);
  add(sum, kit.program->constants[0].value, scaled);
  section.coveredOps = {0, 1};
  section.blocks.push_back({{{InstructionKind::CheckTypes, 0, 0, 0},
                             {InstructionKind::Launch, 0, 0, 1},
                             {InstructionKind::CheckTypes, 1, 0, 0},
                             {InstructionKind::Launch, 1, 1, 1}}});
  kit.program->sections.push_back(std::move(section));
  return kit.finish();
}

std::shared_ptr<const Program> setProgram() {
  ProgramKit kit;
  ValueId x = kit.input("x", kF32, {kUnknownDim}, {"n"});
  ValueId y = kit.input("y", kF32, {kUnknownDim}, {"k"});
  ValueId old = kit.op(OpKind::add, {}, {x, x});
  ValueId twice = kit.op(OpKind::add, {}, {y, y});
  ValueId result = kit.setInPlace(OpKind::set_subtensor, items({slice(1, {})}), {old, twice});
  kit.output("result", result);
  KernelDef def = kernel(doubleIntoSet, twice, 1);
  def.split = KernelSplit::OuterAxis;
  def.accesses = {access(AccessKind::Load, y),
                  access(AccessKind::SetStore, result, InnerStride::Any, 2)};
  addSection(kit, kFakeTarget, def, {1, 2});
  return kit.finish();
}

std::shared_ptr<const Program> sliceProgram() {
  ProgramKit kit;
  ValueId x = kit.input("x", kF32, {kUnknownDim}, {"n"});
  ValueId begin = kit.input("begin", kI64, {});
  IndexItem from = slice({}, {});
  from.hasBegin = true;
  from.beginIsOperand = true;
  ValueId part = kit.op(OpKind::subtensor, items({from}), {x, begin});
  ValueId y = kit.op(OpKind::add, {}, {part, part});
  kit.output("y", y);
  addSection(kit, kFakeTarget, addKernel(part, part, y), {1});
  return kit.finish();
}

std::shared_ptr<const Program> counterProgram() {
  ProgramKit kit;
  ValueId counter = kit.input("counter", kF32, {3});
  ValueId step = kit.input("step", kF32, {3});
  kit.constant(tensor<float>({3}, {100, 100, 100}));
  kit.program->inputs[0].isState = true;
  kit.program->inputs[0].initialConstant = 0;
  ValueId next = kit.op(OpKind::add, {}, {counter, step});
  kit.output("counter", next);
  kit.program->outputs[0].stateInput = 0;
  kit.output("old", counter);
  addSection(kit, kFakeTarget, addKernel(counter, step, next), {0});
  return kit.finish();
}

} // namespace tracert::test
