/// From a record to a file: one Program with its signature, weights, state and test vectors.
#pragma once

#include "Eager/Transforms/TraceRecord.h"

namespace tracec {

/// Captured tensors become constants with their present values; those that the function writes
/// become session state; written arguments become extra outputs. Without DumpOptions::testCalls the
/// recorded call is the test vector: its outputs are computed op by op with the eager kernels.
Status dumpRecord(const TraceRecord &record, const TraceOptions &options, const DumpOptions &dump);

/// Copies of the recorded call's arguments, one each. InvalidArgument when one is gone.
Result<std::vector<Tensor>> copyRecordedArguments(const TraceRecord &record);

/// The tensors of the session state that dumpRecord makes, in the order of its inputs.
std::vector<Tensor> capturesWrittenBy(const TraceRecord &record);

} // namespace tracec
