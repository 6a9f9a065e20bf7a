#include "trace/Transforms/Passes.h"

#include "trace/IR/OpBridge.h"

#include "llvm/ADT/Hashing.h"

#include <unordered_map>

#define DEBUG_TYPE "trace-eliminate-common-ops"

using namespace mlir;

namespace tracec::trace {

#define GEN_PASS_DEF_ELIMINATECOMMONOPSPASS
#include "trace/Transforms/Passes.h.inc"

namespace {

/// What makes two ops equal: everything but op numbers and location.
struct OpKey {
  SmallVector<Value, 4> operands;
  SmallVector<Attribute, 4> attrs;
  llvm::hash_code hash;

  explicit OpKey(Operation *op) : operands(op->getOperands()) {
    if (hasTrait(op, tracert::kTraitCommutative)) {
      llvm::sort(operands,
                 [](Value a, Value b) { return a.getAsOpaquePointer() < b.getAsOpaquePointer(); });
    }
    for (NamedAttribute attr : op->getAttrs()) {
      if (attr.getName() != "op_ids") {
        attrs.push_back(attr.getValue());
      }
    }
    hash = llvm::hash_combine(op->getName(), llvm::hash_combine_range(operands),
                              llvm::hash_combine_range(attrs),
                              llvm::hash_combine_range(op->getResultTypes()));
  }
};

struct EliminateCommonOps : impl::EliminateCommonOpsPassBase<EliminateCommonOps> {
  void runOnOperation() override {
    std::unordered_multimap<size_t, std::pair<Operation *, OpKey>> seen;
    for (Operation &op : llvm::make_early_inc_range(getOperation().getBody().front())) {
      if (!opKindOf(&op) && !isa<ConstantOp>(op)) {
        continue;
      }
      OpKey key(&op);
      Operation *earlier = nullptr;
      auto [begin, end] = seen.equal_range(size_t(key.hash));
      for (auto entry = begin; entry != end && !earlier; ++entry) {
        auto &[candidate, candidateKey] = entry->second;
        if (candidate->getName() == op.getName() && candidateKey.operands == key.operands &&
            candidateKey.attrs == key.attrs && candidate->getResultTypes() == op.getResultTypes()) {
          earlier = candidate;
        }
      }
      if (!earlier) {
        size_t hash = key.hash;
        seen.emplace(hash, std::pair(&op, std::move(key)));
        continue;
      }
      addOpIds(earlier, opIdsOf(&op));
      op.replaceAllUsesWith(earlier);
      op.erase();
    }
  }
};

} // namespace
} // namespace tracec::trace
