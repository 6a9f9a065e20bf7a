/// FlatBlob: an ELF object becomes bytes that run wherever they are copied.
///
///   TRACERT_ASSIGN(FlatBlob blob, flattenObject(object, kernelEntryName));
///
/// Sections that are loaded are laid out text first, then read-only data, and the references
/// between them, all relative, are filled in. What cannot be flat is an error (Compile) that names
/// it: writable or zero-initialised data, absolute relocations, a global offset table, undefined
/// symbols.
#pragma once

#include "tracert/Status.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <vector>

namespace tracec {

struct FlatBlob {
  std::vector<uint8_t> bytes;
  uint64_t entry = 0;
};

/// Where blobs must be placed: a multiple of this.
inline constexpr uint64_t kBlobAlignment = 64;

tracert::Result<FlatBlob> flattenObject(llvm::ArrayRef<char> object, llvm::StringRef entryName);

} // namespace tracec
