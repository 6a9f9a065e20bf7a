/// The loader's parts, for tests and fuzzing; users call loadProgram.
///
///   TRACERT_ASSIGN(auto program, readProgram(bytes, owner, options, HashCheck::Skip));
#pragma once

#include "tracert/Executor.h"

namespace tracert {

/// Skip lets changed bytes reach the checks behind the hashes.
enum class HashCheck : bool { Skip, Verify };

/// The structure tier: preamble, segment table, FlatBuffers; then the meaning tier. Code is never
/// taken over when hashes are skipped.
Result<std::shared_ptr<const Program>> readProgram(std::span<const uint8_t> bytes,
                                                   std::shared_ptr<const void> owner,
                                                   const LoadOptions &options, HashCheck hashes);

/// loadProgram for a descriptor, which stays the caller's.
Result<std::shared_ptr<const Program>> loadDescriptor(int descriptor, const LoadOptions &options);

} // namespace tracert
