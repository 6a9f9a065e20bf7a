#include "LaunchPrograms.h"

namespace tracert::test {
namespace {

constexpr DType kF32 = DType::Float32;
constexpr DType kI64 = DType::Int64;

AttrList firstAxis() { return {AttrValue::ints({0}), AttrValue::boolean(false)}; }

} // namespace

std::shared_ptr<const Program> maskedSumProgram(Target target) {
  ProgramKit kit;
  ValueId x = kit.input("x", kI64, {kUnknownDim}, {"n"});
  ValueId m = kit.input("m", DType::Bool, {kUnknownDim}, {"n"});
  ValueId selected = kit.op(OpKind::indexing_multi_axis_vec, items({maskItem()}), {x, m});
  ValueId total = kit.op(OpKind::sum, firstAxis(), {selected});
  kit.output("total", total);
  KernelDef def = kernel(maskedSum, x, 1);
  def.isFlat = true;
  def.reducedAxes = {0};
  def.countValue = selected;
  def.accesses = {access(AccessKind::Load, m, InnerStride::Contiguous),
                  access(AccessKind::Load, x, InnerStride::Contiguous),
                  access(AccessKind::ReduceStore, total)};
  addSection(kit, target, def, {0, 1});
  return kit.finish();
}

std::shared_ptr<const Program> compactProgram(Target target) {
  ProgramKit kit;
  ValueId x = kit.input("x", kF32, {kUnknownDim}, {"n"});
  ValueId m = kit.input("m", DType::Bool, {kUnknownDim}, {"n"});
  ValueId both = kit.op(OpKind::logical_and, {}, {m, m});
  ValueId selected = kit.op(OpKind::indexing_multi_axis_vec, items({maskItem()}), {x, both});
  kit.output("selected", selected);
  kit.output("twice", kit.op(OpKind::add, {}, {selected, selected}));
  KernelDef def = kernel(compactF32, x, 1);
  def.isFlat = true;
  def.countValue = selected;
  def.accesses = {access(AccessKind::Load, m, InnerStride::Contiguous),
                  access(AccessKind::Load, x, InnerStride::Contiguous),
                  access(AccessKind::CompactStore, selected)};
  addSection(kit, target, def, {0, 1});
  return kit.finish();
}

std::shared_ptr<const Program> blockSumProgram(Target target) {
  ProgramKit kit;
  ValueId x = kit.input("x", kI64, {kUnknownDim}, {"n"});
  ValueId sum = kit.op(OpKind::sum, firstAxis(), {x});
  kit.output("sum", sum);
  KernelDef def = kernel(sumBlocks, x, 1);
  def.isFlat = true;
  def.reducedAxes = {0};
  def.split = KernelSplit::SequenceBlocks;
  def.accesses = {access(AccessKind::Load, x, InnerStride::Contiguous),
                  access(AccessKind::ReduceStore, sum)};
  addSection(kit, target, def, {0});
  return kit.finish();
}

std::shared_ptr<const Program> gatherProgram(Target target) {
  ProgramKit kit;
  ValueId x = kit.input("x", kF32, {kUnknownDim}, {"n"});
  ValueId i = kit.input("i", kI64, {kUnknownDim}, {"k"});
  ValueId y = kit.op(OpKind::indexing_multi_axis_vec, items({arrayItem()}), {x, i});
  kit.output("y", y);
  KernelDef def = kernel(gatherF32, y, 1);
  def.split = KernelSplit::OuterAxis;
  def.accesses = {access(AccessKind::Gather, x, InnerStride::Any, 0),
                  access(AccessKind::Index, i, InnerStride::Any, 0),
                  access(AccessKind::Store, y, InnerStride::Contiguous)};
  addSection(kit, target, def, {0});
  return kit.finish();
}

} // namespace tracert::test
