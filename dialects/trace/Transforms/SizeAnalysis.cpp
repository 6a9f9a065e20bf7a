#include "trace/Transforms/SizeAnalysis.h"

#include "ops/rules/AllRules.h"
#include "ops/rules/Views.h"
#include "trace/IR/ConstantData.h"

using namespace mlir;

namespace tracec::trace {

namespace rules = tracert::rules;

namespace {

constexpr int kMostRuns = 8;

using Types = tracert::Result<SymbolicMath::Types>;

int64_t elementBytes(Value value) {
  return static_cast<int64_t>(tracert::dtypeSize(tensorTypeOf(value.getType()).dtype));
}

bool isNumber(Value value) {
  tracert::TensorType type = tensorTypeOf(value.getType());
  return type.rank() == 0 && tracert::isInteger(type.dtype);
}

Types typesOf(const SymbolicMath &math, const tracert::OpCall &call,
              ArrayRef<SymbolicOperand> operands) {
  return rules::familyTypes<SymbolicMath>(math, call, operands);
}

} // namespace

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

SizeAnalysis::SizeAnalysis(func::FuncOp function)
    : hasGivenSymbols(function->hasAttr(kGivenSymbolsAttr)) {
  auto fixed = function->getAttrOfType<DenseI64ArrayAttr>(kFixedSizesAttr);
  // Arguments that were given the same symbol before stay together.
  DenseMap<int64_t, unsigned> named;
  for (BlockArgument argument : function.getArguments()) {
    auto type = cast<RankedTensorType>(argument.getType());
    auto names =
        function.getArgAttrOfType<DenseI64ArrayAttr>(argument.getArgNumber(), kSymbolsAttr);
    for (auto [axis, size] : llvm::enumerate(type.getShape())) {
      if (!ShapedType::isDynamic(size)) {
        continue;
      }
      unsigned input = inputs.size();
      bool isNamed = names && names.size() == type.getRank() && names[axis] >= 0;
      if (isNamed) {
        input = named.try_emplace(names[axis], input).first->second;
      }
      if (input == inputs.size()) {
        bool isFixed = isNamed && fixed && names[axis] < fixed.size() && fixed[names[axis]] >= 0;
        inputs.push_back({input, isFixed ? std::optional(fixed[names[axis]]) : std::nullopt});
      }
      inputOfAxis[{argument, axis}] = input;
    }
  }
  // Each run but the last makes symbols one. Few do, and later passes read what the first found;
  // what would need more runs is not known to be equal.
  for (int i = 0; i < kMostRuns && run(function); ++i) {
  }
}

bool SizeAnalysis::run(func::FuncOp function) {
  hasMerged = false;
  table = std::make_unique<DimTable>();
  exprOfInput.clear();
  inputOfSymbol.clear();
  values.clear();
  strides.clear();
  sizeValues.clear();
  counts.clear();
  failing.clear();
  domainParents.clear();
  for (BlockArgument argument : function.getArguments()) {
    addArgument(function, argument);
  }
  function.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op != function.getOperation()) {
      add(op);
    }
  });
  return hasMerged;
}

void SizeAnalysis::addArgument(func::FuncOp function, BlockArgument argument) {
  auto type = cast<RankedTensorType>(argument.getType());
  auto recorded =
      function.getArgAttrOfType<DenseI64ArrayAttr>(argument.getArgNumber(), kRecordedShapeAttr);
  bool isRecorded = recorded && recorded.size() == type.getRank();
  DimShape dims;
  for (auto [axis, size] : llvm::enumerate(type.getShape())) {
    if (!ShapedType::isDynamic(size)) {
      dims.push_back(table->number(size));
      continue;
    }
    unsigned input = rootOf(inputOfAxis.lookup({argument, axis}));
    DimExpr &expr = exprOfInput[input];
    if (!expr.get() && inputs[input].fixed) {
      expr = table->number(*inputs[input].fixed);
    } else if (!expr.get()) {
      DimSymbol symbol{.isInput = true};
      if (isRecorded && recorded[axis] >= 0) {
        symbol.hint = recorded[axis];
      }
      expr = table->symbol(symbol);
      inputOfSymbol[*expr.symbol()] = input;
    }
    dims.push_back(expr);
  }
  values[argument] = std::move(dims);
  if (auto order = function.getArgAttrOfType<StringAttr>(argument.getArgNumber(), kStridesAttr)) {
    DimShape own = orderedStrides(argument);
    for (unsigned axis = 0; axis + (order == "inner") < own.size(); ++axis) {
      own[axis] = table->symbol({});
    }
    strides[argument] = std::move(own);
  }
}

unsigned SizeAnalysis::rootOf(unsigned input) const {
  while (inputs[input].parent != input) {
    input = inputs[input].parent;
  }
  return input;
}

std::optional<unsigned> SizeAnalysis::symbolOf(BlockArgument argument, unsigned axis) const {
  auto found = inputOfAxis.find({argument, axis});
  return found == inputOfAxis.end() ? std::nullopt : std::optional(rootOf(found->second));
}

std::optional<int64_t> SizeAnalysis::fixedSize(unsigned symbol) const {
  return inputs[symbol].fixed;
}

/// Only what can be checked at the door: whole sizes of inputs, and static ones.
void SizeAnalysis::meetAtDoor(DimExpr a, DimExpr b) {
  auto inputOf = [&](DimExpr dim) -> std::optional<unsigned> {
    std::optional<unsigned> symbol = dim.symbol();
    auto found = symbol ? inputOfSymbol.find(*symbol) : inputOfSymbol.end();
    return found == inputOfSymbol.end() ? std::nullopt : std::optional(rootOf(found->second));
  };
  if (hasGivenSymbols) {
    return;
  }
  std::optional<unsigned> first = inputOf(a), second = inputOf(b);
  if (!first) {
    std::swap(first, second);
    std::swap(a, b);
  }
  if (!first || first == second) {
    return;
  }
  std::optional<int64_t> &fixed = inputs[*first].fixed;
  if (second) {
    unsigned root = std::min(*first, *second), other = std::max(*first, *second);
    inputs[other].parent = root;
    inputs[root].fixed = inputs[root].fixed ? inputs[root].fixed : inputs[other].fixed;
    hasMerged = true;
  } else if (std::optional<int64_t> size = b.number(); size && *size > 1 && !fixed) {
    fixed = size;
    hasMerged = true;
  }
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

DimExpr SizeAnalysis::countOf(Value mask) {
  DimExpr &count = counts[mask];
  if (!count.get()) {
    count = table->symbol({.isCount = true});
  }
  return count;
}

SymbolicOperand SizeAnalysis::operandOf(Value value) {
  SymbolicOperand operand;
  operand.type = {tensorTypeOf(value.getType()).dtype, values.find(value)->second};
  if (isNumber(value)) {
    DimExpr &size = sizeValues[value];
    if (!size.get()) {
      size = table->symbol({.isSize = false});
    }
    operand.sizeValue = size;
  }
  if (operand.type.dtype == tracert::DType::Bool) {
    operand.count = countOf(value);
  }
  return operand;
}

void SizeAnalysis::addConstant(ConstantOp constant) {
  DimShape dims;
  for (int64_t size : constant.getType().getShape()) {
    dims.push_back(table->number(size));
  }
  if (std::optional<int64_t> value = integerValueOf(constant)) {
    sizeValues[constant.getResult()] = table->number(*value);
  }
  values[constant.getResult()] = std::move(dims);
}

void SizeAnalysis::add(Operation *op) {
  if (auto yield = dyn_cast<YieldOp>(op)) {
    for (auto [value, result] : llvm::zip(yield.getValues(), yield->getParentOp()->getResults())) {
      values[result] = DimShape(values[value]);
    }
    return;
  }
  if (auto constant = dyn_cast<ConstantOp>(op)) {
    return addConstant(constant);
  }
  if (!opInfoOf(op)) {
    return;
  }
  FailureOr<tracert::OpCall> call = opCallOf(op);
  RuleFindings findings;
  SymbolicMath math(*table, findings);
  SmallVector<SymbolicOperand> operands;
  for (Value operand : op->getOperands()) {
    operands.push_back(operandOf(operand));
  }
  Types types =
      succeeded(call) ? typesOf(math, *call, operands) : tracert::Status::internal("no op call");
  findings.canFail |= !types.ok();
  for (auto [index, result] : llvm::enumerate(op->getResults())) {
    DimShape dims;
    for (auto [axis, size] : llvm::enumerate(cast<RankedTensorType>(result.getType()).getShape())) {
      // What the program declares is a promise that the executor keeps.
      bool isByRule = ShapedType::isDynamic(size);
      dims.push_back(!isByRule    ? table->number(size)
                     : types.ok() ? (*types)[index].shape[axis]
                                  : table->symbol({}));
    }
    values[result] = std::move(dims);
  }
  note(op, findings);
  if (!types.ok()) {
    return;
  }
  if (std::optional<DimExpr> value = rules::valueOf<SymbolicMath>(math, *call, operands)) {
    sizeValues[op->getResult(0)] = *value;
  }
}

void SizeAnalysis::note(Operation *op, const RuleFindings &findings) {
  if (findings.canFail) {
    failing.insert(op);
  }
  for (auto [a, b] : findings.equal) {
    uniteDomains(a, b);
  }
  for (auto [a, b] : findings.met) {
    if (opInfoOf(op)->isPointwise()) {
      meetAtDoor(a, b);
    }
    // One of them was 1: then the other's kernels are no kernels of it.
    if (!a.hint() || !b.hint() || a.hint() == b.hint()) {
      uniteDomains(a, b);
    }
  }
}

bool SizeAnalysis::canFail(Operation *op) const { return mayFail(op) || failing.contains(op); }

bool SizeAnalysis::canFailForSomeSizes(Operation *op) {
  FailureOr<tracert::OpCall> call = opCallOf(op);
  if (mayFail(op) || failed(call)) {
    return true;
  }
  DimTable table;
  RuleFindings findings;
  SmallVector<SymbolicOperand> operands;
  for (Value value : op->getOperands()) {
    tracert::TensorType type = tensorTypeOf(value.getType());
    SymbolicOperand operand{{type.dtype, {}}};
    for (int64_t size : type.shape) {
      operand.type.shape.push_back(size == tracert::kUnknownDim ? table.symbol({})
                                                                : table.number(size));
    }
    if (isNumber(value)) {
      operand.sizeValue = table.symbol({.isSize = false});
    }
    operands.push_back(std::move(operand));
  }
  return !typesOf(SymbolicMath(table, findings), *call, operands).ok() || findings.canFail;
}

//===----------------------------------------------------------------------===//
// Asking
//===----------------------------------------------------------------------===//

ArrayRef<DimExpr> SizeAnalysis::of(Value value) const {
  const DimShape &dims = values.find(value)->second;
  return {dims.data(), dims.size()};
}

void SizeAnalysis::uniteDomains(DimExpr a, DimExpr b) {
  for (DimExpr *side : {&a, &b}) {
    DimExpr root = domainOf(*side);
    if (root != *side) {
      domainParents[side->get()] = root;
      *side = root;
    }
  }
  // A count is known only while the program runs; what it meets is known before.
  if (a == b || a.hasCount() || b.hasCount()) {
    return;
  }
  if (a.number()) {
    std::swap(a, b);
  }
  if (!a.number()) {
    domainParents[a.get()] = b;
  }
}

DimExpr SizeAnalysis::domainOf(DimExpr dim) const {
  for (auto found = domainParents.find(dim.get()); found != domainParents.end();
       found = domainParents.find(dim.get())) {
    dim = found->second;
  }
  return dim;
}

SmallVector<DimExpr> SizeAnalysis::domainOf(Value value) const {
  SmallVector<DimExpr> domain;
  for (DimExpr dim : of(value)) {
    domain.push_back(domainOf(dim));
  }
  return domain;
}

//===----------------------------------------------------------------------===//
// Strides
//===----------------------------------------------------------------------===//

DimShape SizeAnalysis::orderedStrides(Value value) const {
  RuleFindings findings;
  return rules::orderedStrides(SymbolicMath(*table, findings), values.find(value)->second,
                               elementBytes(value));
}

/// The strides that the view rule gives; those of a copy when it gives none.
DimShape SizeAnalysis::viewStrides(Operation *view) const {
  FailureOr<tracert::OpCall> call = opCallOf(view);
  Value source = view->getOperand(0), result = view->getResult(0);
  RuleFindings findings;
  SymbolicMath math(*table, findings);
  rules::Lie<SymbolicMath> from{values.find(source)->second, strides.find(source)->second};
  std::optional<DimShape> found;
  if (succeeded(call)) {
    found =
        rules::viewStrides(math, *call, from, values.find(result)->second, elementBytes(source));
  }
  return found ? std::move(*found) : orderedStrides(result);
}

const DimShape &SizeAnalysis::stridesOf(Value value) const {
  // The views between the value and the memory it lies in, the last one first.
  SmallVector<Value> chain{value};
  while (!strides.contains(chain.back())) {
    Operation *op = chain.back().getDefiningOp();
    if (!op || !hasTrait(op, tracert::kTraitView)) {
      strides[chain.back()] = orderedStrides(chain.back());
      break;
    }
    chain.push_back(op->getOperand(0));
  }
  chain.pop_back();
  for (Value view : llvm::reverse(chain)) {
    DimShape made = viewStrides(view.getDefiningOp());
    strides[view] = std::move(made);
  }
  return strides.find(value)->second;
}

bool SizeAnalysis::isContiguous(Value value) const {
  return stridesOf(value) == orderedStrides(value);
}

tracert::InnerStride SizeAnalysis::strideClass(Value value, unsigned rank, unsigned axis) const {
  ArrayRef<DimExpr> dims = of(value);
  unsigned fromEnd = rank - axis;
  if (fromEnd > dims.size()) {
    return tracert::InnerStride::Zero;
  }
  unsigned own = dims.size() - fromEnd;
  DimExpr stride = stridesOf(value)[own];
  if (dims[own].isNumber(1) || stride.isNumber(0)) {
    return tracert::InnerStride::Zero;
  }
  return stride.isNumber(elementBytes(value)) ? tracert::InnerStride::Contiguous
                                              : tracert::InnerStride::Any;
}

} // namespace tracec::trace
