#include "trace/Transforms/Passes.h"

#include "trace/IR/ConstantData.h"
#include "trace/Transforms/ComposeItems.h"
#include "trace/Transforms/SizeAnalysis.h"
#include "tracert/Allocator.h"
#include "tracert/Kernels.h"
#include "tracert/generated/OpAttrs.h"

#define DEBUG_TYPE "trace-fold"

using namespace mlir;

namespace tracec::trace {

#define GEN_PASS_DEF_FOLDPASS
#include "trace/Transforms/Passes.h.inc"

namespace {

// Larger results are cheaper to compute than to keep.
constexpr int64_t kLargestFoldedBytes = 1024;

bool isSameStaticType(Value a, Value b) {
  auto type = cast<RankedTensorType>(a.getType());
  return type == b.getType() && type.hasStaticShape();
}

bool isAllFullSlices(Operation *op) {
  return llvm::all_of(indexItemsOf(op).toItems().items, isFullSlice);
}

bool isIdentityPermutation(const tracert::Dims &axes) {
  for (size_t i = 0; i < axes.size(); ++i) {
    if (axes[i] != static_cast<int64_t>(i)) {
      return false;
    }
  }
  return true;
}

/// The value that the op's result equals, or null.
Value foldToOperand(Operation *op, const tracert::OpCall &call) {
  if (op->getNumResults() != 1 || op->getNumOperands() == 0) {
    return {};
  }
  Value operand = op->getOperand(0);
  switch (call.info().family) {
  case tracert::OpFamily::Cast:
    return tensorTypeOf(operand.getType()).dtype == tracert::attrs::dtype(call) ? operand : Value();
  case tracert::OpFamily::Shape:
    if (isa<PermuteOp>(op)) {
      return isIdentityPermutation(tracert::attrs::axes(call)) ? operand : Value();
    }
    return isSameStaticType(operand, op->getResult(0)) ? operand : Value();
  case tracert::OpFamily::Indexing:
    if (!isAllFullSlices(op)) {
      return {};
    }
    if (call.info().has(tracert::kTraitSet)) {
      return isSameStaticType(op->getOperand(1), op->getResult(0)) ? op->getOperand(1) : Value();
    }
    return operand;
  default:
    return {};
  }
}

/// A shape op of the same kind of shape op: one op on the first's operand.
Operation *foldViewOfView(Operation *op, const tracert::OpCall &call) {
  if (call.info().family != tracert::OpFamily::Shape || op->getNumOperands() != 1) {
    return nullptr;
  }
  Operation *inner = op->getOperand(0).getDefiningOp();
  if (!inner || inner->getName() != op->getName() || inner->getNumOperands() != 1) {
    return nullptr;
  }
  // Its error would name another shape.
  if (SizeAnalysis::canFailForSomeSizes(op)) {
    return nullptr;
  }
  tracert::OpCall merged = call;
  if (isa<PermuteOp>(op)) {
    tracert::Dims axes = tracert::attrs::axes(call);
    ArrayRef<int64_t> innerAxes = cast<PermuteOp>(inner).getAxes();
    for (int64_t &axis : axes) {
      axis = innerAxes[axis];
    }
    merged.attrs = {tracert::AttrValue::ints(axes)};
  }
  OpBuilder builder(op);
  Operation *result = createOp(builder, op->getLoc(), merged, inner->getOperand(0),
                               op->getResultTypes(), opIdsOf(op));
  addOpIds(result, opIdsOf(inner));
  return result;
}

/// The op's results computed now, or nothing.
SmallVector<Value> foldConstants(Operation *op, const tracert::OpCall &call) {
  if (call.info().has(tracert::kTraitDataDependentShape) || mayFail(op) ||
      call.info().has(tracert::kTraitComposite)) {
    return {};
  }
  for (Type type : op->getResultTypes()) {
    auto tensor = cast<RankedTensorType>(type);
    if (!tensor.hasStaticShape() || tensorTypeOf(tensor).byteCount() > kLargestFoldedBytes) {
      return {};
    }
  }
  OpBuilder builder(op);
  auto makeConstant = [&](RankedTensorType type, StringRef bytes) -> Value {
    auto constant = ConstantOp::create(builder, op->getLoc(), type, elementsFromBytes(type, bytes),
                                       IntegerAttr());
    return constant.getResult();
  };
  if (call.info().has(tracert::kTraitSizeOnly)) {
    tracert::OperandInfo operand{tensorTypeOf(op->getOperand(0).getType())};
    auto value = operand.type.isFullyKnown() ? tracert::inferSizeValue(call, {&operand, 1})
                                             : tracert::Status::internal("dynamic");
    if (!value.ok()) {
      return {};
    }
    StringRef bytes(reinterpret_cast<const char *>(&*value), sizeof(int64_t));
    return {makeConstant(cast<RankedTensorType>(op->getResult(0).getType()), bytes)};
  }
  // Number-like ones become constants, which nothing has to run; larger ones (full, arange) stay:
  // kernels make their values in registers.
  bool isNumber = llvm::all_of(
      op->getResultTypes(), [](Type type) { return cast<RankedTensorType>(type).getRank() == 0; });
  if (op->getNumOperands() == 0 && !isNumber) {
    return {};
  }
  std::vector<std::string> data;
  std::vector<tracert::TensorView> operands, results;
  for (Value operand : op->getOperands()) {
    auto constant = operand.getDefiningOp<ConstantOp>();
    std::optional<std::string> bytes;
    if (constant && constant.getValueAttr() &&
        tensorTypeOf(operand.getType()).byteCount() <= kLargestFoldedBytes) {
      bytes = bytesOf(constant.getValueAttr());
    }
    if (!bytes) {
      return {};
    }
    bytes->resize(bytes->size() + tracert::kBufferSlack);
    data.push_back(std::move(*bytes));
  }
  for (auto [index, operand] : llvm::enumerate(op->getOperands())) {
    operands.push_back(
        tracert::TensorView::contiguous(data[index].data(), tensorTypeOf(operand.getType())));
  }
  std::vector<std::string> outputs;
  for (Type type : op->getResultTypes()) {
    outputs.emplace_back(tensorTypeOf(type).byteCount() + tracert::kBufferSlack, '\0');
  }
  for (auto [index, type] : llvm::enumerate(op->getResultTypes())) {
    results.push_back(tracert::TensorView::contiguous(outputs[index].data(), tensorTypeOf(type)));
  }
  tracert::KernelContext context;
  context.allocator = &tracert::processAllocator();
  if (!tracert::runKernel(context, call, operands, results).ok()) {
    return {};
  }
  SmallVector<Value> values;
  for (auto [index, type] : llvm::enumerate(op->getResultTypes())) {
    auto tensor = cast<RankedTensorType>(type);
    StringRef bytes(outputs[index].data(), tensorTypeOf(type).byteCount());
    values.push_back(makeConstant(tensor, bytes));
  }
  return values;
}

struct Fold : impl::FoldPassBase<Fold> {
  void runOnOperation() override {
    for (Operation &op : llvm::make_early_inc_range(getOperation().getBody().front())) {
      if (!opKindOf(&op)) {
        continue;
      }
      FailureOr<tracert::OpCall> call = opCallOf(&op);
      if (failed(call)) {
        return signalPassFailure();
      }
      Value same = foldToOperand(&op, *call);
      if (same && same.getType() == op.getResult(0).getType()) {
        if (Operation *producer = same.getDefiningOp()) {
          addOpIds(producer, opIdsOf(&op));
        }
        op.getResult(0).replaceAllUsesWith(same);
        op.erase();
        continue;
      }
      if (Operation *merged = foldViewOfView(&op, *call)) {
        op.replaceAllUsesWith(merged);
        op.erase();
        continue;
      }
      SmallVector<Value> constants = foldConstants(&op, *call);
      if (!constants.empty()) {
        op.replaceAllUsesWith(constants);
        op.erase();
      }
    }
  }
};

} // namespace
} // namespace tracec::trace
