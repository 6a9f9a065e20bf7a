/// FlatBuffer tables to Program.
///
///   TRACERT_TRY(readTables(container, options, hashes, memory, program));
///
/// Checks what can be checked per table; verifyProgram checks the whole. What is read is bounded by
/// the size of the graph's segment, what is allocated by `memory`. Tensors stay in the file and do
/// not overlap.
#pragma once

#include "Container.h"
#include "LoadBudget.h"
#include "ProgramReader.h"

namespace tracert {

Status readTables(const Container &container, const LoadOptions &options, HashCheck hashes,
                  LoadBudget &memory, Program &program);

} // namespace tracert
