#include "ProgramReader.h"

#include "CheckedMath.h"
#include "Container.h"
#include "ContentHash.h"
#include "FileMap.h"
#include "ReadTables.h"

namespace tracert {
namespace {

/// A copy at a page boundary, for bytes that are not aligned as a mapped file is.
std::shared_ptr<uint8_t> alignedCopy(std::span<const uint8_t> bytes) {
  auto *memory = static_cast<uint8_t *>(
      std::aligned_alloc(kSegmentAlignment, alignUp(bytes.size(), kSegmentAlignment)));
  if (!memory) {
    return nullptr;
  }
  std::memcpy(memory, bytes.data(), bytes.size());
  return {memory, [](uint8_t *held) { std::free(held); }};
}

bool wantsHash(SegmentKind kind, const LoadOptions &options) {
  switch (kind) {
  case SegmentKind::Metadata:
  case SegmentKind::Locs:
    return true;
  case SegmentKind::Weights:
  case SegmentKind::Vectors:
    return options.verifyAll;
  case SegmentKind::Code:
    // Checked on the copy that becomes executable; here only when it is not loaded.
    return options.verifyAll;
  }
  // A kind that a newer minor version added and this build skips.
  return options.verifyAll;
}

} // namespace

Result<std::shared_ptr<const Program>> readProgram(std::span<const uint8_t> bytes,
                                                   std::shared_ptr<const void> owner,
                                                   const LoadOptions &options, HashCheck hashes) {
  if (reinterpret_cast<uintptr_t>(bytes.data()) % kTensorAlignment != 0) {
    std::shared_ptr<uint8_t> copy = alignedCopy(bytes);
    if (!copy) {
      return Status::outOfMemory("no memory for an aligned copy of the file's " +
                                 std::to_string(bytes.size()) + " bytes");
    }
    bytes = {copy.get(), bytes.size()};
    owner = std::move(copy);
  }
  TRACERT_ASSIGN(Container container, openContainer(bytes));
  if (hashes == HashCheck::Verify) {
    for (size_t i = 0; i < container.segments.size(); ++i) {
      if (wantsHash(static_cast<SegmentKind>(container.segments[i].kind), options)) {
        TRACERT_TRY(checkSegmentHash(container, i));
      }
    }
  }
  auto program = std::make_shared<Program>();
  program->owners.push_back(std::move(owner));
  TRACERT_TRY(readTables(container, options, hashes, *program));
  TRACERT_TRY(verifyProgram(*program));
  return std::shared_ptr<const Program>(std::move(program));
}

Result<std::shared_ptr<const Program>> loadProgram(std::span<const uint8_t> bytes,
                                                   std::shared_ptr<const void> owner,
                                                   const LoadOptions &options) {
  return readProgram(bytes, std::move(owner), options, HashCheck::Verify);
}

Result<std::shared_ptr<const Program>> loadProgram(const std::string &path,
                                                   const LoadOptions &options) {
  TRACERT_ASSIGN(MappedFile file, mapFile(path));
  Result<std::shared_ptr<const Program>> program =
      loadProgram(file.bytes, std::move(file.owner), options);
  if (!program.ok()) {
    const Status &status = program.status();
    return status.withMessage("cannot load '" + path + "': " + status.message());
  }
  return program;
}

} // namespace tracert
