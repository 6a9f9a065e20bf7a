/// Runs the ops that stand for another one on values, each as it is emitted.
#pragma once

#include "Ops/Decompose.h"
#include "tracec/Dispatch.h"

namespace tracec {

class ValueEmitter : public OpEmitter {
public:
  using Run = Result<Values> (*)(const OpCall &call, std::span<const Value> operands);
  explicit ValueEmitter(Run run) : run(run) {}

  Handle add(Value value) {
    values.push_back(std::move(value));
    return static_cast<Handle>(values.size() - 1);
  }
  const Value &operator[](Handle handle) const { return values[handle]; }

  TensorType typeOf(Handle handle) const override { return values[handle]->type(); }
  Result<Handle> emit(const OpCall &call, std::span<const Handle> operands) override {
    Values inputs;
    for (Handle handle : operands) {
      inputs.push_back(values[handle]);
    }
    TRACERT_ASSIGN(Values results, run(call, inputs));
    return add(std::move(results.front()));
  }

private:
  Run run;
  Values values;
};

} // namespace tracec
