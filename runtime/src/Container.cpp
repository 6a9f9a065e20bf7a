#include "Container.h"

#include "CheckedMath.h"
#include "ContentHash.h"

#include <cstring>

namespace tracert {
namespace {

Status corrupt(std::string message) { return Status::corruptFile(std::move(message)); }

Status checkPreamble(std::span<const uint8_t> bytes, Preamble &preamble) {
  if (bytes.size() < sizeof kFileMagic ||
      std::memcmp(bytes.data(), kFileMagic, sizeof kFileMagic) != 0) {
    return corrupt("not a tracec file: the first bytes are not \"TRACEC\"");
  }
  if (bytes.size() < sizeof(Preamble)) {
    return corrupt("the file is cut off: " + std::to_string(bytes.size()) + " bytes");
  }
  std::memcpy(&preamble, bytes.data(), sizeof preamble);
  if (preamble.major > kContainerMajor ||
      (preamble.major == kContainerMajor && preamble.minor > kContainerMinor + 1)) {
    return Status::unsupported("the file has container version " + std::to_string(preamble.major) +
                               "." + std::to_string(preamble.minor) + ", this build reads up to " +
                               std::to_string(kContainerMajor) + "." +
                               std::to_string(kContainerMinor + 1) +
                               "; load it with a newer libtracert");
  }
  if (preamble.preambleCrc != crc32(&preamble, offsetof(Preamble, preambleCrc))) {
    return corrupt("the preamble is damaged (checksum)");
  }
  if (preamble.headerSize != sizeof(Preamble) || preamble.major == 0) {
    return corrupt("the preamble is damaged");
  }
  if (preamble.flags != 0) {
    return Status::unsupported("the file has flags that this build does not know; load it with a "
                               "newer libtracert");
  }
  if (preamble.fileLength != bytes.size()) {
    return corrupt("the file has " + std::to_string(bytes.size()) + " bytes where " +
                   std::to_string(preamble.fileLength) + " were written" +
                   (bytes.size() < preamble.fileLength ? "; it is cut off" : ""));
  }
  return {};
}

} // namespace

const char *segmentName(SegmentKind kind) {
  switch (kind) {
  case SegmentKind::Metadata:
    return "graph";
  case SegmentKind::Weights:
    return "weights";
  case SegmentKind::Code:
    return "native code";
  case SegmentKind::Vectors:
    return "test vectors";
  case SegmentKind::Locs:
    return "source locations";
  case SegmentKind::Recorded:
    return "recorded graph";
  }
  return "unknown";
}

Result<Container> openContainer(std::span<const uint8_t> bytes) {
  Preamble preamble;
  TRACERT_TRY(checkPreamble(bytes, preamble));
  uint64_t tableBytes = uint64_t(preamble.segmentCount) * sizeof(SegmentEntry);
  if (preamble.segmentCount == 0 || preamble.segmentCount > kMaxSegments ||
      !isRangeInside(preamble.tableOffset, tableBytes, bytes.size())) {
    return corrupt("the segment table is damaged");
  }
  if (preamble.tableCrc != crc32(bytes.data() + preamble.tableOffset, tableBytes)) {
    return corrupt("the segment table is damaged (checksum)");
  }
  Container container;
  container.bytes = bytes;
  container.segments.resize(preamble.segmentCount);
  std::memcpy(container.segments.data(), bytes.data() + preamble.tableOffset, tableBytes);
  uint64_t end = preamble.tableOffset + tableBytes;
  for (size_t i = 0; i < container.segments.size(); ++i) {
    const SegmentEntry &entry = container.segments[i];
    if (entry.length == 0 && entry.offset <= bytes.size()) {
      continue;
    }
    bool isPlaced = isRangeInside(entry.offset, entry.length, bytes.size()) &&
                    entry.offset % kSegmentAlignment == 0 && entry.offset >= end;
    if (!isPlaced) {
      return corrupt("segment " + std::to_string(i) + " lies outside the file");
    }
    end = entry.offset + entry.length;
  }
  const SegmentEntry &first = container.segments[0];
  if (!container.isKind(0, SegmentKind::Metadata) || first.offset != preamble.metadataOffset ||
      first.length != preamble.metadataLength || first.length == 0 ||
      first.length > kMaxMetadataBytes) {
    return corrupt("the graph's segment is damaged");
  }
  return container;
}

Status checkSegmentHash(const Container &container, size_t index) {
  std::span<const uint8_t> content = container.segment(index);
  if (contentHash(content.data(), content.size()) == container.segments[index].hash) {
    return {};
  }
  auto kind = static_cast<SegmentKind>(container.segments[index].kind);
  return corrupt(std::string("the ") + segmentName(kind) + " are damaged (content hash)");
}

} // namespace tracert
