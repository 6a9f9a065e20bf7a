/// The test vectors of a dumped trace: inputs, and outputs from eager execution.
#pragma once

#include "Eager/Transforms/TraceRecord.h"

#include <map>

namespace tracec {

struct DumpedOutput {
  VarId var;
  /// The input that gets it back on the next call, or tracert::kNoIndex.
  uint32_t stateInput;
};

/// A program for a file, and what of the record its signature is made of.
struct DumpedProgram {
  std::shared_ptr<tracert::Program> program;
  /// By input.
  std::vector<uint32_t> inputSlots;
  std::vector<DumpedOutput> outputs;
  /// Weights and initial states.
  std::map<uint32_t, Value> slotValues;
};

/// Adds the calls that the user gave, or the recorded one, to the program.
Status addTestVectors(const TraceRecord &record, const DumpOptions &dump, DumpedProgram &made);

/// A contiguous copy that a program can hold on to.
Result<Value> contiguousCopy(const Value &value);
/// The data of `value`, which the program holds from here on.
const void *keep(tracert::Program &program, const Value &value);

} // namespace tracec
