#include "kernel/IR/KernelDialect.h"

#include "tracert/KernelAbi.h"

using namespace mlir;
using namespace tracec::kernel;

#define GET_OP_CLASSES
#include "kernel/IR/KernelOps.cpp.inc"

//===----------------------------------------------------------------------===//
// kernel.func
//===----------------------------------------------------------------------===//

void FuncOp::build(OpBuilder &builder, OperationState &state, StringRef name, int64_t domainRank) {
  state.getOrAddProperties<Properties>().sym_name = builder.getStringAttr(name);
  state.getOrAddProperties<Properties>().domain_rank = builder.getI64IntegerAttr(domainRank);
  Region *body = state.addRegion();
  body->emplaceBlock();
}

BlockArgument FuncOp::addAccess(AccessType type, Location loc) {
  return getBody().addArgument(type, loc);
}

int64_t FuncOp::vectorAxis() {
  SmallVector<int64_t> domain(getDomainRank(), ShapedType::kDynamic);
  for (int64_t axis : getUnitAxes()) {
    domain[axis] = 1;
  }
  auto axis = static_cast<int64_t>(tracert::vectorAxisOf(domain));
  return domain.empty() || isUnitAxis(axis) ? -1 : axis;
}

static Value maskOf(Operation &op) {
  if (auto compact = dyn_cast<CompactOp>(op)) {
    return compact.getMask();
  }
  if (auto reduce = dyn_cast<ReduceOp>(op)) {
    return reduce.getMask();
  }
  if (auto gather = dyn_cast<GatherOp>(op)) {
    return gather.getMask();
  }
  return nullptr;
}

Value FuncOp::mask() {
  for (Operation &op : getBody().front()) {
    if (Value mask = maskOf(op)) {
      return mask;
    }
  }
  return nullptr;
}

bool FuncOp::hasReduction() { return !getBody().front().getOps<ReduceOp>().empty(); }

static ParseResult parseAxes(OpAsmParser &parser, StringRef keyword, DenseI64ArrayAttr &axes) {
  axes = parser.getBuilder().getDenseI64ArrayAttr({});
  if (failed(parser.parseOptionalKeyword(keyword))) {
    return success();
  }
  axes = dyn_cast_or_null<DenseI64ArrayAttr>(DenseI64ArrayAttr::parse(parser, Type()));
  return success(axes != nullptr);
}

ParseResult FuncOp::parse(OpAsmParser &parser, OperationState &result) {
  Properties &properties = result.getOrAddProperties<Properties>();
  int64_t rank = 0;
  if (parser.parseSymbolName(properties.sym_name) || parser.parseKeyword("domain") ||
      parser.parseInteger(rank) || parseAxes(parser, "reduced", properties.reduced_axes) ||
      parseAxes(parser, "unit", properties.unit_axes)) {
    return failure();
  }
  properties.domain_rank = parser.getBuilder().getI64IntegerAttr(rank);
  if (succeeded(parser.parseOptionalKeyword("flat"))) {
    properties.flat = parser.getBuilder().getUnitAttr();
  }
  Split split = Split::None;
  if (succeeded(parser.parseOptionalKeyword("split"))) {
    StringRef name;
    SMLoc loc = parser.getCurrentLocation();
    if (parser.parseKeyword(&name)) {
      return failure();
    }
    std::optional<Split> parsed = symbolizeSplit(name);
    if (!parsed) {
      return parser.emitError(loc, "expected none, outer_axis or sequence_blocks, got ") << name;
    }
    split = *parsed;
  }
  properties.split = SplitAttr::get(parser.getContext(), split);
  SmallVector<OpAsmParser::Argument> arguments;
  if (parseAxes(parser, "ops", properties.source_ops) ||
      parser.parseArgumentList(arguments, OpAsmParser::Delimiter::Paren, /*allowType=*/true) ||
      parser.parseOptionalAttrDictWithKeyword(result.attributes)) {
    return failure();
  }
  Region *body = result.addRegion();
  if (parser.parseRegion(*body, arguments)) {
    return failure();
  }
  if (body->empty()) {
    Block &block = body->emplaceBlock();
    for (OpAsmParser::Argument &argument : arguments) {
      block.addArgument(argument.type, parser.getEncodedSourceLoc(argument.ssaName.location));
    }
  }
  return success();
}

void FuncOp::print(OpAsmPrinter &printer) {
  auto printAxes = [&](StringRef keyword, ArrayRef<int64_t> axes) {
    if (!axes.empty()) {
      printer << ' ' << keyword << " [";
      llvm::interleaveComma(axes, printer);
      printer << ']';
    }
  };
  printer << ' ';
  printer.printSymbolName(getSymName());
  printer << " domain " << getDomainRank();
  printAxes("reduced", getReducedAxes());
  printAxes("unit", getUnitAxes());
  if (getFlat()) {
    printer << " flat";
  }
  if (getSplit() != Split::None) {
    printer << " split " << stringifySplit(getSplit());
  }
  printAxes("ops", getSourceOps());
  printer << " (";
  llvm::interleaveComma(getBody().getArguments(), printer,
                        [&](BlockArgument argument) { printer.printRegionArgument(argument); });
  printer << ") ";
  printer.printOptionalAttrDictWithKeyword(
      (*this)->getDiscardableAttrs().empty() ? ArrayRef<NamedAttribute>{}
                                             : (*this)->getDiscardableAttrDictionary().getValue());
  printer.printRegion(getBodyRegion(), /*printEntryBlockArgs=*/false,
                      /*printBlockTerminators=*/false);
}

static LogicalResult verifyAxes(FuncOp func, StringRef what, ArrayRef<int64_t> axes) {
  int64_t previous = -1;
  for (int64_t axis : axes) {
    if (axis <= previous || axis >= static_cast<int64_t>(func.getDomainRank())) {
      return func.emitOpError() << what << " axes must ascend and lie below the domain's rank "
                                << func.getDomainRank() << ", got " << axis;
    }
    previous = axis;
  }
  return success();
}

LogicalResult FuncOp::verify() {
  if (static_cast<int64_t>(getDomainRank()) < 0) {
    return emitOpError() << "domain rank must not be negative, got "
                         << static_cast<int64_t>(getDomainRank());
  }
  if (failed(verifyAxes(*this, "reduced", getReducedAxes())) ||
      failed(verifyAxes(*this, "unit", getUnitAxes()))) {
    return failure();
  }
  if (getFlat() && getDomainRank() != 1) {
    return emitOpError() << "a flat domain has rank 1, got " << getDomainRank();
  }
  bool reducesAll = getReducedAxes().size() == getDomainRank();
  if (getSplit() == Split::OuterAxis &&
      (getDomainRank() == 0 || isReducedAxis(0) || isUnitAxis(0))) {
    return emitOpError()
           << "split outer_axis needs an axis 0 that is neither reduced nor a unit axis";
  }
  if (getSplit() == Split::SequenceBlocks && (getDomainRank() != 1 || !reducesAll)) {
    return emitOpError() << "split sequence_blocks needs one axis, reduced; got domain rank "
                         << getDomainRank();
  }
  if (getSplit() == Split::SequenceBlocks && isUnitAxis(0)) {
    return emitOpError() << "split sequence_blocks needs more than one element, got unit axis 0";
  }
  for (BlockArgument argument : getBody().getArguments()) {
    if (!isa<AccessType>(argument.getType())) {
      return emitOpError() << "argument #" << argument.getArgNumber() << " must be an access, got "
                           << argument.getType();
    }
  }
  return success();
}

static bool isWritten(AccessKind kind) {
  return kind != AccessKind::Load && kind != AccessKind::Gather && kind != AccessKind::Index;
}

LogicalResult FuncOp::verifyRegions() {
  Value mask = this->mask();
  bool reducesAll = getReducedAxes().size() == getDomainRank();
  for (Operation &op : getBody().front()) {
    if (op.getDialect() != (*this)->getDialect() || isa<FuncOp>(op)) {
      return op.emitOpError() << "is not allowed in a kernel";
    }
    if (isa<ReduceOp>(op) && getReducedAxes().empty() && getDomainRank() != 0) {
      return op.emitOpError() << "needs a kernel with reduced axes";
    }
    Value other = maskOf(op);
    if (other && other != mask) {
      return op.emitOpError() << "has another mask than the kernel's first one";
    }
    if (mask && isa<ReduceOp>(op) && (!other || !reducesAll)) {
      return op.emitOpError() << "in a kernel with a mask must use it and reduce all "
                              << getDomainRank() << " axes";
    }
  }
  if (mask && getSplit() != Split::None) {
    return emitOpError() << "with a mask cannot be split";
  }
  for (BlockArgument argument : getBody().getArguments()) {
    auto access = cast<AccessType>(argument.getType());
    bool usedOnce = argument.hasOneUse();
    if (isWritten(access.getKind()) && !usedOnce) {
      return emitOpError() << "written access #" << argument.getArgNumber()
                           << " must be used exactly once";
    }
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Ops at one point
//===----------------------------------------------------------------------===//

static LogicalResult verifyKind(Operation *op, Value access, ArrayRef<AccessKind> kinds) {
  AccessKind kind = cast<AccessType>(access.getType()).getKind();
  if (llvm::is_contained(kinds, kind)) {
    return success();
  }
  return op->emitOpError() << "cannot use an access of kind " << stringifyAccessKind(kind);
}

LogicalResult LoadOp::verify() {
  return verifyKind(*this, getAccess(), {AccessKind::Load, AccessKind::Index});
}

LogicalResult GatherOp::verify() {
  if (failed(verifyKind(*this, getAccess(), AccessKind::Gather))) {
    return failure();
  }
  int64_t indexedAxes = getAccess().getType().getIndexedAxes();
  if (static_cast<int64_t>(getIndices().size()) != indexedAxes) {
    return emitOpError() << "expects " << indexedAxes << " indices, got " << getIndices().size();
  }
  return success();
}

LogicalResult ApplyOp::verify() {
  if (getCallee().empty() || getInputs().empty()) {
    return emitOpError() << "needs an op name and at least one operand";
  }
  return success();
}

LogicalResult StoreOp::verify() {
  return verifyKind(*this, getAccess(), {AccessKind::Store, AccessKind::SetStore});
}

LogicalResult CompactOp::verify() {
  return verifyKind(*this, getAccess(), AccessKind::CompactStore);
}

LogicalResult ReduceOp::verify() {
  if (failed(verifyKind(*this, getAccess(), AccessKind::ReduceStore))) {
    return failure();
  }
  std::optional<tracert::OpKind> kind = tracert::opKindFromName(getReduction());
  const tracert::ReductionInfo *info = kind ? tracert::opInfo(*kind).reduction : nullptr;
  if (!info || info->isIndexed) {
    return emitOpError() << "names no reduction of values: \"" << getReduction() << "\"";
  }
  Type element = getValue().getType();
  tracert::DType dtype = *tracec::dtypeOfElement(element);
  auto func = (*this)->getParentOfType<FuncOp>();
  bool isPartial = func && func.getSplit() == Split::SequenceBlocks;
  Type expected = tracec::elementTypeOf(getContext(),
                                        isPartial ? info->accumulator(dtype) : info->result(dtype));
  Type got = getAccess().getType().getElementType();
  if (got != expected) {
    return emitOpError() << "of " << element << " writes " << expected << ", got an access of "
                         << got;
  }
  return success();
}

const tracert::ReductionInfo &ReduceOp::info() {
  return *tracert::opInfo(*tracert::opKindFromName(getReduction())).reduction;
}
