#include "trace/IR/TraceDialect.h"

#include "trace/IR/OpBridge.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

#include "trace/IR/TraceDialect.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "trace/IR/TraceAttrs.cpp.inc"

#define GET_OP_CLASSES
#include "trace/IR/TraceOps.cpp.inc"

#define GET_OP_CLASSES
#include "trace/IR/TraceStructure.cpp.inc"

namespace tracec::trace {

namespace {

/// The ops of the list by their type ids.
template <class... Ops> llvm::DenseMap<TypeID, tracert::OpKind> kindsOf() {
  llvm::DenseMap<TypeID, tracert::OpKind> kinds;
  auto add = [&](StringRef name, TypeID id) {
    name.consume_front("trace.");
    if (auto kind = tracert::opKindFromName(std::string_view(name.data(), name.size()))) {
      kinds.try_emplace(id, *kind);
    }
  };
  (add(Ops::getOperationName(), TypeID::get<Ops>()), ...);
  return kinds;
}

} // namespace

void TraceDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "trace/IR/TraceAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "trace/IR/TraceOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "trace/IR/TraceStructure.cpp.inc"
      >();
  kinds = kindsOf<
#define GET_OP_LIST
#include "trace/IR/TraceOps.cpp.inc"
      >();
}

LogicalResult verifyTypeRule(Operation *op) {
  FailureOr<tracert::OpCall> call = opCallOf(op);
  if (failed(call)) {
    return failure();
  }
  SmallVector<tracert::OperandInfo> operands;
  for (Value operand : op->getOperands()) {
    operands.push_back({tensorTypeOf(operand.getType())});
  }
  tracert::Result<tracert::ResultTypes> types = tracert::inferTypes(*call, operands);
  if (!types.ok()) {
    return op->emitOpError() << types.status().message();
  }
  if (types->size() != op->getNumResults()) {
    return op->emitOpError() << "has " << op->getNumResults() << " results, expected "
                             << types->size();
  }
  for (auto [index, type] : llvm::enumerate(*types)) {
    tracert::TensorType declared = tensorTypeOf(op->getResult(index).getType());
    if (!isCompatible(declared, type)) {
      return op->emitOpError() << "result #" << index << " is " << declared.str()
                               << ", but the type rule gives " << type.str();
    }
  }
  return success();
}

void addCheckEffects(Operation *op, SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  if (mayFail(op)) {
    effects.emplace_back(MemoryEffects::Write::get(), CheckResource::get());
  }
}

} // namespace tracec::trace
