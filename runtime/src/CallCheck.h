/// The signature check at the door of a call.
///
///   TRACERT_TRY(checkCallInputs(program, inputs));
///
/// Dtypes, ranks, fixed sizes, ranges of named sizes and their agreement between inputs. Messages
/// name the input, what the program takes and what was given.
#pragma once

#include "tracert/Program.h"

#include <span>

namespace tracert {

/// One view per Program::inputs entry.
Status checkCallInputs(const Program &program, std::span<const TensorView> inputs);

/// "float32[n,3]" with the names of its sizes.
std::string inputTypeString(const Program &program, const InputDef &input);

/// Every element lies at a multiple of its size, as kernels require.
bool isAligned(const TensorView &view);

} // namespace tracert
