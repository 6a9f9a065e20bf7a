/// A file with its program and where things lie in it, for tools that show files.
///
///   TRACERT_ASSIGN(LoadedFile file, loadFile("model.trc", options));
///   file.offsetOf(file.program->constants[0].data);
///
/// Loading as loadProgram does it, with the same errors.
#pragma once

#include "tracert/Executor.h"

#include <span>

namespace tracert {

struct FileSegment {
  /// "graph", "weights", "native code", "test vectors", "source locations".
  std::string kind;
  /// Bytes from the start of the file; 0 when it is empty.
  uint64_t offset = 0;
  uint64_t length = 0;
  /// XXH3 64 of the content.
  uint64_t hash = 0;
};

struct LoadedFile {
  std::shared_ptr<const Program> program;
  /// "1.0".
  std::string formatVersion;
  std::vector<FileSegment> segments;
  /// Valid as long as the program.
  std::span<const uint8_t> bytes;

  /// Bytes from the start of the file of what a constant or a test tensor points to.
  uint64_t offsetOf(const void *data) const {
    return static_cast<uint64_t>(static_cast<const uint8_t *>(data) - bytes.data());
  }
};

TRACERT_API Result<LoadedFile> loadFile(const std::string &path, const LoadOptions &options);

} // namespace tracert
