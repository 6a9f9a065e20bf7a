/// The file around the FlatBuffer: preamble and segments, checked.
///
///   TRACERT_ASSIGN(Container container, openContainer(bytes));
///   std::span<const uint8_t> code = container.segment(i);
#pragma once

#include "FileFormat.h"
#include "tracert/Status.h"

#include <span>
#include <vector>

namespace tracert {

struct Container {
  std::span<const uint8_t> bytes;
  std::vector<SegmentEntry> segments;

  std::span<const uint8_t> segment(size_t index) const {
    const SegmentEntry &entry = segments[index];
    return entry.length == 0 ? std::span<const uint8_t>()
                             : bytes.subspan(entry.offset, entry.length);
  }
  bool isKind(size_t index, SegmentKind kind) const {
    return index < segments.size() && segments[index].kind == static_cast<uint32_t>(kind);
  }
  /// The only segment of a kind, or -1.
  int find(SegmentKind kind) const {
    for (size_t i = 0; i < segments.size(); ++i) {
      if (isKind(i, kind)) {
        return static_cast<int>(i);
      }
    }
    return -1;
  }
};

/// CorruptFile with what is wrong; Unsupported for a newer container version. Segment bounds are
/// checked, contents are not.
Result<Container> openContainer(std::span<const uint8_t> bytes);

/// CorruptFile when the content is not what was written.
Status checkSegmentHash(const Container &container, size_t index);

const char *segmentName(SegmentKind kind);

} // namespace tracert
