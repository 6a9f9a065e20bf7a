/// FlatBuffer tables to Program.
///
///   TRACERT_TRY(readTables(container, options, hashes, program));
///
/// Checks what can be checked per table; verifyProgram checks the whole. Memory used is bounded by
/// the size of the graph's segment. Tensors stay in the file.
#pragma once

#include "Container.h"
#include "ProgramReader.h"

namespace tracert {

Status readTables(const Container &container, const LoadOptions &options, HashCheck hashes,
                  Program &program);

} // namespace tracert
