#include "trace/Transforms/Passes.h"

#include "ops/IndexWalk.h"
#include "trace/Transforms/ComposeItems.h"
#include "trace/Transforms/SizeAnalysis.h"
#include "tracert/generated/OpAttrs.h"

#define DEBUG_TYPE "trace-compose-indexing"

using namespace mlir;
using tracert::IndexItem;
using tracert::IndexItemKind;
using tracert::IndexItems;
using tracert::OpCall;
using tracert::OpKind;

namespace tracec::trace {

#define GEN_PASS_DEF_COMPOSEINDEXINGPASS
#include "trace/Transforms/Passes.h.inc"

namespace {

OpCall indexCall(OpKind kind, IndexItems items) {
  return {kind, {tracert::AttrValue::index(std::make_shared<const IndexItems>(std::move(items)))}};
}

class Composer {
public:
  explicit Composer(func::FuncOp function) : sizes(function), block(function.getBody().front()) {}

  void run() {
    for (Operation &op : llvm::make_early_inc_range(block)) {
      simplify(&op);
    }
    // From the end, so that a view pushed one step up is met again and goes on.
    for (Operation *op = &block.back(); op;) {
      op = pushView(op);
    }
  }

private:
  using Operands = SmallVector<Value>;

  Operation *create(Operation *before, const OpCall &call, ValueRange operands, TypeRange types,
                    ArrayRef<Operation *> sources) {
    OpBuilder builder(before);
    Operation *op = createOp(builder, sources.front()->getLoc(), call, operands, types, {});
    for (Operation *source : sources) {
      addOpIds(op, opIdsOf(source));
    }
    sizes.add(op);
    return op;
  }
  void replace(Operation *op, Value value) {
    op->getResult(0).replaceAllUsesWith(value);
    op->erase();
  }

  void simplify(Operation *op) {
    (void)(composeViews(op) || sliceBeforeGather(op) || readWhatWasSet(op) || setToWhere(op));
  }

  /// subtensor of subtensor. An error keeps its place in the program and its axis: what can fail
  /// stays where it is, and its axes do not shift.
  bool composeViews(Operation *op) {
    Operation *inner = op->getOperands().empty() ? nullptr : op->getOperand(0).getDefiningOp();
    if (!isBasicRead(op) || !inner || !isBasicRead(inner) ||
        isUnchecked(op) != isUnchecked(inner)) {
      return false;
    }
    bool innerFails = mayFail(inner);
    if (mayFail(op) && (innerFails || !keepsAxes(inner))) {
      return false;
    }
    if (innerFails && !indexOperandsOf(op).empty()) {
      return false;
    }
    auto source = cast<RankedTensorType>(inner->getOperand(0).getType());
    auto composed = composeBasic(indexOf(inner), indexOf(op), source.getShape());
    if (!composed) {
      return false;
    }
    Operands operands{inner->getOperand(0)};
    operands.append(composed->operands);
    Operation *failing = innerFails ? inner : op;
    Operation *other = innerFails ? op : inner;
    Operation *one = create(failing, indexCall(OpKind::subtensor, composed->items), operands,
                            op->getResultTypes(), {failing, other});
    copyUnchecked(op, one);
    replace(op, one->getResult(0));
    // Its checks are in the composed op.
    if (inner->use_empty()) {
      inner->erase();
    }
    return true;
  }

  /// Only slices: axis i of the result is axis i of the operand.
  static bool keepsAxes(Operation *subtensor) {
    return llvm::all_of(indexItemsOf(subtensor).toItems().items,
                        [](const IndexItem &item) { return item.kind == IndexItemKind::Slice; });
  }

  void copyUnchecked(Operation *from, Operation *to) {
    if (isUnchecked(from)) {
      to->setInherentAttr(StringAttr::get(to->getContext(), "unchecked"),
                          UnitAttr::get(to->getContext()));
    }
  }

  /// x[:, idx][1:5] -> x[1:5, :][:, idx]: the slice is free and the gather reads less. The indexed
  /// axes are kept whole and where they are, so that every index is checked as it was.
  bool sliceBeforeGather(Operation *op) {
    Operation *gather = op->getOperands().empty() ? nullptr : op->getOperand(0).getDefiningOp();
    if (!isBasicRead(op) || !gather || !isAdvancedRead(gather) || !gather->hasOneUse() ||
        mayFail(op) || !indexOperandsOf(op).empty()) {
      return false;
    }
    IndexWithOperands index = indexOf(gather);
    if (index.items.advancedFirst || index.operands.size() != 1) {
      return false;
    }
    auto shape = cast<RankedTensorType>(gather->getOperand(0).getType()).getShape();
    auto sliced = sliceThenGather(index, indexItemsOf(op).toItems(), shape);
    if (!sliced) {
      return false;
    }
    OpCall viewCall = indexCall(OpKind::subtensor, std::move(sliced->view));
    Operands viewOperands{gather->getOperand(0)};
    FailureOr<SmallVector<Type>> viewTypes =
        inferResultTypes(op->getContext(), viewCall, viewOperands);
    if (failed(viewTypes)) {
      return false;
    }
    Operation *view = create(gather, viewCall, viewOperands, *viewTypes, {op});
    Operation *result =
        create(gather, indexCall(OpKind::indexing_multi_axis_vec, std::move(sliced->gather)),
               {view->getResult(0), index.operands[0]}, op->getResultTypes(), {gather, op});
    copyUnchecked(gather, result);
    replace(op, result->getResult(0));
    gather->erase();
    simplify(view);
    return true;
  }

  /// set(x, v, items)[items] -> v.
  bool readWhatWasSet(Operation *op) {
    Operation *set = op->getOperands().empty() ? nullptr : op->getOperand(0).getDefiningOp();
    if (!isBasicRead(op) || !set || !isReplacingSet(set) || indexItemsOf(op) != indexItemsOf(set) ||
        !llvm::equal(indexOperandsOf(op), indexOperandsOf(set))) {
      return false;
    }
    Value value = set->getOperand(1);
    if (value.getType() == op->getResult(0).getType() && sizes.sameShape(value, op->getResult(0))) {
      addOpIds(set, opIdsOf(op));
      replace(op, value);
      return true;
    }
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    if (!type.hasStaticShape()) {
      return false;
    }
    ArrayRef<int64_t> shape = type.getShape();
    OpCall call{OpKind::broadcast_to,
                {tracert::AttrValue::ints(tracert::Dims(shape.begin(), shape.end()))}};
    if (failed(inferResultTypes(op->getContext(), call, value))) {
      return false;
    }
    replace(op, create(op, call, value, type, {op})->getResult(0));
    return true;
  }

  /// x[mask] = v -> where(mask, v, x) when v does not span the count.
  bool setToWhere(Operation *op) {
    if (!isReplacingSet(op)) {
      return false;
    }
    IndexWithOperands index = indexOf(op);
    Value base = op->getOperand(0), value = op->getOperand(1);
    unsigned before = 0, after = 0; // full slices around the mask
    std::optional<unsigned> maskRank;
    for (const IndexItem &item : index.items.items) {
      if (item.kind == IndexItemKind::Mask && !maskRank && item.maskRank > 0) {
        maskRank = item.maskRank;
      } else if (isFullSlice(item)) {
        ++(maskRank ? after : before);
      } else {
        return false;
      }
    }
    if (!maskRank || index.operands.size() != 1) {
      return false;
    }
    Value mask = index.operands[0];
    auto valueType = cast<RankedTensorType>(value.getType());
    unsigned valueRank = valueType.getRank();
    // The value's axes are those after the mask, the count, those before the mask; from the end.
    bool hasCountAxis = valueRank > after;
    if ((hasCountAxis && valueType.getDimSize(valueRank - 1 - after) != 1) ||
        (valueRank > after + 1 && *maskRank != 1) || !maskFits(mask, base, before) ||
        !valueFits(value, base, after)) {
      return false;
    }
    if (after > 0) {
      IndexItems items;
      items.items.resize(*maskRank);
      items.items.resize(*maskRank + after, IndexItem{IndexItemKind::NewAxis});
      OpCall call = indexCall(OpKind::subtensor, items);
      FailureOr<SmallVector<Type>> types = inferResultTypes(op->getContext(), call, mask);
      if (failed(types)) {
        return false;
      }
      mask = create(op, call, mask, *types, {op})->getResult(0);
    }
    OpCall where{OpKind::where, {}};
    FailureOr<SmallVector<Type>> types =
        inferResultTypes(op->getContext(), where, ValueRange{mask, value, base});
    auto resultType = cast<RankedTensorType>(op->getResult(0).getType());
    if (failed(types) || !isCompatible(tensorTypeOf(types->front()), tensorTypeOf(resultType))) {
      return false;
    }
    replace(op, create(op, where, {mask, value, base}, resultType, {op})->getResult(0));
    return true;
  }

  /// where words another error: the value's axes beside the count must be those of the base, or 1.
  bool valueFits(Value value, Value base, unsigned after) {
    ArrayRef<DimExpr> valueDims = sizes.of(value), baseDims = sizes.of(base);
    unsigned rank = valueDims.size();
    if (rank > baseDims.size()) {
      return false;
    }
    for (unsigned fromEnd = 1; fromEnd <= rank; ++fromEnd) {
      DimExpr dim = valueDims[rank - fromEnd];
      bool isCount = fromEnd == after + 1;
      if (!isCount && !dim.isNumber(1) && dim != baseDims[baseDims.size() - fromEnd]) {
        return false;
      }
    }
    return true;
  }

  /// where would broadcast a mask that the set refuses, so its sizes must be those of the base.
  bool maskFits(Value mask, Value base, unsigned firstAxis) {
    auto maskShape = cast<RankedTensorType>(mask.getType()).getShape();
    auto baseShape = cast<RankedTensorType>(base.getType()).getShape();
    ArrayRef<DimExpr> maskDims = sizes.of(mask), baseDims = sizes.of(base);
    for (auto [axis, dim] : llvm::enumerate(maskShape)) {
      if (dim != baseShape[firstAxis + axis] || maskDims[axis] != baseDims[firstAxis + axis]) {
        return false;
      }
    }
    return true;
  }

  //===--------------------------------------------------------------------===//
  // view(f(a, b)) -> f(view(a), view(b))
  //===--------------------------------------------------------------------===//

  /// Returns the op to look at next, going backwards.
  Operation *pushView(Operation *op) {
    Operation *previous = op->getPrevNode();
    const tracert::OpInfo *info = opInfoOf(op);
    if (!info || !info->has(tracert::kTraitView) || op->getNumOperands() != 1 ||
        info->has(tracert::kTraitRepeats)) {
      return previous;
    }
    Operation *producer = op->getOperand(0).getDefiningOp();
    const tracert::OpInfo *producerInfo = producer ? opInfoOf(producer) : nullptr;
    if (!producerInfo || !producerInfo->isPointwise() || !producer->hasOneUse()) {
      return previous;
    }
    FailureOr<OpCall> viewCall = opCallOf(op);
    FailureOr<OpCall> producerCall = opCallOf(producer);
    SmallVector<std::optional<OpCall>> calls;
    bool touchesFull = false;
    bool viewFails = sizes.canFail(op);
    for (Value operand : producer->getOperands()) {
      std::optional<OpCall> call;
      bool isRankZero = cast<RankedTensorType>(operand.getType()).getRank() == 0;
      if (!isRankZero) {
        call = viewOfOperand(op, *viewCall, operand, producer->getResult(0));
        bool isFull = sizes.sameShape(operand, producer->getResult(0));
        // An error must name the axis and the shape that the user's view met.
        if (!call || (viewFails && !isFull)) {
          return previous;
        }
        touchesFull |= isFull;
      }
      calls.push_back(std::move(call));
    }
    if (!touchesFull) {
      return previous;
    }
    Operands operands;
    SmallVector<Type> newTypes;
    for (auto [operand, call] : llvm::zip(producer->getOperands(), calls)) {
      FailureOr<SmallVector<Type>> types;
      if (call) {
        types = inferResultTypes(op->getContext(), *call, operand);
        if (failed(types)) {
          return previous;
        }
      }
      newTypes.push_back(call ? types->front() : operand.getType());
    }
    SmallVector<Operation *> views;
    for (auto [operand, call, type] : llvm::zip(producer->getOperands(), calls, newTypes)) {
      if (!call) {
        operands.push_back(operand);
        continue;
      }
      Operation *view = create(op, *call, operand, type, {op});
      copyUnchecked(op, view);
      operands.push_back(view->getResult(0));
      views.push_back(view);
    }
    Operation *result = create(op, *producerCall, operands, op->getResultTypes(), {producer, op});
    replace(op, result->getResult(0));
    // The producer may be what would be visited next.
    producer->erase();
    for (Operation *view : views) {
      (void)composeViews(view);
    }
    return result;
  }

  /// The view that `op` (of the pointwise result) is on one operand, or nullopt.
  std::optional<OpCall> viewOfOperand(Operation *op, const OpCall &call, Value operand,
                                      Value result) {
    ArrayRef<DimExpr> operandDims = sizes.of(operand), resultDims = sizes.of(result);
    unsigned missing = resultDims.size() - operandDims.size();
    for (auto [axis, dim] : llvm::enumerate(operandDims)) {
      if (dim != resultDims[missing + axis] && !dim.isNumber(1)) {
        return std::nullopt;
      }
    }
    bool isFull = operandDims == resultDims;
    if (isFull || (call.info().has(tracert::kTraitPermutes) && missing == 0)) {
      return call;
    }
    return call.info().isBasicRead() ? subtensorOfOperand(call, operandDims, resultDims)
                                     : std::nullopt;
  }

  std::optional<OpCall> subtensorOfOperand(const OpCall &call, ArrayRef<DimExpr> operandDims,
                                           ArrayRef<DimExpr> resultDims) {
    unsigned missing = resultDims.size() - operandDims.size();
    IndexItems items;
    bool hasStarted = missing == 0;
    for (const tracert::ItemPlace &place : tracert::IndexWalk(tracert::attrs::items(call))) {
      IndexItem own = place.item;
      bool isNew = own.kind == IndexItemKind::NewAxis;
      hasStarted = hasStarted || (!isNew && place.axis >= missing);
      if (!hasStarted) {
        continue;
      }
      bool isRepeated = !isNew && operandDims[place.axis - missing].isNumber(1) &&
                        !resultDims[place.axis].isNumber(1);
      if (isRepeated && own.kind == IndexItemKind::Int) {
        own.begin = 0;
      } else if (isRepeated) {
        own = IndexItem();
      }
      items.items.push_back(own);
    }
    return indexCall(OpKind::subtensor, std::move(items));
  }

  SizeAnalysis sizes;
  Block &block;
};

struct ComposeIndexing : impl::ComposeIndexingPassBase<ComposeIndexing> {
  void runOnOperation() override { Composer(getOperation()).run(); }
};

} // namespace
} // namespace tracec::trace
