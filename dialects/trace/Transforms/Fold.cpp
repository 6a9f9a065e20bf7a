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
    if (call.info().has(tracert::kTraitPermutes)) {
      return isIdentityPermutation(tracert::attrs::axes(call)) ? operand : Value();
    }
    return isSameStaticType(operand, op->getResult(0)) ? operand : Value();
  case tracert::OpFamily::Indexing:
    if (!isAllFullSlices(op) || call.info().update) {
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
  if (call.info().has(tracert::kTraitPermutes)) {
    FailureOr<tracert::OpCall> innerCall = opCallOf(inner);
    if (failed(innerCall)) {
      return nullptr;
    }
    tracert::Dims axes = tracert::attrs::axes(call);
    for (int64_t &axis : axes) {
      axis = tracert::attrs::axes(*innerCall)[axis];
    }
    merged.attrs = {tracert::AttrValue::ints(axes)};
  }
  OpBuilder builder(op);
  Operation *result = createOp(builder, op->getLoc(), merged, inner->getOperand(0),
                               op->getResultTypes(), opIdsOf(op));
  addOpIds(result, opIdsOf(inner));
  return result;
}

Value makeConstant(Operation *op, Type type, StringRef bytes) {
  OpBuilder builder(op);
  auto tensor = cast<RankedTensorType>(type);
  return ConstantOp::create(builder, op->getLoc(), tensor, elementsFromBytes(tensor, bytes),
                            IntegerAttr())
      .getResult();
}

bool isSmall(Type type) {
  return cast<RankedTensorType>(type).hasStaticShape() &&
         tensorTypeOf(type).byteCount() <= kLargestFoldedBytes;
}

/// A size of static axes, or nothing.
SmallVector<Value> foldSize(Operation *op, const tracert::OpCall &call) {
  tracert::OperandInfo operand{tensorTypeOf(op->getOperand(0).getType())};
  if (!operand.type.isFullyKnown()) {
    return {};
  }
  tracert::Result<int64_t> value = tracert::inferSizeValue(call, {&operand, 1});
  if (!value.ok()) {
    return {};
  }
  StringRef bytes(reinterpret_cast<const char *>(&*value), sizeof(int64_t));
  return {makeConstant(op, op->getResult(0).getType(), bytes)};
}

/// The bytes of each operand, with the slack that kernels read; nullopt unless all are constants.
std::optional<std::vector<std::string>> constantOperands(Operation *op) {
  std::vector<std::string> data;
  for (Value operand : op->getOperands()) {
    auto constant = operand.getDefiningOp<ConstantOp>();
    bool isKnown = constant && constant.getValueAttr() && isSmall(operand.getType());
    std::optional<std::string> bytes =
        isKnown ? bytesOf(constant.getValueAttr()) : std::optional<std::string>();
    if (!bytes) {
      return std::nullopt;
    }
    bytes->resize(bytes->size() + tracert::kBufferSlack);
    data.push_back(std::move(*bytes));
  }
  return data;
}

/// The results of the op's library kernel, or nothing.
SmallVector<Value> runOnConstants(Operation *op, const tracert::OpCall &call,
                                  std::vector<std::string> &data) {
  std::vector<std::string> outputs;
  for (Type type : op->getResultTypes()) {
    outputs.emplace_back(tensorTypeOf(type).byteCount() + tracert::kBufferSlack, '\0');
  }
  auto viewsOf = [](std::vector<std::string> &memory, TypeRange types) {
    std::vector<tracert::TensorView> views;
    for (auto [bytes, type] : llvm::zip(memory, types)) {
      views.push_back(tracert::TensorView::contiguous(bytes.data(), tensorTypeOf(type)));
    }
    return views;
  };
  tracert::KernelContext context;
  context.allocator = &tracert::processAllocator();
  std::vector<tracert::TensorView> operands = viewsOf(data, op->getOperandTypes());
  std::vector<tracert::TensorView> results = viewsOf(outputs, op->getResultTypes());
  if (!tracert::runKernel(context, call, operands, results).ok()) {
    return {};
  }
  SmallVector<Value> values;
  for (auto [bytes, type] : llvm::zip(outputs, op->getResultTypes())) {
    values.push_back(
        makeConstant(op, type, StringRef(bytes.data(), tensorTypeOf(type).byteCount())));
  }
  return values;
}

/// The op's results computed now, or nothing.
SmallVector<Value> foldConstants(Operation *op, const tracert::OpCall &call) {
  if (call.info().has(tracert::kTraitDataDependentShape) || mayFail(op) ||
      call.info().has(tracert::kTraitComposite) || !llvm::all_of(op->getResultTypes(), isSmall)) {
    return {};
  }
  if (call.info().has(tracert::kTraitSizeOnly)) {
    return foldSize(op, call);
  }
  // Number-like ones become constants, which nothing has to run; larger ones (full, arange) stay:
  // kernels make their values in registers.
  bool isNumber = llvm::all_of(
      op->getResultTypes(), [](Type type) { return cast<RankedTensorType>(type).getRank() == 0; });
  if (op->getNumOperands() == 0 && !isNumber) {
    return {};
  }
  std::optional<std::vector<std::string>> data = constantOperands(op);
  return data ? runOnConstants(op, call, *data) : SmallVector<Value>();
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
