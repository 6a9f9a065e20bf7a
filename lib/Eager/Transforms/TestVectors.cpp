#include "Eager/Transforms/TestVectors.h"

#include "Eager/DeviceValues.h"
#include "Eager/Evaluate.h"

#include <algorithm>

namespace tracec {

namespace {

/// All vars of the record, computed op by op by the eager kernels.
Result<Values> evaluateRecord(const TraceRecord &record, const Values &slotValues) {
  Values values(record.vars.size());
  for (size_t i = 0; i < record.slots.size(); ++i) {
    values[record.slots[i].var] = slotValues[i];
  }
  for (const TraceStep &step : record.steps) {
    if (step.isConstant) {
      values[record.constants[step.index].var] = record.constants[step.index].value;
      continue;
    }
    const OpStep &op = record.ops[step.index];
    Values operands;
    for (VarId operand : op.operands) {
      operands.push_back(values[operand]);
    }
    tracert::IndexMode before = std::exchange(evalOptions().indexMode, op.indexMode);
    Result<Values> results = evaluate(op.call, operands);
    evalOptions().indexMode = before;
    if (!results.ok()) {
      return results.status();
    }
    for (size_t i = 0; i < results->size(); ++i) {
      values[op.results[i]] = (*results)[i];
    }
  }
  return values;
}

class VectorMaker {
public:
  VectorMaker(const TraceRecord &record, DumpedProgram &made) : record(record), made(made) {}

  Status addRecordedCall() {
    Values all(record.slots.size());
    TRACERT_TRY(findRecordedValues(all));
    TRACERT_ASSIGN(Values values, evaluateRecord(record, all));
    Values expected;
    for (const DumpedOutput &output : made.outputs) {
      expected.push_back(values[output.var]);
    }
    return addVector("recorded call, expected values from eager execution", all, expected);
  }

  Status addTestCall(const TestCall &call) {
    Values all(record.slots.size());
    size_t wantedResults = record.results.size();
    if (call.arguments.size() != record.argumentNames.size() ||
        call.results.size() != wantedResults) {
      return Status::invalidArgument(call.origin + " has " + std::to_string(call.arguments.size()) +
                                     " tensors and gives " + std::to_string(call.results.size()) +
                                     ", the recorded call has " +
                                     std::to_string(record.argumentNames.size()) + " and gives " +
                                     std::to_string(wantedResults));
    }
    for (uint32_t i = 0; i < all.size(); ++i) {
      const TraceSlot &slot = record.slots[i];
      auto known = made.slotValues.find(i);
      if (known != made.slotValues.end()) {
        all[i] = known->second;
        continue;
      }
      TRACERT_ASSIGN(all[i], call.arguments[slot.argument].read());
      TRACERT_TRY(checkInput(call.origin, slot, all[i]));
    }
    Values expected;
    for (size_t i = 0; i < made.outputs.size(); ++i) {
      const Tensor *result = i < wantedResults
                                 ? &call.results[i]
                                 : writtenTensor(call, record.writes[i - wantedResults]);
      TRACERT_ASSIGN(Value value, result->read());
      expected.push_back(std::move(value));
    }
    return addVector(call.origin + ", expected values from eager execution", all, expected);
  }

private:
  /// Argument and capture values of the recorded call, by slot.
  Status findRecordedValues(Values &all) {
    std::string gone;
    for (uint32_t i = 0; i < all.size(); ++i) {
      if (record.slots[i].kind == TraceSlot::Kind::ArgumentBase) {
        continue;
      }
      const RecordedInput &input = record.recordedInputs[i];
      auto known = made.slotValues.find(i);
      if (known != made.slotValues.end() || input.value) {
        all[i] = known != made.slotValues.end() ? known->second : input.value;
        continue;
      }
      Tensor tensor = input.tensor.lock();
      if (tensor.isDefined()) {
        TRACERT_ASSIGN(all[i], tensor.read());
        continue;
      }
      gone += (gone.empty() ? "'" : ", '") + record.argumentNames[record.slots[i].argument] + "' " +
              record.vars[record.slots[i].var].str();
    }
    if (gone.empty()) {
      return Status();
    }
    return Status::invalidArgument("the test vector needs the recorded call's arguments, and " +
                                   gone + " is gone: a trace keeps no large tensors alive")
        .withAdvice("keep the tensor until dump(), or give test_inputs=[(...)], or leave the "
                    "vectors out with test_vectors=False");
  }

  /// The recorded path serves the call: what the signature fixes is as in the recorded call.
  Status checkInput(const std::string &origin, const TraceSlot &slot, const Value &value) const {
    const TensorType &recorded = record.vars[slot.var];
    if (TypeKey::of(recorded) == TypeKey::of(value->type())) {
      return Status();
    }
    return Status::invalidArgument(origin + ": '" + record.argumentNames[slot.argument] + "' is " +
                                   value->type().str() + ", and was recorded as " + recorded.str())
        .withAdvice("give tensors of the recorded dtype and rank, with size 1 where it was 1");
  }

  const Tensor *writtenTensor(const TestCall &call, const TraceWrite &write) const {
    const TraceSlot &slot = record.slots[write.slot];
    if (slot.kind != TraceSlot::Kind::Captured) {
      return &call.argumentsAfter[slot.argument];
    }
    size_t state = 0;
    for (uint32_t input : made.inputSlots) {
      if (input == write.slot) {
        break;
      }
      state += record.slots[input].kind == TraceSlot::Kind::Captured;
    }
    return &call.capturesAfter[state];
  }

  Status addVector(std::string origin, const Values &slots, const Values &expected) {
    tracert::TestVector vector;
    vector.origin = std::move(origin);
    for (uint32_t slot : made.inputSlots) {
      TRACERT_ASSIGN(Value input, contiguousCopy(slots[slot]));
      vector.inputs.push_back({input->type(), keep(*made.program, input)});
    }
    for (const Value &value : expected) {
      TRACERT_ASSIGN(Value output, contiguousCopy(value));
      vector.outputs.push_back({output->type(), keep(*made.program, output)});
    }
    made.program->testVectors.push_back(std::move(vector));
    return Status();
  }

  const TraceRecord &record;
  DumpedProgram &made;
};

} // namespace

Result<Value> contiguousCopy(const Value &value) {
  TRACERT_TRY(ensureReady(value));
  TRACERT_ASSIGN(Value host, onHost(value));
  TRACERT_ASSIGN(Value copy, allocateValue(value->type()));
  copyView(kernelContext(), host->view(), copy->view());
  return copy;
}

const void *keep(tracert::Program &program, const Value &value) {
  program.owners.push_back(std::shared_ptr<const void>(
      new Value(value), [](const void *held) { delete static_cast<const Value *>(held); }));
  return value->view().data;
}

Status addTestVectors(const TraceRecord &record, const DumpOptions &dump, DumpedProgram &made) {
  VectorMaker maker(record, made);
  if (dump.testCalls.empty()) {
    Status status = maker.addRecordedCall();
    // A file without vectors needs no arguments.
    return dump.keepsTestVectors ? status : Status();
  }
  for (const TestCall &call : dump.testCalls) {
    TRACERT_TRY(maker.addTestCall(call));
  }
  return Status();
}

} // namespace tracec
