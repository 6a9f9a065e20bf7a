/// A file's bytes, mapped read-only.
///
///   TRACERT_ASSIGN(MappedFile file, mapFile("model.trc"));
///   loadProgram(file.bytes, file.owner, options);
///
/// The owner unmaps. Io errors name the path. A file that another process shortens while it is
/// mapped ends the process, as with any mapped file; readFile copies instead.
#pragma once

#include "LoadBudget.h"

#include <cstdint>
#include <memory>
#include <span>

namespace tracert {

struct MappedFile {
  std::span<const uint8_t> bytes;
  std::shared_ptr<const void> owner;
};

Result<MappedFile> mapFile(const std::string &path);
/// Does not take over the descriptor; `name` is for messages.
Result<MappedFile> mapDescriptor(int descriptor, const std::string &name);

/// The same bytes in memory of their own, page aligned and counted in `memory`.
Result<MappedFile> readFile(const std::string &path, LoadBudget &memory);
Result<MappedFile> readDescriptor(int descriptor, const std::string &name, LoadBudget &memory);
Result<MappedFile> copyBytes(std::span<const uint8_t> bytes, LoadBudget &memory);

} // namespace tracert
