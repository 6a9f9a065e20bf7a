#include "Pipelines/Pipelines.h"

#include "trace/Transforms/GroupAnalysis.h"

using namespace mlir;

namespace tracec {

std::vector<GroupKernel> lowerGroups(func::FuncOp function, ModuleOp kernels) {
  std::vector<GroupKernel> lowered;
  trace::SizeAnalysis sizes(function);
  for (trace::GroupOp group : function.getBody().front().getOps<trace::GroupOp>()) {
    GroupKernel kernel;
    kernel.group = group;
    kernel.fusion = fusionGroupOf(group, sizes, "k" + std::to_string(lowered.size()));
    tracert::Result<LoweredGroup> result = lowerGroupToKernel(kernel.fusion, kernels);
    if (!result.ok()) {
      group.emitRemark() << "runs op by op: " << result.status().message();
      continue;
    }
    kernel.lowered = std::move(*result);
    kernel.name = kernel.lowered.func.getSymName().str();
    lowered.push_back(std::move(kernel));
  }
  return lowered;
}

} // namespace tracec
