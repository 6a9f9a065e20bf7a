#include "trace/Transforms/Passes.h"

#include "Ops/Decompose.h"
#include "trace/IR/OpBridge.h"

#define DEBUG_TYPE "trace-decompose"

using namespace mlir;

namespace tracec::trace {

#define GEN_PASS_DEF_DECOMPOSEPASS
#include "trace/Transforms/Passes.h.inc"

namespace {

/// Builds the parts in front of the composite, with its line and op numbers.
class IrEmitter : public OpEmitter {
public:
  explicit IrEmitter(Operation *composite)
      : builder(composite), loc(composite->getLoc()), opIds(opIdsOf(composite)) {}

  Handle add(Value value) {
    values.push_back(value);
    return static_cast<Handle>(values.size() - 1);
  }
  Value valueOf(Handle handle) const { return values[handle]; }

  tracert::TensorType typeOf(Handle handle) const override {
    return tensorTypeOf(values[handle].getType());
  }
  tracert::Result<Handle> emit(const tracert::OpCall &call,
                               std::span<const Handle> operands) override {
    SmallVector<Value> inputs;
    SmallVector<tracert::OperandInfo> infos;
    for (Handle operand : operands) {
      inputs.push_back(values[operand]);
      infos.push_back({typeOf(operand)});
    }
    TRACERT_ASSIGN(tracert::ResultTypes types, tracert::inferTypes(call, infos));
    Operation *op =
        createOp(builder, loc, call, inputs, mlirTypeOf(builder.getContext(), types[0]), opIds);
    return add(op->getResult(0));
  }

private:
  OpBuilder builder;
  Location loc;
  SmallVector<int64_t> opIds;
  SmallVector<Value> values;
};

struct Decompose : impl::DecomposePassBase<Decompose> {
  void runOnOperation() override {
    for (Operation &op : llvm::make_early_inc_range(getOperation().getBody().front())) {
      if (hasTrait(&op, tracert::kTraitComposite) && failed(expand(&op))) {
        return signalPassFailure();
      }
    }
  }

  static LogicalResult expand(Operation *op) {
    FailureOr<tracert::OpCall> call = opCallOf(op);
    if (failed(call)) {
      return failure();
    }
    IrEmitter emitter(op);
    SmallVector<OpEmitter::Handle> operands;
    for (Value operand : op->getOperands()) {
      operands.push_back(emitter.add(operand));
    }
    tracert::Result<OpEmitter::Handle> result = decompose(*call, operands, emitter);
    if (!result.ok()) {
      return op->emitOpError() << "cannot be decomposed: " << result.status().message();
    }
    op->getResult(0).replaceAllUsesWith(emitter.valueOf(*result));
    op->erase();
    return success();
  }
};

} // namespace
} // namespace tracec::trace
