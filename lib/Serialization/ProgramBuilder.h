/// A compiled function -> tracert::Program: canonical ops first, then a section per target.
///
///   ProgramBuilder builder(function, externalConstants);     // canonical stage
///   TRACERT_TRY(builder.addOps());
///   ... trace-fuse on the same module, kernels lowered and compiled ...
///   builder.addSection(kX86V4, kernels, compiled);
///   std::shared_ptr<tracert::Program> program = builder.finish();
///
/// The builder remembers operations and values, so the module may be cut into groups between the
/// two calls, but ops must not be replaced.
#pragma once

#include "Codegen/CompiledKernels.h"
#include "Conversion/TraceToKernel/FusionGroup.h"
#include "trace/IR/OpBridge.h"
#include "tracert/Program.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tracec {

/// Data of `trace.constant external i`; 64-byte aligned data is used in place.
struct ExternalConstant {
  const void *data = nullptr;
  std::shared_ptr<const void> owner;
};

/// A group that became a kernel. Groups without one run op by op.
struct GroupKernel {
  trace::GroupOp group;
  FusionGroup fusion;
  LoweredGroup lowered;
  /// Symbol of lowered.func, for when its module has moved on.
  std::string name;
};

class ProgramBuilder {
public:
  ProgramBuilder(mlir::func::FuncOp function, llvm::ArrayRef<ExternalConstant> constants);

  /// Signature, constants, values and ops. Compile when a constant has no data.
  tracert::Status addOps();
  /// The schedule of the fused function with `kernels` in the order of `compiled.entries`.
  tracert::Status addSection(tracert::Target target, llvm::ArrayRef<GroupKernel> kernels,
                             CompiledKernels compiled);
  std::shared_ptr<tracert::Program> finish();

private:
  tracert::ValueId addValue(mlir::Value value);
  void addInput(mlir::BlockArgument argument);
  void addSymbols();
  tracert::Status addConstant(trace::ConstantOp constant);
  tracert::Status addOp(mlir::Operation *op);
  uint32_t locOf(mlir::Location loc);
  tracert::KernelDef kernelDef(const GroupKernel &kernel, uint64_t codeOffset);
  /// Looks through groups.
  tracert::ValueId valueOf(mlir::Value value) const;

  mlir::func::FuncOp function;
  llvm::ArrayRef<ExternalConstant> externals;
  std::shared_ptr<tracert::Program> program = std::make_shared<tracert::Program>();
  llvm::DenseMap<mlir::Value, tracert::ValueId> values;
  llvm::DenseMap<mlir::Operation *, tracert::OpIndex> ops;
  std::map<std::pair<std::string, int32_t>, uint32_t> locs;
};

} // namespace tracec
