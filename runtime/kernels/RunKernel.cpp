#include "generated/OpAttrs.h"
#include "kernels/ElementCheck.h"
#include "kernels/Families.h"
#include "kernels/LoopNest.h"
#include "ops/IndexWalk.h"
#include "scalar/FloatMode.h"

namespace tracert {

namespace {

Status runFamily(const KernelContext &context, const OpCall &call,
                 std::span<const TensorView> operands, std::span<const TensorView> results) {
  using namespace kernels;
  const OpInfo &info = call.info();
  if (info.has(kTraitComposite)) {
    return Status::internal("'" + std::string(info.name) + "' is composite and has no kernel");
  }
  if (info.checksElements()) {
    TRACERT_TRY(checkElements(call, operands[info.checkedOperand]));
  }
  switch (info.family) {
#define TRACERT_FAMILY(name, typeRule, kernel, ...)                                                \
  case OpFamily::name:                                                                             \
    return kernel(context, call, operands, results);
#include "generated/Families.inc"
#undef TRACERT_FAMILY
  }
  return Status::internal("'" + std::string(info.name) + "' has no kernel");
}

} // namespace

Status runKernel(const KernelContext &context, const OpCall &call,
                 std::span<const TensorView> operands, std::span<const TensorView> results) {
  scalar::EnterNumericMode mode;
  Status status = runFamily(context, call, operands, results);
  // A loop that ended early may have found an error that is none.
  if (const RunControl *control = currentRunControl(); control && control->isStopped()) {
    return control->status();
  }
  return status;
}

Result<std::vector<int64_t>> readCounts(const KernelContext &context, const OpCall &call,
                                        std::span<const TensorView> operands) {
  const OpInfo &info = call.info();
  std::vector<int64_t> counts;
  if (info.family == OpFamily::Compress) {
    counts.push_back(countTrue(context, operands[0]));
    TRACERT_TRY(kernels::stoppedStatus());
    return counts;
  }
  if (info.family != OpFamily::Indexing) {
    return Status::internal("'" + std::string(info.name) + "' has no counts");
  }
  size_t fixed = static_cast<size_t>(info.operandCount);
  for (const ItemPlace &place : IndexWalk(attrs::items(call))) {
    if (place.item.kind == IndexItemKind::Mask) {
      counts.push_back(countTrue(context, operands[fixed + place.operand]));
    }
  }
  // Results are sized by counts: too small a one must not be used.
  TRACERT_TRY(kernels::stoppedStatus());
  return counts;
}

} // namespace tracert
