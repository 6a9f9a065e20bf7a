/// Byte layout of a .trc file around the FlatBuffer (schema/README.md).
///
///   Preamble preamble; std::memcpy(&preamble, bytes, sizeof preamble);
///
/// All numbers little endian. The segment table follows the preamble directly; every segment starts
/// at a multiple of kSegmentAlignment, tensors inside segments at multiples of 64. Unused bytes are
/// zero.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace tracert {

static_assert(std::endian::native == std::endian::little, "files are read in place");

inline constexpr char kFileMagic[8] = {'T', 'R', 'A', 'C', 'E', 'C', '\r', '\n'};
inline constexpr uint16_t kContainerMajor = 1;
inline constexpr uint16_t kContainerMinor = 0;
inline constexpr uint64_t kSegmentAlignment = 4096;
inline constexpr uint64_t kTensorAlignment = 64;
/// More would be a damaged file: one section per target and six kinds.
inline constexpr uint32_t kMaxSegments = 64;
/// FlatBuffers uses 32-bit signed offsets.
inline constexpr uint64_t kMaxMetadataBytes = 0x7FFFFFF0;

struct Preamble {
  char magic[8];
  uint16_t major;
  uint16_t minor;
  uint32_t headerSize;
  uint64_t metadataOffset;
  uint64_t metadataLength;
  uint64_t tableOffset;
  uint32_t segmentCount;
  /// None are defined; a loader refuses any.
  uint32_t flags;
  uint64_t fileLength;
  /// Of the segment table's bytes.
  uint32_t tableCrc;
  /// Of the preamble up to here.
  uint32_t preambleCrc;
};
static_assert(sizeof(Preamble) == 64);

enum class SegmentKind : uint32_t {
  Metadata = 1,
  Weights = 2,
  Code = 3,
  Vectors = 4,
  Locs = 5,
  /// Reserved: the graph as recorded (RecordedDef). Not written yet; a loader ignores it.
  Recorded = 6
};

struct SegmentEntry {
  uint32_t kind;
  uint32_t reserved;
  uint64_t offset;
  uint64_t length;
  /// XXH3 64 of the content.
  uint64_t hash;
};
static_assert(sizeof(SegmentEntry) == 32);

inline uint64_t alignUp(uint64_t offset, uint64_t alignment) {
  return (offset + alignment - 1) / alignment * alignment;
}

/// CRC-32 as zlib and PNG compute it, for the few bytes of preamble and table.
inline uint32_t crc32(const void *data, size_t size) {
  const auto *bytes = static_cast<const uint8_t *>(data);
  uint32_t crc = ~0u;
  for (size_t i = 0; i < size; ++i) {
    crc ^= bytes[i];
    for (int bit = 0; bit < 8; ++bit) {
      crc = (crc >> 1) ^ (0xEDB88320u & (0u - (crc & 1u)));
    }
  }
  return ~crc;
}

} // namespace tracert
