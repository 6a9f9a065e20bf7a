#include "trace/Transforms/RuleTrial.h"

#include "trace/IR/ConstantData.h"

using namespace mlir;

namespace tracec::trace {

namespace {

// Small, so that the product of eight of them is no size beyond the limits.
constexpr int64_t kPrimes[] = {101, 103, 107, 109, 113, 127, 131, 137, 139, 149, 151, 157,
                               163, 167, 173, 179, 181, 191, 193, 197, 199, 211, 223, 227,
                               229, 233, 239, 241, 251, 257, 263, 269, 271, 277, 281, 283,
                               293, 307, 311, 313, 317, 331, 337, 347, 349, 353, 359, 367};

} // namespace

RuleTrial::RuleTrial(Operation *op, const SymbolicSizes &sizes) : op(op) {
  for (Value operand : op->getOperands()) {
    SmallVector<SymbolicDim> &dims = operandDims.emplace_back(sizes.of(operand));
    for (SymbolicDim &dim : dims) {
      std::optional<int64_t> fixed =
          dim.isStatic() || dim.offset != 0 ? std::nullopt : sizes.fixedSize(dim.symbol);
      dim = fixed ? SymbolicDim{-1, *fixed} : dim;
      addSymbol(dim);
    }
  }
  addSizeOperands(&sizes);
}

RuleTrial::RuleTrial(Operation *op) : op(op) {
  int32_t next = 0;
  for (Value operand : op->getOperands()) {
    SmallVector<SymbolicDim> &dims = operandDims.emplace_back();
    for (int64_t size : cast<RankedTensorType>(operand.getType()).getShape()) {
      dims.push_back(ShapedType::isDynamic(size) ? SymbolicDim{next++, 0} : SymbolicDim{-1, size});
      addSymbol(dims.back());
    }
  }
  addSizeOperands(nullptr);
}

void RuleTrial::addSymbol(SymbolicDim dim) {
  // One more than there are primes for is enough to give up; a concat may have thousands.
  bool isFull = symbols.size() * kRounds > std::size(kPrimes);
  if (!isFull && !dim.isStatic() && !llvm::is_contained(symbols, dim)) {
    symbols.push_back(dim);
  }
}

void RuleTrial::addSizeOperands(const SymbolicSizes *sizes) {
  FailureOr<tracert::OpCall> found = opCallOf(op);
  if (succeeded(found)) {
    call = std::move(*found);
  }
  for (Value operand : op->getOperands().drop_front(fixedOperandCount(op))) {
    std::optional<SymbolicDim> size = sizes ? sizes->sizeValueOf(operand) : std::nullopt;
    auto constant = operand.getDefiningOp<ConstantOp>();
    if (std::optional<int64_t> number = constant ? integerValueOf(constant) : std::nullopt) {
      size = SymbolicDim{-1, *number};
    }
    if (size) {
      addSymbol(*size);
    }
    sizeOperands.push_back(size);
  }
  numberCount = symbols.size() + llvm::count(sizeOperands, std::nullopt);
}

RuleTrial::Numbers RuleTrial::primes(unsigned round) const {
  Numbers numbers;
  for (unsigned i = 0; i < numberCount; ++i) {
    numbers.push_back(kPrimes[i * kRounds + round]);
  }
  return numbers;
}

int64_t RuleTrial::numberOf(SymbolicDim dim, const Numbers &numbers) const {
  return dim.isStatic() ? dim.offset : numbers[llvm::find(symbols, dim) - symbols.begin()];
}

tracert::Result<tracert::ResultTypes> RuleTrial::infer(const Numbers &numbers) const {
  std::vector<tracert::OperandInfo> operands;
  for (auto [operand, dims] : llvm::zip(op->getOperands(), operandDims)) {
    tracert::OperandInfo info{{tensorTypeOf(operand.getType()).dtype, {}}, std::nullopt};
    for (SymbolicDim dim : dims) {
      info.type.shape.push_back(numberOf(dim, numbers));
    }
    operands.push_back(std::move(info));
  }
  size_t next = operands.size() - sizeOperands.size();
  size_t nextData = symbols.size();
  for (std::optional<SymbolicDim> size : sizeOperands) {
    int64_t number = size ? numberOf(*size, numbers) : numbers[nextData++];
    tracert::OperandInfo &operand = operands[next++];
    if (operand.type.rank() == 0 && tracert::isInteger(operand.type.dtype)) {
      operand.sizeValue = number;
    }
  }
  return tracert::inferTypes(*call, operands);
}

bool RuleTrial::canFail() const {
  bool isTooLarge = numberCount * kRounds > std::size(kPrimes);
  if (mayFail(op) || !call || isTooLarge) {
    return true;
  }
  for (unsigned round = 0; round < kRounds; ++round) {
    if (!infer(primes(round)).ok()) {
      return true;
    }
  }
  for (unsigned i = 0; i < numberCount; ++i) {
    Numbers numbers = primes(0);
    numbers[i] = 0;
    bool fails = !infer(numbers).ok();
    if (i >= symbols.size()) {
      // A number that is data may be negative, too.
      numbers[i] = -kPrimes[i * kRounds];
      fails = fails || !infer(numbers).ok();
    }
    if (fails) {
      return true;
    }
  }
  return false;
}

std::optional<SymbolicDim> RuleTrial::resultDim(unsigned result, unsigned axis) const {
  if (!call || numberCount * kRounds > std::size(kPrimes)) {
    return std::nullopt;
  }
  SmallVector<SymbolicDim> candidates = symbols;
  for (unsigned round = 0; round < kRounds; ++round) {
    Numbers numbers = primes(round);
    tracert::Result<tracert::ResultTypes> types = infer(numbers);
    if (!types.ok()) {
      return std::nullopt;
    }
    int64_t size = (*types)[result].shape[axis];
    llvm::erase_if(candidates, [&](SymbolicDim dim) { return numberOf(dim, numbers) != size; });
  }
  return candidates.empty() ? std::nullopt : std::optional(candidates.front());
}

} // namespace tracec::trace
