#include "ProgramReader.h"

#include "CheckedMath.h"
#include "Container.h"
#include "ContentHash.h"
#include "FileMap.h"
#include "Guard.h"
#include "ReadTables.h"

namespace tracert {
namespace {

bool wantsHash(SegmentKind kind, const LoadOptions &options) {
  switch (kind) {
  case SegmentKind::Metadata:
  case SegmentKind::Locs:
    return true;
  case SegmentKind::Weights:
  case SegmentKind::Vectors:
  case SegmentKind::Recorded:
    return options.verifyAll;
  case SegmentKind::Code:
    // Checked on the copy that becomes executable; here only when it is not loaded.
    return options.verifyAll;
  }
  // A kind that a newer minor version added and this build skips.
  return options.verifyAll;
}

/// The tiers in order, on bytes that are aligned as a mapped file is.
Result<std::shared_ptr<const Program>> readAligned(const MappedFile &file,
                                                   const LoadOptions &options, HashCheck hashes,
                                                   LoadBudget &memory) {
  TRACERT_ASSIGN(Container container, openContainer(file.bytes));
  if (hashes == HashCheck::Verify) {
    for (size_t i = 0; i < container.segments.size(); ++i) {
      if (wantsHash(static_cast<SegmentKind>(container.segments[i].kind), options)) {
        TRACERT_TRY(checkSegmentHash(container, i));
      }
    }
  }
  auto program = std::make_shared<Program>();
  program->owners.push_back(file.owner);
  TRACERT_TRY(readTables(container, options, hashes, memory, *program));
  TRACERT_TRY(verifyProgram(*program));
  return std::shared_ptr<const Program>(std::move(program));
}

Result<std::shared_ptr<const Program>> readBytes(MappedFile file, const LoadOptions &options,
                                                 HashCheck hashes, LoadBudget &memory) {
  bool isAligned = reinterpret_cast<uintptr_t>(file.bytes.data()) % kTensorAlignment == 0;
  if (!isAligned) {
    TRACERT_ASSIGN(file, copyBytes(file.bytes, memory));
  }
  return readAligned(file, options, hashes, memory);
}

} // namespace

Result<std::shared_ptr<const Program>> readProgram(std::span<const uint8_t> bytes,
                                                   std::shared_ptr<const void> owner,
                                                   const LoadOptions &options, HashCheck hashes) {
  return guardedCall([&]() -> Result<std::shared_ptr<const Program>> {
    LoadBudget memory(options.memoryLimit);
    MappedFile file{bytes, std::move(owner)};
    if (options.copy) {
      TRACERT_ASSIGN(file, copyBytes(bytes, memory));
    }
    return readBytes(std::move(file), options, hashes, memory);
  });
}

Result<std::shared_ptr<const Program>> loadProgram(std::span<const uint8_t> bytes,
                                                   std::shared_ptr<const void> owner,
                                                   const LoadOptions &options) {
  return readProgram(bytes, std::move(owner), options, HashCheck::Verify);
}

Result<std::shared_ptr<const Program>> loadProgram(const std::string &path,
                                                   const LoadOptions &options) {
  return guardedCall([&]() -> Result<std::shared_ptr<const Program>> {
    LoadBudget memory(options.memoryLimit);
    TRACERT_ASSIGN(MappedFile file, options.copy ? readFile(path, memory) : mapFile(path));
    Result<std::shared_ptr<const Program>> program =
        readBytes(std::move(file), options, HashCheck::Verify, memory);
    if (!program.ok()) {
      const Status &status = program.status();
      return status.withMessage("cannot load '" + path + "': " + status.message());
    }
    return program;
  });
}

Result<std::shared_ptr<const Program>> loadDescriptor(int descriptor, const LoadOptions &options) {
  return guardedCall([&]() -> Result<std::shared_ptr<const Program>> {
    LoadBudget memory(options.memoryLimit);
    std::string name = "file descriptor " + std::to_string(descriptor);
    TRACERT_ASSIGN(MappedFile file, options.copy ? readDescriptor(descriptor, name, memory)
                                                 : mapDescriptor(descriptor, name));
    return readBytes(std::move(file), options, HashCheck::Verify, memory);
  });
}

} // namespace tracert
