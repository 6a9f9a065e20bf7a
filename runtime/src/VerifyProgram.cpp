// The meaning tier: values, ops, signature, constants. Sections are in VerifySections.cpp.
#include "CheckedMath.h"
#include "Guard.h"
#include "OpErrors.h"
#include "VerifySections.h"
#include "tracert/Program.h"

#include "TextCheck.h"

#include <set>

namespace tracert {
namespace {

Status bad(std::string message) { return Status::corruptFile(std::move(message)); }

class ProgramVerifier {
public:
  explicit ProgramVerifier(const Program &program) : program(program) {}

  Status run() {
    isDefined.assign(program.values.size(), false);
    TRACERT_TRY(checkValues());
    TRACERT_TRY(checkSymbols());
    TRACERT_TRY(checkInputs());
    TRACERT_TRY(checkConstants());
    for (OpIndex op = 0; op < program.ops.size(); ++op) {
      if (Status status = checkOp(op); !status.ok()) {
        return bad("op #" + std::to_string(op) + ": " + status.message());
      }
    }
    TRACERT_TRY(checkInPlace());
    TRACERT_TRY(checkOutputs());
    TRACERT_TRY(checkVectors());
    return verifySections(program);
  }

private:
  /// `what` makes the name for a message; names are not made for good programs.
  template <class Name> Status checkDims(const Dims &dims, DType dtype, const Name &what) const {
    if (dims.size() > kMaxRank) {
      return bad(what() + " has rank " + std::to_string(dims.size()) + ", at most " +
                 std::to_string(kMaxRank) + " is possible");
    }
    TensorType known{dtype, dims};
    for (int64_t &dim : known.shape) {
      if (dim < kUnknownDim) {
        return bad(what() + " has a negative size");
      }
      dim = dim == kUnknownDim ? 1 : dim;
    }
    int64_t bytes;
    if (!checkedByteCount(known, bytes)) {
      return bad(what() + " has more bytes than 63 bits count");
    }
    return {};
  }

  Status checkValues() const {
    if (program.values.size() >= kNoIndex || program.ops.size() >= kNoIndex) {
      return bad("too many values or ops");
    }
    for (size_t i = 0; i < program.values.size(); ++i) {
      const ValueDef &value = program.values[i];
      if (!isKnownDType(static_cast<uint8_t>(value.dtype))) {
        return bad("value %" + std::to_string(i) + " has an unknown dtype");
      }
      TRACERT_TRY(
          checkDims(value.dims, value.dtype, [i] { return "value %" + std::to_string(i); }));
    }
    return {};
  }

  Status checkSymbols() const {
    std::set<std::string_view> names;
    for (const SymbolDef &symbol : program.symbols) {
      if (symbol.min < 0 || symbol.max < symbol.min) {
        return bad("size '" + symbol.name + "' has an empty range");
      }
      if (!isName(symbol.name)) {
        return bad("a size has a name that is not text without NUL");
      }
      if (!names.insert(symbol.name).second) {
        return bad("size '" + symbol.name + "' is named twice");
      }
    }
    return {};
  }

  template <class Name> Status define(ValueId value, const Name &what) {
    if (value >= program.values.size()) {
      return bad(what() + " is value %" + std::to_string(value) + " of " +
                 std::to_string(program.values.size()));
    }
    if (isDefined[value]) {
      return bad(what() + ": value %" + std::to_string(value) + " is defined twice");
    }
    isDefined[value] = true;
    return {};
  }

  Status checkInputs() {
    std::set<std::string_view> names;
    for (const InputDef &input : program.inputs) {
      std::string what = "input '" + input.name + "'";
      if (!isName(input.name)) {
        return bad("an input has a name that is not text without NUL");
      }
      TRACERT_TRY(define(input.value, [&] { return what; }));
      if (!names.insert(input.name).second) {
        return bad(what + " is named twice");
      }
      const ValueDef &value = program.values[input.value];
      if (!input.dimSymbols.empty() && input.dimSymbols.size() != value.dims.size()) {
        return bad(what + " names " + std::to_string(input.dimSymbols.size()) + " sizes for rank " +
                   std::to_string(value.dims.size()));
      }
      for (uint32_t symbol : input.dimSymbols) {
        if (symbol != kNoIndex && symbol >= program.symbols.size()) {
          return bad(what + " has a size that is not in the list");
        }
      }
      TRACERT_TRY(checkState(input, what));
    }
    return {};
  }

  Status checkState(const InputDef &input, const std::string &what) const {
    if (input.initialConstant == kNoIndex) {
      return {};
    }
    if (!input.isState || input.initialConstant >= program.constants.size()) {
      return bad(what + " starts from constant " + std::to_string(input.initialConstant) + " of " +
                 std::to_string(program.constants.size()));
    }
    const TensorType &type = program.constants[input.initialConstant].type;
    const ValueDef &value = program.values[input.value];
    if (type.dtype != value.dtype || type.rank() != value.dims.size()) {
      return bad(what + " starts from a constant of type " + type.str());
    }
    return {};
  }

  Status checkTensor(const TensorType &type, const void *data, const std::string &what) const {
    if (!isKnownDType(static_cast<uint8_t>(type.dtype))) {
      return bad(what + " has an unknown dtype");
    }
    TRACERT_TRY(checkDims(type.shape, type.dtype, [&] { return what; }));
    if (!type.isFullyKnown()) {
      return bad(what + " has an unknown size");
    }
    if (!data && type.byteCount() > 0) {
      return bad(what + " has no data");
    }
    if (reinterpret_cast<uintptr_t>(data) % dtypeSize(type.dtype) != 0) {
      return bad(what + " is not aligned");
    }
    if (type.dtype == DType::Bool) {
      // Kernels that count and kernels that compact must agree on what is true.
      const auto *bytes = static_cast<const uint8_t *>(data);
      for (int64_t i = 0; i < type.byteCount(); ++i) {
        if (bytes[i] > 1) {
          return bad(what + " has a bool that is neither 0 nor 1");
        }
      }
    }
    return {};
  }

  Status checkConstants() {
    for (size_t i = 0; i < program.constants.size(); ++i) {
      const ConstantDef &constant = program.constants[i];
      std::string what = "constant " + std::to_string(i);
      TRACERT_TRY(define(constant.value, [&] { return what; }));
      TRACERT_TRY(checkTensor(constant.type, constant.data, what));
      const ValueDef &value = program.values[constant.value];
      if (value.dtype != constant.type.dtype || !(value.dims == constant.type.shape)) {
        return bad(what + " of type " + constant.type.str() + " defines a value of type " +
                   TensorType{value.dtype, value.dims}.str());
      }
    }
    return {};
  }

  Status checkOp(OpIndex index) {
    const OpDef &op = program.ops[index];
    if (static_cast<int>(op.call.kind) >= opCount()) {
      return bad("unknown op kind");
    }
    const OpInfo &info = op.call.info();
    auto name = [&info] { return "'" + std::string(info.name) + "'"; };
    if (info.has(kTraitComposite)) {
      return bad(name() + " must have been decomposed");
    }
    if (op.results.size() != static_cast<size_t>(info.resultCount)) {
      return bad(name() + " has " + std::to_string(op.results.size()) + " results, expected " +
                 std::to_string(info.resultCount));
    }
    if (op.loc != kNoIndex && op.loc >= program.locs.size()) {
      return bad(name() + " has a source location out of range");
    }
    if (op.indexMode != IndexMode::Checked && op.indexMode != IndexMode::Unchecked) {
      return bad(name() + " has an unknown index mode");
    }
    operands.clear();
    for (ValueId operand : op.operands) {
      if (operand >= program.values.size() || !isDefined[operand]) {
        return bad(name() + " uses value %" + std::to_string(operand) + " before it is defined");
      }
      operands.push_back({{program.values[operand].dtype, program.values[operand].dims}});
    }
    TRACERT_ASSIGN(ResultTypes types, inferTypes(op.call, operands));
    for (size_t i = 0; i < op.results.size(); ++i) {
      TRACERT_TRY(define(op.results[i], name));
      const ValueDef &value = program.values[op.results[i]];
      if (!agrees(value, types[i])) {
        return bad(name() + " gives " + types[i].str() + " where value %" +
                   std::to_string(op.results[i]) + " is declared as " +
                   TensorType{value.dtype, value.dims}.str());
      }
    }
    return {};
  }

  static bool agrees(const ValueDef &value, const TensorType &type) {
    if (value.dtype != type.dtype || value.dims.size() != type.rank()) {
      return false;
    }
    for (size_t axis = 0; axis < type.rank(); ++axis) {
      if (value.dims[axis] != kUnknownDim && type.shape[axis] != kUnknownDim &&
          value.dims[axis] != type.shape[axis]) {
        return false;
      }
    }
    return true;
  }

  /// The promise behind inPlace: nothing reads the old value later.
  Status checkInPlace() const {
    std::vector<OpIndex> lastUse(program.values.size(), 0);
    for (OpIndex op = 0; op < program.ops.size(); ++op) {
      // Ops on sizes read no memory.
      if (program.ops[op].call.info().has(kTraitSizeOnly)) {
        continue;
      }
      for (ValueId operand : program.ops[op].operands) {
        lastUse[operand] = op;
      }
    }
    for (const OutputDef &output : program.outputs) {
      if (output.value < lastUse.size()) {
        lastUse[output.value] = kNoIndex;
      }
    }
    for (OpIndex op = 0; op < program.ops.size(); ++op) {
      const OpDef &def = program.ops[op];
      if (!def.inPlace) {
        continue;
      }
      if (!def.call.info().has(kTraitSet) || lastUse[def.operands[0]] != op) {
        return bad("op #" + std::to_string(op) + " is in place but its old value is used later");
      }
    }
    return {};
  }

  Status checkOutputs() const {
    std::set<std::string_view> names;
    std::set<uint32_t> states;
    for (const OutputDef &output : program.outputs) {
      std::string what = "output '" + output.name + "'";
      if (!isName(output.name)) {
        return bad("an output has a name that is not text without NUL");
      }
      if (output.value >= program.values.size() || !isDefined[output.value]) {
        return bad(what + " is value %" + std::to_string(output.value) + ", which nothing defines");
      }
      if (!names.insert(output.name).second) {
        return bad(what + " is named twice");
      }
      if (output.stateInput == kNoIndex) {
        continue;
      }
      if (output.stateInput >= program.inputs.size() ||
          !program.inputs[output.stateInput].isState) {
        return bad(what + " updates an input that is not state");
      }
      if (!states.insert(output.stateInput).second) {
        return bad(what + " updates the same state as another output");
      }
      const ValueDef &from = program.values[output.value];
      const ValueDef &to = program.values[program.inputs[output.stateInput].value];
      if (from.dtype != to.dtype || from.dims.size() != to.dims.size()) {
        return bad(what + " has another type than the state it updates");
      }
    }
    return {};
  }

  Status checkVectors() const {
    for (size_t i = 0; i < program.testVectors.size(); ++i) {
      const TestVector &vector = program.testVectors[i];
      std::string what = "test vector " + std::to_string(i);
      if (vector.inputs.size() != program.inputs.size() ||
          vector.outputs.size() != program.outputs.size()) {
        return bad(what + " does not have the program's inputs and outputs");
      }
      for (const TestTensor &tensor : vector.inputs) {
        TRACERT_TRY(checkTensor(tensor.type, tensor.data, what));
      }
      for (const TestTensor &tensor : vector.outputs) {
        TRACERT_TRY(checkTensor(tensor.type, tensor.data, what));
      }
    }
    return {};
  }

  const Program &program;
  std::vector<bool> isDefined;
  /// Of the op being checked, kept for its memory.
  std::vector<OperandInfo> operands;
};

} // namespace

Status verifyProgram(const Program &program) {
  return guardedCall([&] { return ProgramVerifier(program).run(); });
}

} // namespace tracert
