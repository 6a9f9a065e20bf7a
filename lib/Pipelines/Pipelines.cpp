#include "Pipelines/Pipelines.h"

#include "trace/Transforms/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace tracec {

namespace {

constexpr std::pair<std::string_view, Stage> kStages[] = {
    {"trace", Stage::Trace},   {"canonical", Stage::Canonical},
    {"fused", Stage::Fused},   {"kernel", Stage::Kernel},
    {"vector", Stage::Vector}, {"llvm", Stage::Llvm},
    {"obj", Stage::Obj},       {"asm", Stage::Asm},
};

} // namespace

std::optional<Stage> stageFromName(std::string_view name) {
  for (auto [stageName, stage] : kStages) {
    if (stageName == name) {
      return stage;
    }
  }
  return std::nullopt;
}

std::string stageNames() {
  std::string names;
  for (auto [name, stage] : kStages) {
    names += (names.empty() ? "" : ", ") + std::string(name);
  }
  return names;
}

void buildCanonicalStage(OpPassManager &passes) {
  OpPassManager &function = passes.nest<func::FuncOp>();
  // Every broadcast of the recorded program is still there.
  function.addPass(trace::createNameSizesPass());
  function.addPass(trace::createDecomposePass());
  function.addPass(trace::createFoldPass());
  // Equal masks and index arrays become one value, which the rewrites compare by identity.
  function.addPass(trace::createEliminateCommonOpsPass());
  function.addPass(trace::createComposeIndexingPass());
  function.addPass(trace::createFoldPass());
  function.addPass(trace::createEliminateCommonOpsPass());
  function.addPass(trace::createEliminateDeadOpsPass());
  // Last: it looks at who reads what.
  function.addPass(trace::createMarkInPlacePass());
}

void buildFusedStage(OpPassManager &passes, bool groupEachOp) {
  trace::FusePassOptions options;
  options.groupEachOp = groupEachOp;
  passes.nest<func::FuncOp>().addPass(trace::createFusePass(options));
}

} // namespace tracec
