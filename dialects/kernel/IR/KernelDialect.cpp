#include "kernel/IR/KernelDialect.h"

#include "tracert/Program.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tracec::kernel;

#include "kernel/IR/KernelDialect.cpp.inc"
#include "kernel/IR/KernelEnums.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "kernel/IR/KernelTypes.cpp.inc"

static_assert(int(AccessKind::SetStore) == int(tracert::AccessKind::SetStore));
static_assert(int(AccessKind::CompactStore) == int(tracert::AccessKind::CompactStore));
static_assert(int(InnerStride::Any) == int(tracert::InnerStride::Any));
static_assert(int(Split::SequenceBlocks) == int(tracert::KernelSplit::SequenceBlocks));

void KernelDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "kernel/IR/KernelTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "kernel/IR/KernelOps.cpp.inc"
      >();
}

LogicalResult AccessType::verify(function_ref<InFlightDiagnostic()> emitError, AccessKind kind,
                                 Type elementType, InnerStride stride, int64_t indexedAxes) {
  if (!elementDType(elementType)) {
    return emitError() << "expected an element type of a tensor, got " << elementType;
  }
  if (kind == AccessKind::Index && !elementType.isInteger(32) && !elementType.isInteger(64)) {
    return emitError() << "index access expects i32 or i64, got " << elementType;
  }
  if ((kind == AccessKind::Gather) != (indexedAxes > 0)) {
    return emitError() << "only a gather, and every gather, has indexed axes; got " << indexedAxes;
  }
  return success();
}

std::optional<tracert::DType> tracec::kernel::elementDType(Type type) {
  if (auto integer = dyn_cast<IntegerType>(type)) {
    switch (integer.getWidth()) {
    case 1:
      return tracert::DType::Bool;
    case 8:
      return integer.isSigned() ? std::nullopt : std::optional(tracert::DType::UInt8);
    case 32:
      return tracert::DType::Int32;
    case 64:
      return tracert::DType::Int64;
    default:
      return std::nullopt;
    }
  }
  if (type.isF16()) {
    return tracert::DType::Float16;
  }
  if (type.isF32()) {
    return tracert::DType::Float32;
  }
  if (type.isF64()) {
    return tracert::DType::Float64;
  }
  return std::nullopt;
}

Type tracec::kernel::elementType(MLIRContext *context, tracert::DType dtype) {
  switch (dtype) {
  case tracert::DType::Bool:
    return IntegerType::get(context, 1);
  case tracert::DType::UInt8:
    return IntegerType::get(context, 8, IntegerType::Unsigned);
  case tracert::DType::Int32:
    return IntegerType::get(context, 32);
  case tracert::DType::Int64:
    return IntegerType::get(context, 64);
  case tracert::DType::Float16:
    return Float16Type::get(context);
  case tracert::DType::Float32:
    return Float32Type::get(context);
  case tracert::DType::Float64:
    return Float64Type::get(context);
  }
  llvm_unreachable("unknown dtype");
}
