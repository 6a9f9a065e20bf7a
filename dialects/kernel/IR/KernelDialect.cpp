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
  if (!tracec::dtypeOfElement(elementType)) {
    return emitError() << "expected an element type of a tensor, got " << elementType;
  }
  if (kind == AccessKind::Index && !tracert::isInteger(*dtypeOfElement(elementType))) {
    return emitError() << "index access expects an integer element type, got " << elementType;
  }
  if ((kind == AccessKind::Gather) != (indexedAxes > 0)) {
    return emitError() << "only a gather, and every gather, has indexed axes; got " << indexedAxes;
  }
  return success();
}
