#include "trace/Transforms/Passes.h"

#include "trace/Transforms/SizeAnalysis.h"

#define DEBUG_TYPE "trace-name-sizes"

using namespace mlir;

namespace tracec::trace {

#define GEN_PASS_DEF_NAMESIZESPASS
#include "trace/Transforms/Passes.h.inc"

namespace {

struct NameSizes : impl::NameSizesPassBase<NameSizes> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    SizeAnalysis sizes(function);
    DenseMap<unsigned, int64_t> numbers;
    SmallVector<int64_t> fixed;
    for (BlockArgument argument : function.getArguments()) {
      auto type = cast<RankedTensorType>(argument.getType());
      if (type.hasStaticShape()) {
        continue;
      }
      SmallVector<int64_t> names;
      for (auto [axis, size] : llvm::enumerate(type.getShape())) {
        std::optional<unsigned> symbol = sizes.symbolOf(argument, axis);
        if (!symbol) {
          names.push_back(-1);
          continue;
        }
        auto [entry, isNew] = numbers.try_emplace(*symbol, numbers.size());
        if (isNew) {
          fixed.push_back(sizes.fixedSize(*symbol).value_or(-1));
        }
        names.push_back(entry->second);
      }
      function.setArgAttr(argument.getArgNumber(), kSymbolsAttr,
                          DenseI64ArrayAttr::get(&getContext(), names));
    }
    if (llvm::any_of(fixed, [](int64_t size) { return size >= 0; })) {
      function->setAttr(kFixedSizesAttr, DenseI64ArrayAttr::get(&getContext(), fixed));
    }
  }
};

} // namespace
} // namespace tracec::trace
