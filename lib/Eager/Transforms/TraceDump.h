/// From a record to a file: one Program with its signature, weights, state and test vectors.
#pragma once

#include "Eager/Transforms/TraceRecord.h"

namespace tracec {

/// Captured tensors become constants with their present values; those that the function writes
/// become session state; written arguments become extra outputs. The test vector's outputs are
/// computed op by op with the eager kernels from the recorded inputs.
Status dumpRecord(const TraceRecord &record, const TraceOptions &options, const DumpOptions &dump);

} // namespace tracec
