#include "CallCheck.h"

namespace tracert {
namespace {

std::string inputPrefix(const InputDef &input) { return "input '" + input.name + "': "; }

Status checkDim(const Program &program, const InputDef &input, size_t axis, int64_t size,
                std::vector<int64_t> &symbolSizes) {
  const ValueDef &declared = program.values[input.value];
  uint32_t symbol = axis < input.dimSymbols.size() ? input.dimSymbols[axis] : kNoIndex;
  if (symbol == kNoIndex) {
    if (declared.dims[axis] == kUnknownDim || declared.dims[axis] == size) {
      return {};
    }
    return Status::invalidArgument(inputPrefix(input) + "axis " + std::to_string(axis) +
                                   " must have size " + std::to_string(declared.dims[axis]) +
                                   ", got " + std::to_string(size));
  }
  const SymbolDef &def = program.symbols[symbol];
  if (size < def.min || size > def.max) {
    return Status::invalidArgument(
        inputPrefix(input) + "axis " + std::to_string(axis) + " is '" + def.name +
        "', which must be from " + std::to_string(def.min) + " to " +
        (def.max == INT64_MAX ? std::string("any size") : std::to_string(def.max)) + ", got " +
        std::to_string(size));
  }
  if (symbolSizes[symbol] == kUnknownDim) {
    symbolSizes[symbol] = size;
    return {};
  }
  if (symbolSizes[symbol] == size) {
    return {};
  }
  return Status::invalidArgument(inputPrefix(input) + "axis " + std::to_string(axis) + " is '" +
                                 def.name + "', which is " + std::to_string(symbolSizes[symbol]) +
                                 " in an earlier input, got " + std::to_string(size));
}

} // namespace

std::string inputTypeString(const Program &program, const InputDef &input) {
  const ValueDef &declared = program.values[input.value];
  std::string text = std::string(dtypeName(declared.dtype)) + "[";
  for (size_t axis = 0; axis < declared.dims.size(); ++axis) {
    uint32_t symbol = axis < input.dimSymbols.size() ? input.dimSymbols[axis] : kNoIndex;
    text += axis > 0 ? "," : "";
    if (symbol != kNoIndex) {
      text += program.symbols[symbol].name;
    } else if (declared.dims[axis] == kUnknownDim) {
      text += "?";
    } else {
      text += std::to_string(declared.dims[axis]);
    }
  }
  return text + "]";
}

Status checkCallInputs(const Program &program, std::span<const TensorView> inputs) {
  std::vector<int64_t> symbolSizes(program.symbols.size(), kUnknownDim);
  for (size_t i = 0; i < program.inputs.size(); ++i) {
    const InputDef &input = program.inputs[i];
    const TensorView &view = inputs[i];
    const ValueDef &declared = program.values[input.value];
    if (view.dtype != declared.dtype) {
      return Status::invalidType(inputPrefix(input) + "must be " +
                                 std::string(dtypeName(declared.dtype)) + ", got " +
                                 std::string(dtypeName(view.dtype)));
    }
    if (view.rank() != declared.dims.size()) {
      return Status::invalidArgument(inputPrefix(input) + "must be " +
                                     inputTypeString(program, input) + ", got shape " +
                                     shapeString(view.shape));
    }
    for (size_t axis = 0; axis < view.rank(); ++axis) {
      TRACERT_TRY(checkDim(program, input, axis, view.shape[axis], symbolSizes));
    }
  }
  return {};
}

bool isAligned(const TensorView &view) {
  size_t size = dtypeSize(view.dtype);
  uintptr_t bits = reinterpret_cast<uintptr_t>(view.data);
  for (size_t axis = 0; axis < view.shape.size(); ++axis) {
    // A stride that is never taken does not matter.
    if (view.shape[axis] > 1) {
      bits |= static_cast<uintptr_t>(view.strides[axis]);
    }
  }
  return bits % size == 0;
}

} // namespace tracert
