/// What the schema reserves for later: checked, so that a file that will mean something is not
/// nonsense, and otherwise ignored.
///
///   TRACERT_TRY(checkReserved(*root));
#pragma once

#include "tracert/Status.h"

#include "tracert/schema/program_generated.h"

namespace tracert {

/// CorruptFile when a further function, a size expression or a guard refers to what is not there.
/// The tables have passed the FlatBuffers verifier, which bounds how many there are.
Status checkReserved(const schema::ProgramDef &root);

/// CorruptFile unless there is none, or one good tolerance per output.
Status checkTolerances(const schema::TestVectorDef &vector, size_t outputCount);

/// Whether this build can run the section: its instructions are of known kinds, in one block, and
/// its kernels have one nest.
bool isRunnable(const schema::SectionDef &section);

} // namespace tracert
