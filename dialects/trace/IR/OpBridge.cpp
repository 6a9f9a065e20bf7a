#include "trace/IR/OpBridge.h"

#include "ops/IndexWalk.h"
#include "tracert/IndexMath.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tracec::trace {

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

tracert::TensorType tensorTypeOf(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  tracert::TensorType result;
  result.dtype = *dtypeOfElement(tensor.getElementType());
  for (int64_t dim : tensor.getShape()) {
    result.shape.push_back(ShapedType::isDynamic(dim) ? tracert::kUnknownDim : dim);
  }
  return result;
}

RankedTensorType mlirTypeOf(MLIRContext *context, const tracert::TensorType &type) {
  SmallVector<int64_t> shape;
  for (int64_t dim : type.shape) {
    shape.push_back(dim == tracert::kUnknownDim ? ShapedType::kDynamic : dim);
  }
  return RankedTensorType::get(shape, elementTypeOf(context, type.dtype));
}

bool isCompatible(const tracert::TensorType &a, const tracert::TensorType &b) {
  if (a.dtype != b.dtype || a.rank() != b.rank()) {
    return false;
  }
  for (size_t i = 0; i < a.rank(); ++i) {
    if (a.shape[i] != b.shape[i] && a.shape[i] != tracert::kUnknownDim &&
        b.shape[i] != tracert::kUnknownDim) {
      return false;
    }
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

TypedAttr scalarAttr(MLIRContext *context, const tracert::Scalar &scalar) {
  Type type = elementTypeOf(context, scalar.dtype);
  unsigned bits = type.getIntOrFloatBitWidth();
  APInt raw(bits, scalar.bits, /*isSigned=*/false, /*implicitTrunc=*/true);
  if (auto floatType = dyn_cast<FloatType>(type)) {
    return FloatAttr::get(floatType, APFloat(floatType.getFloatSemantics(), raw));
  }
  return IntegerAttr::get(type, raw);
}

std::optional<tracert::Scalar> scalarOf(Attribute attr) {
  auto typed = dyn_cast<TypedAttr>(attr);
  if (!typed) {
    return std::nullopt;
  }
  std::optional<tracert::DType> dtype = dtypeOfElement(typed.getType());
  if (!dtype) {
    return std::nullopt;
  }
  if (auto value = dyn_cast<FloatAttr>(attr)) {
    return tracert::Scalar{*dtype, value.getValue().bitcastToAPInt().getZExtValue()};
  }
  if (auto value = dyn_cast<IntegerAttr>(attr)) {
    return tracert::Scalar{*dtype, value.getValue().getZExtValue()};
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

namespace {

Attribute toMlir(MLIRContext *context, const tracert::AttrValue &value) {
  Builder builder(context);
  switch (value.kind()) {
  case tracert::AttrKind::Int:
    return builder.getI64IntegerAttr(value.asInt());
  case tracert::AttrKind::Bool:
    return builder.getBoolAttr(value.asBool());
  case tracert::AttrKind::DType:
    return TypeAttr::get(elementTypeOf(context, value.asDType()));
  case tracert::AttrKind::Ints:
    return builder.getDenseI64ArrayAttr(
        ArrayRef<int64_t>(value.asInts().data(), value.asInts().size()));
  case tracert::AttrKind::Float:
    return builder.getF64FloatAttr(value.asNumber());
  case tracert::AttrKind::String:
    return builder.getStringAttr(value.asText());
  case tracert::AttrKind::Scalar:
    return scalarAttr(context, value.asScalar());
  case tracert::AttrKind::Index:
    return IndexItemsAttr::get(context, value.asIndex());
  }
  llvm_unreachable("unknown attribute kind");
}

std::optional<tracert::AttrValue> fromMlir(tracert::AttrKind kind, Attribute attr) {
  switch (kind) {
  case tracert::AttrKind::Int:
    return tracert::AttrValue::integer(cast<IntegerAttr>(attr).getInt());
  case tracert::AttrKind::Bool:
    return tracert::AttrValue::boolean(cast<BoolAttr>(attr).getValue());
  case tracert::AttrKind::DType:
    if (std::optional<tracert::DType> dtype = dtypeOfElement(cast<TypeAttr>(attr).getValue())) {
      return tracert::AttrValue::dtype(*dtype);
    }
    return std::nullopt;
  case tracert::AttrKind::Ints: {
    ArrayRef<int64_t> values = cast<DenseI64ArrayAttr>(attr).asArrayRef();
    return tracert::AttrValue::ints(tracert::Dims(values.begin(), values.end()));
  }
  case tracert::AttrKind::Float:
    return tracert::AttrValue::number(cast<FloatAttr>(attr).getValueAsDouble());
  case tracert::AttrKind::String:
    return tracert::AttrValue::text(cast<StringAttr>(attr).getValue().str());
  case tracert::AttrKind::Scalar:
    if (std::optional<tracert::Scalar> scalar = scalarOf(attr)) {
      return tracert::AttrValue::scalar(*scalar);
    }
    return std::nullopt;
  case tracert::AttrKind::Index:
    return tracert::AttrValue::index(
        std::make_shared<const tracert::IndexItems>(cast<IndexItemsAttr>(attr).toItems()));
  }
  llvm_unreachable("unknown attribute kind");
}

StringAttr attrName(MLIRContext *context, std::string_view name) {
  return StringAttr::get(context, StringRef(name.data(), name.size()));
}

} // namespace

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

std::optional<tracert::OpKind> opKindOf(Operation *op) {
  if (auto *dialect = dyn_cast_or_null<TraceDialect>(op->getDialect())) {
    return dialect->kindOf(op->getName());
  }
  return std::nullopt;
}

const tracert::OpInfo *opInfoOf(Operation *op) {
  std::optional<tracert::OpKind> kind = opKindOf(op);
  return kind ? &tracert::opInfo(*kind) : nullptr;
}

bool hasTrait(Operation *op, tracert::OpTrait trait) {
  const tracert::OpInfo *info = opInfoOf(op);
  return info && info->has(trait);
}

bool isBasicRead(Operation *op) {
  const tracert::OpInfo *info = opInfoOf(op);
  return info && info->isBasicRead();
}

bool isAdvancedRead(Operation *op) {
  const tracert::OpInfo *info = opInfoOf(op);
  return info && info->isAdvancedRead();
}

bool isReplacingSet(Operation *op) {
  const tracert::OpInfo *info = opInfoOf(op);
  return info && info->isReplacingSet();
}

bool isUnchecked(Operation *op) {
  std::optional<Attribute> attr = op->getInherentAttr("unchecked");
  return attr && *attr;
}

FailureOr<tracert::OpCall> opCallOf(Operation *op) {
  std::optional<tracert::OpKind> kind = opKindOf(op);
  if (!kind) {
    return op->emitOpError("is not in the list of ops");
  }
  const tracert::OpInfo &info = tracert::opInfo(*kind);
  tracert::OpCall call{*kind, {}};
  for (uint8_t i = 0; i < info.attrCount; ++i) {
    StringRef name(info.attrs[i].name.data(), info.attrs[i].name.size());
    std::optional<Attribute> attr = op->getInherentAttr(name);
    if (!attr || !*attr) {
      return op->emitOpError() << "lacks attribute '" << name << "'";
    }
    std::optional<tracert::AttrValue> value = fromMlir(info.attrs[i].kind, *attr);
    if (!value) {
      return op->emitOpError() << "attribute '" << name << "' is of no supported dtype: " << *attr;
    }
    call.attrs.push_back(std::move(*value));
  }
  return call;
}

FailureOr<SmallVector<Type>> inferResultTypes(MLIRContext *context, const tracert::OpCall &call,
                                              ValueRange operands) {
  SmallVector<tracert::OperandInfo> infos;
  for (Value operand : operands) {
    infos.push_back({tensorTypeOf(operand.getType())});
  }
  tracert::Result<tracert::ResultTypes> types = tracert::inferTypes(call, infos);
  if (!types.ok()) {
    return failure();
  }
  SmallVector<Type> result;
  for (const tracert::TensorType &type : *types) {
    result.push_back(mlirTypeOf(context, type));
  }
  return result;
}

Operation *createOp(OpBuilder &builder, Location loc, const tracert::OpCall &call,
                    ValueRange operands, TypeRange resultTypes, ArrayRef<int64_t> opIds) {
  MLIRContext *context = builder.getContext();
  const tracert::OpInfo &info = call.info();
  OperationState state(loc, ("trace." + StringRef(info.name.data(), info.name.size())).str());
  state.addOperands(operands);
  state.addTypes(resultTypes);
  if (resultTypes.empty()) {
    FailureOr<SmallVector<Type>> types = inferResultTypes(context, call, operands);
    assert(succeeded(types) && "caller checks the type rule");
    state.addTypes(*types);
  }
  NamedAttrList attrs;
  for (uint8_t i = 0; i < info.attrCount; ++i) {
    attrs.set(attrName(context, info.attrs[i].name), toMlir(context, call.attrs[i]));
  }
  if (!opIds.empty()) {
    attrs.set("op_ids", builder.getDenseI64ArrayAttr(opIds));
  }
  state.propertiesAttr = attrs.getDictionary(context);
  return builder.create(state);
}

bool mayFail(Operation *op) {
  if (!hasTrait(op, tracert::kTraitMayFail)) {
    return false;
  }
  IndexItemsAttr attr = indexItemsOf(op);
  if (!attr) {
    return true;
  }
  // Out-of-range positions, and counts that do not fit what they meet.
  bool isSet = hasTrait(op, tracert::kTraitSet);
  ArrayRef<int64_t> shape = cast<RankedTensorType>(op->getOperand(0).getType()).getShape();
  unsigned masks = 0, arrays = 0;
  tracert::IndexItems items = attr.toItems();
  for (tracert::ItemPlace place : tracert::IndexWalk(items)) {
    arrays += place.item.kind == tracert::IndexItemKind::IntArray;
    masks += place.item.kind == tracert::IndexItemKind::Mask;
    if (place.item.kind != tracert::IndexItemKind::Int) {
      continue;
    }
    int64_t position = place.item.begin;
    int64_t size = place.axis < shape.size() ? shape[place.axis] : ShapedType::kDynamic;
    if (place.item.beginIsOperand || ShapedType::isDynamic(size) ||
        !tracert::resolveIndex(position, size)) {
      return true;
    }
  }
  return arrays > 0 || masks > 1 || (masks == 1 && isSet);
}

ArrayRef<int64_t> opIdsOf(Operation *op) {
  std::optional<Attribute> attr = op->getInherentAttr("op_ids");
  if (!attr || !*attr) {
    return {};
  }
  return cast<DenseI64ArrayAttr>(*attr).asArrayRef();
}

void addOpIds(Operation *op, ArrayRef<int64_t> ids) {
  if (ids.empty() || !opKindOf(op)) {
    return;
  }
  SmallVector<int64_t> all(opIdsOf(op));
  all.append(ids.begin(), ids.end());
  llvm::sort(all);
  all.erase(llvm::unique(all), all.end());
  MLIRContext *context = op->getContext();
  op->setInherentAttr(StringAttr::get(context, "op_ids"), DenseI64ArrayAttr::get(context, all));
}

IndexItemsAttr indexItemsOf(Operation *op) {
  const tracert::OpInfo *info = opInfoOf(op);
  if (!info || info->family != tracert::OpFamily::Indexing) {
    return {};
  }
  return cast<IndexItemsAttr>(*op->getInherentAttr("items"));
}

unsigned fixedOperandCount(Operation *op) {
  const tracert::OpInfo *info = opInfoOf(op);
  return info && info->operandCount >= 0 ? info->operandCount : op->getNumOperands();
}

OperandRange indexOperandsOf(Operation *op) {
  return op->getOperands().drop_front(fixedOperandCount(op));
}

} // namespace tracec::trace
