#include "Serialization/ProgramBuilder.h"

#include "trace/IR/ConstantData.h"
#include "trace/Transforms/SizeAnalysis.h"

#include <cstdlib>

using namespace mlir;
using tracert::kNoIndex;
using tracert::Status;

namespace tracec {

namespace {

constexpr size_t kConstantAlignment = 64;

std::shared_ptr<const void> alignedCopy(const void *data, size_t bytes) {
  size_t padded = (bytes + kConstantAlignment - 1) / kConstantAlignment * kConstantAlignment;
  void *copy = std::aligned_alloc(kConstantAlignment, std::max(padded, kConstantAlignment));
  std::memcpy(copy, data, bytes);
  return {copy, std::free};
}

} // namespace

ProgramBuilder::ProgramBuilder(func::FuncOp function, ArrayRef<ExternalConstant> constants)
    : function(function), externals(constants) {}

tracert::ValueId ProgramBuilder::addValue(Value value) {
  tracert::TensorType type = trace::tensorTypeOf(value.getType());
  auto id = static_cast<tracert::ValueId>(program->values.size());
  program->values.push_back({type.dtype, type.shape});
  values[value] = id;
  return id;
}

tracert::ValueId ProgramBuilder::valueOf(Value value) const {
  if (auto group = value.getDefiningOp<trace::GroupOp>()) {
    unsigned index = cast<OpResult>(value).getResultNumber();
    value = group.getBody().front().getTerminator()->getOperand(index);
  }
  return values.find(value)->second;
}

uint32_t ProgramBuilder::locOf(Location loc) {
  auto line = loc->findInstanceOf<FileLineColLoc>();
  if (!line) {
    return kNoIndex;
  }
  auto key = std::pair(line.getFilename().str(), static_cast<int32_t>(line.getLine()));
  auto [entry, isNew] = locs.try_emplace(key, program->locs.size());
  if (isNew) {
    program->locs.push_back({key.first, key.second});
  }
  return entry->second;
}

void ProgramBuilder::addSymbols() {
  int64_t count = 0;
  for (BlockArgument argument : function.getArguments()) {
    auto names =
        function.getArgAttrOfType<DenseI64ArrayAttr>(argument.getArgNumber(), trace::kSymbolsAttr);
    for (int64_t name : names ? names.asArrayRef() : ArrayRef<int64_t>()) {
      count = std::max(count, name + 1);
    }
  }
  auto fixed = function->getAttrOfType<DenseI64ArrayAttr>(trace::kFixedSizesAttr);
  for (int64_t i = 0; i < count; ++i) {
    tracert::SymbolDef symbol;
    symbol.name = "s" + std::to_string(i);
    if (fixed && i < fixed.size() && fixed[i] >= 0) {
      symbol.min = symbol.max = fixed[i];
    }
    program->symbols.push_back(std::move(symbol));
  }
}

void ProgramBuilder::addInput(BlockArgument argument) {
  unsigned number = argument.getArgNumber();
  tracert::InputDef input;
  auto name = function.getArgAttrOfType<StringAttr>(number, trace::kNameAttr);
  input.name = name ? name.str() : "arg" + std::to_string(number);
  input.value = addValue(argument);
  auto names = function.getArgAttrOfType<DenseI64ArrayAttr>(number, trace::kSymbolsAttr);
  for (auto [axis, size] : llvm::enumerate(cast<RankedTensorType>(argument.getType()).getShape())) {
    if (!ShapedType::isDynamic(size)) {
      input.dimSymbols.push_back(kNoIndex);
    } else if (names) {
      input.dimSymbols.push_back(static_cast<uint32_t>(names[axis]));
    } else {
      input.dimSymbols.push_back(static_cast<uint32_t>(program->symbols.size()));
      program->symbols.push_back({"s" + std::to_string(program->symbols.size())});
    }
  }
  program->inputs.push_back(std::move(input));
}

Status ProgramBuilder::addConstant(trace::ConstantOp constant) {
  tracert::ConstantDef def;
  def.value = addValue(constant.getResult());
  def.type = trace::tensorTypeOf(constant.getType());
  auto bytes = static_cast<size_t>(def.type.byteCount());
  std::shared_ptr<const void> owner;
  if (std::optional<uint64_t> index = constant.getIndex()) {
    if (*index >= externals.size()) {
      return Status::compile("constant external " + std::to_string(*index) +
                             " has no data: the module was printed without its weights");
    }
    const ExternalConstant &external = externals[*index];
    bool isAligned = reinterpret_cast<uintptr_t>(external.data) % kConstantAlignment == 0;
    if (isAligned && external.owner) {
      def.data = external.data;
      owner = external.owner;
    } else {
      owner = alignedCopy(external.data, bytes);
      def.data = owner.get();
    }
  } else {
    std::optional<std::string> data = trace::bytesOf(constant.getValueAttr());
    if (!data) {
      return Status::compile("a constant of type " + def.type.str() + " has no data");
    }
    owner = alignedCopy(data->data(), bytes);
    def.data = owner.get();
  }
  program->owners.push_back(std::move(owner));
  program->constants.push_back(std::move(def));
  return {};
}

Status ProgramBuilder::addOp(Operation *op) {
  FailureOr<tracert::OpCall> call = trace::opCallOf(op);
  if (failed(call)) {
    return Status::compile("'" + op->getName().getStringRef().str() +
                           "' is not an op that a program can hold");
  }
  if (call->info().has(tracert::kTraitComposite)) {
    return Status::internal("composite '" + std::string(call->info().name) +
                            "' was not decomposed");
  }
  tracert::OpDef def;
  def.call = std::move(*call);
  for (Value operand : op->getOperands()) {
    def.operands.push_back(valueOf(operand));
  }
  for (Value result : op->getResults()) {
    def.results.push_back(addValue(result));
  }
  for (int64_t id : trace::opIdsOf(op)) {
    def.sourceOps.push_back(static_cast<uint32_t>(id));
  }
  def.loc = locOf(op->getLoc());
  auto isSet = [&](StringRef name) {
    std::optional<Attribute> attr = op->getInherentAttr(name);
    return attr && *attr;
  };
  def.indexMode = isSet("unchecked") ? tracert::IndexMode::Unchecked : tracert::IndexMode::Checked;
  def.inPlace = isSet("in_place");
  ops[op] = static_cast<tracert::OpIndex>(program->ops.size());
  program->ops.push_back(std::move(def));
  return {};
}

Status ProgramBuilder::addOps() {
  if (function.empty() || !llvm::hasSingleElement(function.getBody())) {
    return Status::compile("a program is one function with one block");
  }
  program->producer = "tracec";
  addSymbols();
  for (BlockArgument argument : function.getArguments()) {
    addInput(argument);
  }
  for (Operation &op : function.getBody().front()) {
    if (auto constant = dyn_cast<trace::ConstantOp>(op)) {
      TRACERT_TRY(addConstant(constant));
    } else if (auto result = dyn_cast<func::ReturnOp>(op)) {
      for (auto [index, value] : llvm::enumerate(result.getOperands())) {
        auto name = function.getResultAttrOfType<StringAttr>(index, trace::kNameAttr);
        tracert::OutputDef output;
        output.name = name ? name.str() : "out" + std::to_string(index);
        output.value = valueOf(value);
        program->outputs.push_back(std::move(output));
      }
    } else {
      TRACERT_TRY(addOp(&op));
    }
  }
  return {};
}

tracert::KernelDef ProgramBuilder::kernelDef(const GroupKernel &kernel, uint64_t codeOffset) {
  tracert::KernelDef def;
  def.name = kernel.name;
  def.codeOffset = codeOffset;
  def.domainValue = kernel.fusion.domain ? valueOf(kernel.fusion.domain) : kNoIndex;
  def.isFlat = kernel.fusion.isFlat;
  def.domainRank = kernel.lowered.domainRank;
  def.reducedAxes.append(kernel.fusion.reducedAxes.begin(), kernel.fusion.reducedAxes.end());
  for (const AccessBinding &binding : kernel.lowered.accesses) {
    tracert::KernelAccess access;
    access.kind = binding.kind;
    access.value = valueOf(binding.value);
    access.op = binding.op ? ops.lookup(binding.op) : kNoIndex;
    access.indexedAxis = binding.indexedAxis;
    access.innerStride = binding.innerStride;
    def.accesses.push_back(access);
  }
  def.split = kernel.lowered.split;
  if (kernel.lowered.countValue) {
    def.countValue = valueOf(kernel.lowered.countValue);
  }
  def.nanosecondsPerElement = kernel.lowered.nanosecondsPerElement;
  return def;
}

Status ProgramBuilder::addSection(tracert::Target target, ArrayRef<GroupKernel> kernels,
                                  CompiledKernels compiled) {
  if (compiled.entries.size() != kernels.size()) {
    return Status::internal("the code has " + std::to_string(compiled.entries.size()) +
                            " entries for " + std::to_string(kernels.size()) + " kernels");
  }
  tracert::NativeSection section;
  section.target = target;
  section.code = std::move(compiled.code);
  DenseMap<Operation *, uint32_t> kernelOfGroup;
  for (auto [index, kernel] : llvm::enumerate(kernels)) {
    kernelOfGroup[kernel.group] = index;
    section.kernels.push_back(kernelDef(kernel, compiled.entries[index]));
  }
  tracert::Block block;
  auto addInstruction = [&](tracert::InstructionKind kind,
                            uint32_t index) -> tracert::Instruction & {
    tracert::Instruction instruction;
    instruction.kind = kind;
    instruction.index = index;
    block.instructions.push_back(instruction);
    return block.instructions.back();
  };
  for (Operation &op : function.getBody().front()) {
    if (llvm::isa<trace::ConstantOp, func::ReturnOp>(op)) {
      continue;
    }
    auto group = dyn_cast<trace::GroupOp>(op);
    if (!group) {
      addInstruction(tracert::InstructionKind::RunOp, ops.lookup(&op));
      continue;
    }
    auto kernel = kernelOfGroup.find(group.getOperation());
    bool hasKernel = kernel != kernelOfGroup.end();
    uint32_t firstCovered = section.coveredOps.size();
    for (Operation &inner : group.getBody().front().without_terminator()) {
      addInstruction(hasKernel ? tracert::InstructionKind::CheckTypes
                               : tracert::InstructionKind::RunOp,
                     ops.lookup(&inner));
      if (hasKernel) {
        section.coveredOps.push_back(ops.lookup(&inner));
      }
    }
    if (hasKernel) {
      tracert::Instruction &launch =
          addInstruction(tracert::InstructionKind::Launch, kernel->second);
      launch.firstCovered = firstCovered;
      launch.coveredCount = section.coveredOps.size() - firstCovered;
    }
  }
  section.blocks.push_back(std::move(block));
  program->sections.push_back(std::move(section));
  return {};
}

std::shared_ptr<tracert::Program> ProgramBuilder::finish() { return std::move(program); }

} // namespace tracec
