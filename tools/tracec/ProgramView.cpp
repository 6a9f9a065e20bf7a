#include "ProgramView.h"

#include <algorithm>

namespace cli {

using namespace tracert;

namespace {

/// Constants of more elements have a name and are listed by --constants.
constexpr int64_t kInlineElements = 8;

bool isPlainName(const std::string &name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return std::isalnum(c) || c == '_' || c == '.' || c == '[' || c == ']' || c == '\'';
  });
}

std::string inputName(const std::string &name) {
  return isPlainName(name) ? "%" + name : "%\"" + name + "\"";
}

void addValues(const trt_tensor &tensor, int32_t axis, int64_t &index, int64_t limit,
               std::string &text) {
  if (axis == tensor.rank) {
    text += elementText(tensor, index++);
    return;
  }
  text += "[";
  for (int64_t i = 0; i < tensor.shape[axis]; ++i) {
    text += i > 0 ? ", " : "";
    if (index >= limit) {
      text += "...";
      break;
    }
    addValues(tensor, axis + 1, index, limit, text);
  }
  text += "]";
}

} // namespace

trt_tensor tensorOf(const TensorType &type, const void *data) {
  trt_tensor tensor{};
  tensor.struct_size = sizeof tensor;
  tensor.dtype = static_cast<trt_dtype>(type.dtype);
  tensor.rank = static_cast<int32_t>(type.shape.size());
  tensor.shape = type.shape.data();
  tensor.data = const_cast<void *>(data);
  return tensor;
}

std::string valuesText(const trt_tensor &tensor, int64_t limit) {
  if (elementCount(tensor) == 0) {
    return "[]";
  }
  std::string text;
  int64_t index = 0;
  addValues(tensor, 0, index, limit, text);
  return text;
}

std::string scalarText(const Scalar &scalar) {
  TensorType type{scalar.dtype, {}};
  return elementText(tensorOf(type, &scalar.bits), 0);
}

ProgramView::ProgramView(const Program &program)
    : program(program), names(program.values.size()), constantOf(program.values.size(), -1),
      inputOf(program.values.size(), -1), outputs(program.values.size()) {
  for (size_t i = 0; i < names.size(); ++i) {
    names[i] = "%" + std::to_string(i);
  }
  for (size_t i = 0; i < program.constants.size(); ++i) {
    ValueId value = program.constants[i].value;
    constantOf[value] = static_cast<int>(i);
    names[value] = "%w" + std::to_string(i);
  }
  for (size_t i = 0; i < program.inputs.size(); ++i) {
    ValueId value = program.inputs[i].value;
    inputOf[value] = static_cast<int>(i);
    names[value] = inputName(program.inputs[i].name);
  }
  for (const OutputDef &output : program.outputs) {
    std::string &text = outputs[output.value];
    text += (text.empty() ? "" : ", ") + output.name;
  }
  for (const NativeSection &section : program.sections) {
    std::vector<int> &kernels = coverage.emplace_back(program.ops.size(), -1);
    auto &ops = covered.emplace_back(section.kernels.size());
    for (const Block &block : section.blocks) {
      for (const Instruction &instruction : block.instructions) {
        if (instruction.kind != InstructionKind::Launch) {
          continue;
        }
        for (uint32_t i = 0; i < instruction.coveredCount; ++i) {
          OpIndex op = section.coveredOps[instruction.firstCovered + i];
          kernels[op] = static_cast<int>(instruction.index);
          ops[instruction.index].push_back(op);
        }
      }
    }
  }
}

std::string ProgramView::operandText(ValueId value) const {
  if (constantOf[value] < 0) {
    return names[value];
  }
  const ConstantDef &constant = program.constants[static_cast<size_t>(constantOf[value])];
  if (constant.type.elementCount() > kInlineElements) {
    return names[value];
  }
  return valuesText(tensorOf(constant.type, constant.data), kInlineElements);
}

std::string ProgramView::sizeText(ValueId value, size_t axis) const {
  int64_t size = program.values[value].dims[axis];
  if (size != kUnknownDim) {
    return std::to_string(size);
  }
  if (inputOf[value] >= 0) {
    const InputDef &input = program.inputs[static_cast<size_t>(inputOf[value])];
    if (axis < input.dimSymbols.size() && input.dimSymbols[axis] != kNoIndex) {
      return program.symbols[input.dimSymbols[axis]].name;
    }
  }
  return "?";
}

std::string ProgramView::typeText(ValueId value) const {
  const ValueDef &def = program.values[value];
  std::string text = std::string(dtypeName(def.dtype)) + "[";
  for (size_t axis = 0; axis < def.dims.size(); ++axis) {
    text += (axis > 0 ? "," : "") + sizeText(value, axis);
  }
  return text + "]";
}

std::string ProgramView::expression(const OpDef &op) const {
  std::string call = opCallString(op.call);
  size_t open = call.find('(');
  std::string attributes = call.substr(open + 1, call.size() - open - 2);
  std::string text = call.substr(0, open + 1);
  for (size_t i = 0; i < op.operands.size(); ++i) {
    text += (i > 0 ? ", " : "") + operandText(op.operands[i]);
  }
  return text + (op.operands.empty() || attributes.empty() ? "" : ", ") + attributes + ")";
}

std::string ProgramView::kernelText(OpIndex op) const {
  const OpInfo &info = program.ops[op].call.info();
  std::string outside = info.has(kTraitSizeOnly) ? "size"
                        : info.has(kTraitView)   ? "view"
                                                 : "library";
  std::string text, first;
  bool isSame = true;
  for (size_t s = 0; s < coverage.size(); ++s) {
    const NativeSection &section = program.sections[s];
    int kernel = coverage[s][op];
    std::string name = kernel < 0 ? outside : section.kernels[static_cast<size_t>(kernel)].name;
    first = s == 0 ? name : first;
    isSame = isSame && name == first;
    text += (text.empty() ? "" : " ") + std::string(targetName(section.target)) + ":" + name;
  }
  return isSame ? first : text;
}

size_t ProgramView::coveredCount(size_t section) const {
  return static_cast<size_t>(std::count_if(coverage[section].begin(), coverage[section].end(),
                                           [](int kernel) { return kernel >= 0; }));
}

std::string ProgramView::locText(const OpDef &op, bool isWholePath) const {
  if (op.loc == kNoIndex) {
    return "";
  }
  const SourceLoc &loc = program.locs[op.loc];
  const std::string &file = loc.file;
  size_t slash = isWholePath ? std::string::npos : file.rfind('/');
  return (slash == std::string::npos ? file : file.substr(slash + 1)) + ":" +
         std::to_string(loc.line);
}

const char *accessName(AccessKind kind) {
  switch (kind) {
  case AccessKind::Load:
    return "load";
  case AccessKind::Gather:
    return "gather";
  case AccessKind::Index:
    return "index";
  case AccessKind::Store:
    return "store";
  case AccessKind::CompactStore:
    return "compact-store";
  case AccessKind::ReduceStore:
    return "reduce-store";
  case AccessKind::SetStore:
    return "set-store";
  }
  return "unknown";
}

const char *strideName(InnerStride stride) {
  switch (stride) {
  case InnerStride::Zero:
    return "zero";
  case InnerStride::Contiguous:
    return "contiguous";
  case InnerStride::Any:
    return "any";
  }
  return "unknown";
}

const char *splitName(KernelSplit split) {
  switch (split) {
  case KernelSplit::None:
    return "none";
  case KernelSplit::OuterAxis:
    return "outer axis";
  case KernelSplit::SequenceBlocks:
    return "blocks of 4096";
  }
  return "unknown";
}

} // namespace cli
