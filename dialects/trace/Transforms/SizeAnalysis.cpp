#include "trace/Transforms/SizeAnalysis.h"

#include "trace/IR/ConstantData.h"
#include "tracert/generated/OpAttrs.h"

using namespace mlir;

namespace tracec::trace {

namespace {

// View rules only do arithmetic on the pointer, so any address will do.
void *const kAddress = reinterpret_cast<void *>(uintptr_t(1) << 40);

tracert::Dims runtimeDims(ArrayRef<int64_t> dims) {
  tracert::Dims result;
  for (int64_t dim : dims) {
    result.push_back(dim < 0 ? tracert::kUnknownDim : dim);
  }
  return result;
}

bool isKnown(ArrayRef<int64_t> dims) {
  return llvm::all_of(dims, [](int64_t dim) { return dim >= 0; });
}

/// Strides of rows that do not touch each other.
SmallVector<int64_t> paddedStrides(ArrayRef<int64_t> dims, tracert::DType dtype) {
  tracert::Dims padded = runtimeDims(dims);
  ++padded.back();
  tracert::Dims strides = tracert::contiguousStrides(padded, dtype);
  return SmallVector<int64_t>(strides.begin(), strides.end());
}

} // namespace

SizeAnalysis::SizeAnalysis(func::FuncOp function) {
  for (BlockArgument argument : function.getArguments()) {
    ValueSizes sizes;
    auto type = cast<RankedTensorType>(argument.getType());
    auto recorded =
        function.getArgAttrOfType<DenseI64ArrayAttr>(argument.getArgNumber(), kRecordedShapeAttr);
    for (auto [axis, dim] : llvm::enumerate(type.getShape())) {
      if (!ShapedType::isDynamic(dim)) {
        sizes.dims.push_back(dim);
      } else if (recorded && recorded.size() == type.getRank() && recorded[axis] >= 0) {
        sizes.dims.push_back(recorded[axis]);
      } else {
        sizes.dims.push_back(kUnrecorded);
      }
    }
    if (auto strides =
            function.getArgAttrOfType<StringAttr>(argument.getArgNumber(), kStridesAttr)) {
      sizes.isContiguous = false;
      if (strides == "inner" && isKnown(sizes.dims) && !sizes.dims.empty()) {
        sizes.strides = paddedStrides(sizes.dims, tensorTypeOf(type).dtype);
      }
    }
    addValue(argument, std::move(sizes));
  }
  function.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op != function.getOperation()) {
      add(op);
    }
  });
}

void SizeAnalysis::addValue(Value value, ValueSizes sizes) {
  if (!sizes.strides && sizes.isContiguous && isKnown(sizes.dims)) {
    tracert::Dims strides =
        tracert::contiguousStrides(runtimeDims(sizes.dims), tensorTypeOf(value.getType()).dtype);
    sizes.strides.emplace(strides.begin(), strides.end());
  }
  values[value] = std::move(sizes);
}

int64_t SizeAnalysis::countSymbol(Value mask) {
  auto [entry, isNew] = countSymbols.try_emplace(mask, 0);
  if (isNew) {
    entry->second = freshSymbol();
  }
  return entry->second;
}

bool SizeAnalysis::hasCount(Value value) const {
  return llvm::any_of(of(value).dims, [&](int64_t dim) { return isCount(dim); });
}

int64_t SizeAnalysis::unknownDim(Operation *op, unsigned result, unsigned axis,
                                 unsigned unknownCount) {
  const tracert::OpInfo &info = *opInfoOf(op);
  unsigned rank = cast<RankedTensorType>(op->getResult(result).getType()).getRank();
  if (info.isPointwise()) {
    int64_t found = kUnrecorded;
    for (Value operand : op->getOperands()) {
      ArrayRef<int64_t> dims = of(operand).dims;
      unsigned fromEnd = rank - axis;
      if (fromEnd <= dims.size() && dims[dims.size() - fromEnd] < found) {
        found = dims[dims.size() - fromEnd];
      }
    }
    return found;
  }
  if (info.has(tracert::kTraitSet)) {
    return of(op->getOperand(0)).dims[axis];
  }
  Value mask;
  if (info.family == tracert::OpFamily::Compress) {
    mask = op->getOperand(0);
  } else if (IndexItemsAttr items = indexItemsOf(op)) {
    if (std::optional<int64_t> dim = dimOfIndexArray(op, axis)) {
      return *dim;
    }
    unsigned operandIndex = fixedOperandCount(op);
    unsigned masks = 0;
    for (const tracert::IndexItem &item : items.toItems().items) {
      operandIndex += item.beginIsOperand + item.endIsOperand;
      if (item.kind == tracert::IndexItemKind::Mask) {
        mask = op->getOperand(operandIndex);
        ++masks;
      }
      operandIndex += item.kind == tracert::IndexItemKind::Mask ||
                      item.kind == tracert::IndexItemKind::IntArray;
    }
    if (masks > 1) {
      mask = {};
    }
  }
  if (mask && unknownCount == 1) {
    return countSymbol(mask);
  }
  // Ops that keep their operand's axes: a single symbol among the operands is the one.
  if (!mask && unknownCount == 1 && info.family != tracert::OpFamily::Shape &&
      !info.has(tracert::kTraitView)) {
    std::optional<int64_t> symbol;
    for (Value operand : op->getOperands()) {
      for (int64_t dim : of(operand).dims) {
        if (dim < 0 && symbol && *symbol != dim) {
          return freshSymbol();
        }
        if (dim < 0) {
          symbol = dim;
        }
      }
    }
    if (symbol) {
      return *symbol;
    }
  }
  return freshSymbol();
}

std::optional<int64_t> SizeAnalysis::dimOfIndexArray(Operation *op, unsigned axis) const {
  tracert::IndexItems items = indexItemsOf(op).toItems();
  if (items.advancedFirst || indexOperandsOf(op).size() != 1) {
    return std::nullopt;
  }
  unsigned produced = 0;
  for (const tracert::IndexItem &item : items.items) {
    if (item.kind == tracert::IndexItemKind::IntArray) {
      ArrayRef<int64_t> dims = of(indexOperandsOf(op)[0]).dims;
      bool isInside = axis >= produced && axis < produced + dims.size();
      return isInside ? std::optional(dims[axis - produced]) : std::nullopt;
    }
    if (item.kind != tracert::IndexItemKind::Slice &&
        item.kind != tracert::IndexItemKind::NewAxis) {
      return std::nullopt;
    }
    ++produced;
  }
  return std::nullopt;
}

void SizeAnalysis::add(Operation *op) {
  if (auto group = dyn_cast<GroupOp>(op)) {
    return;
  }
  if (auto yield = dyn_cast<YieldOp>(op)) {
    for (auto [value, result] : llvm::zip(yield.getValues(), yield->getParentOp()->getResults())) {
      values[result] = ValueSizes(of(value));
    }
    return;
  }
  if (auto constant = dyn_cast<ConstantOp>(op)) {
    ValueSizes sizes;
    sizes.dims.assign(constant.getType().getShape().begin(), constant.getType().getShape().end());
    sizes.sizeValue = integerValueOf(constant);
    addValue(constant.getResult(), std::move(sizes));
    return;
  }
  const tracert::OpInfo *info = opInfoOf(op);
  if (!info) {
    return;
  }
  FailureOr<tracert::OpCall> call = opCallOf(op);
  SmallVector<tracert::OperandInfo> operands;
  bool areKnown = true;
  for (Value operand : op->getOperands()) {
    const ValueSizes &sizes = of(operand);
    operands.push_back(
        {{tensorTypeOf(operand.getType()).dtype, runtimeDims(sizes.dims)}, sizes.sizeValue});
    areKnown &= isKnown(sizes.dims);
  }
  tracert::Result<tracert::ResultTypes> types = succeeded(call)
                                                    ? tracert::inferTypes(*call, operands)
                                                    : tracert::Status::internal("no op call");
  for (auto [index, result] : llvm::enumerate(op->getResults())) {
    tracert::TensorType type = types.ok() ? (*types)[index] : tensorTypeOf(result.getType());
    unsigned unknownCount = llvm::count(type.shape, tracert::kUnknownDim);
    ValueSizes sizes;
    for (auto [axis, dim] : llvm::enumerate(type.shape)) {
      sizes.dims.push_back(dim == tracert::kUnknownDim ? unknownDim(op, index, axis, unknownCount)
                                                       : dim);
    }
    if (types.ok() && areKnown && info->has(tracert::kTraitSizeOnly)) {
      tracert::Result<int64_t> value = tracert::inferSizeValue(*call, operands);
      if (value.ok()) {
        sizes.sizeValue = *value;
      }
    }
    if (types.ok() && info->has(tracert::kTraitView)) {
      sizes.isContiguous = false;
      const ValueSizes &source = of(op->getOperand(0));
      SmallVector<int64_t> sizeOperands;
      for (const tracert::OperandInfo &operand : ArrayRef(operands).drop_front()) {
        if (operand.sizeValue) {
          sizeOperands.push_back(*operand.sizeValue);
        }
      }
      if (source.strides && sizeOperands.size() + 1 == operands.size()) {
        tracert::TensorView view{kAddress, operands[0].type.dtype, operands[0].type.shape,
                                 tracert::Dims(source.strides->begin(), source.strides->end())};
        auto made = tracert::viewOf(*call, view, sizeOperands);
        if (made.ok() && made->has_value()) {
          sizes.strides.emplace((*made)->strides.begin(), (*made)->strides.end());
          sizes.isContiguous = (*made)->isContiguous();
        } else if (made.ok()) {
          sizes.isContiguous = true;
        }
      }
    }
    addValue(result, std::move(sizes));
  }
}

tracert::InnerStride SizeAnalysis::strideClass(Value value, ArrayRef<int64_t> domain,
                                               unsigned axis) const {
  const ValueSizes &sizes = of(value);
  unsigned fromEnd = domain.size() - axis;
  if (fromEnd > sizes.dims.size()) {
    return tracert::InnerStride::Zero;
  }
  unsigned own = sizes.dims.size() - fromEnd;
  // A size that was 1 while recording only by chance gets the stride of the larger ones.
  if (cast<RankedTensorType>(value.getType()).getDimSize(own) == 1) {
    return tracert::InnerStride::Zero;
  }
  int64_t elementBytes = tracert::dtypeSize(tensorTypeOf(value.getType()).dtype);
  if (sizes.strides) {
    int64_t stride = (*sizes.strides)[own];
    return stride == 0              ? tracert::InnerStride::Zero
           : stride == elementBytes ? tracert::InnerStride::Contiguous
                                    : tracert::InnerStride::Any;
  }
  // A contiguous value: the axis is innermost if only axes of size 1 follow.
  bool isInnermost = llvm::all_of(ArrayRef<int64_t>(sizes.dims).drop_front(own + 1),
                                  [](int64_t dim) { return dim == 1; });
  return sizes.isContiguous && isInnermost ? tracert::InnerStride::Contiguous
                                           : tracert::InnerStride::Any;
}

} // namespace tracec::trace
