/// The one place that orders passes. Stages are what --compile-to names.
///
///   PassManager pm(context); buildCanonicalStage(pm); buildFusedStage(pm); pm.run(module);
///   std::vector<GroupKernel> kernels = lowerGroups(function, kernelModule);
#pragma once

#include "Serialization/ProgramBuilder.h"

#include "mlir/Pass/PassManager.h"

#include <string_view>

namespace tracec {

enum class Stage : uint8_t { Trace, Canonical, Fused, Kernel, Vector, Llvm, Obj, Asm };
std::optional<Stage> stageFromName(std::string_view name);
/// "trace, canonical, ...", for messages.
std::string stageNames();

/// trace -> canonical, on a module.
void buildCanonicalStage(mlir::OpPassManager &passes);
/// canonical -> fused. `groupEachOp`: one kernel per op instead of fusion (-O0).
void buildFusedStage(mlir::OpPassManager &passes, bool groupEachOp = false);
/// fused -> kernel: each group into a kernel.func of `kernels`. Groups that cannot be a kernel are
/// left out; they run op by op. The reason is a remark on the group.
std::vector<GroupKernel> lowerGroups(mlir::func::FuncOp function, mlir::ModuleOp kernels);

} // namespace tracec
