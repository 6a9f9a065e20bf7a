/// Executors of loaded files, and files checked against their own test vectors.
///
///   Status status = verifySection(program, section, control, limits);
///
/// Run without the GIL where others may go on; needs it at entry.
#pragma once

#include "tracec/Value.h"
#include "tracert/Executor.h"
#include "tracert/RunControl.h"

namespace tracec::python {

/// Of each run of a loaded file; 0: none.
struct RunLimits {
  uint64_t memoryBytes = 0;
  uint64_t timeMs = 0;
};

/// Maps the section's code, which other executors of the program may be waiting for.
Result<std::unique_ptr<tracert::Executor>>
makeExecutor(std::shared_ptr<const tracert::Program> program,
             const tracert::ExecutorOptions &options);

/// Runs all vectors in one section; InvalidArgument names the first whose output differs.
Status verifySection(const std::shared_ptr<const tracert::Program> &program,
                     tracert::SectionChoice section, tracert::RunControl &control,
                     const RunLimits &limits);

} // namespace tracec::python
