#include "tracert/LoadedFile.h"

#include "Container.h"
#include "FileMap.h"

#include <cstring>

namespace tracert {

Result<LoadedFile> loadFile(const std::string &path, const LoadOptions &options) {
  TRACERT_ASSIGN(MappedFile mapped, mapFile(path));
  LoadedFile file;
  file.bytes = mapped.bytes;
  Result<std::shared_ptr<const Program>> program =
      loadProgram(mapped.bytes, std::move(mapped.owner), options);
  if (!program.ok()) {
    return program.status().withMessage("cannot load '" + path +
                                        "': " + program.status().message());
  }
  file.program = std::move(*program);
  TRACERT_ASSIGN(Container container, openContainer(file.bytes));
  Preamble preamble;
  std::memcpy(&preamble, file.bytes.data(), sizeof preamble);
  file.formatVersion = std::to_string(preamble.major) + "." + std::to_string(preamble.minor);
  for (const SegmentEntry &entry : container.segments) {
    file.segments.push_back({segmentName(static_cast<SegmentKind>(entry.kind)), entry.offset,
                             entry.length, entry.hash});
  }
  return file;
}

} // namespace tracert
