#include "FileKit.h"

#include "src/ContentHash.h"

#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace tracert::test {

std::string containerOf(const std::string &graph, const Segments &segments) {
  std::vector<SegmentEntry> table;
  uint64_t end = sizeof(Preamble) + (1 + segments.size()) * sizeof(SegmentEntry);
  std::string bytes;
  auto place = [&](SegmentKind kind, const std::string &content) {
    uint64_t offset = content.empty() ? 0 : alignUp(end, kSegmentAlignment);
    table.push_back({static_cast<uint32_t>(kind), 0, offset, content.size(), 0});
    if (!content.empty()) {
      bytes.resize(offset);
      bytes += content;
      end = bytes.size();
    }
  };
  place(SegmentKind::Metadata, graph);
  for (const auto &[kind, content] : segments) {
    place(kind, content);
  }
  std::memcpy(bytes.data() + sizeof(Preamble), table.data(), table.size() * sizeof(SegmentEntry));
  Preamble preamble{};
  std::memcpy(preamble.magic, kFileMagic, sizeof kFileMagic);
  preamble.major = kContainerMajor;
  preamble.headerSize = sizeof(Preamble);
  preamble.metadataOffset = table[0].offset;
  preamble.metadataLength = graph.size();
  preamble.tableOffset = sizeof(Preamble);
  preamble.segmentCount = static_cast<uint32_t>(table.size());
  preamble.fileLength = bytes.size();
  std::memcpy(bytes.data(), &preamble, sizeof preamble);
  fixSums(bytes);
  return bytes;
}

void fixSums(std::string &bytes) {
  Preamble preamble;
  std::memcpy(&preamble, bytes.data(), sizeof preamble);
  size_t tableBytes = preamble.segmentCount * sizeof(SegmentEntry);
  std::vector<SegmentEntry> table(preamble.segmentCount);
  std::memcpy(table.data(), bytes.data() + preamble.tableOffset, tableBytes);
  for (SegmentEntry &entry : table) {
    bool isInside = entry.offset <= bytes.size() && entry.length <= bytes.size() - entry.offset;
    entry.hash = isInside ? contentHash(bytes.data() + entry.offset, entry.length) : entry.hash;
  }
  std::memcpy(bytes.data() + preamble.tableOffset, table.data(), tableBytes);
  preamble.tableCrc = crc32(table.data(), tableBytes);
  preamble.preambleCrc = crc32(&preamble, offsetof(Preamble, preambleCrc));
  std::memcpy(bytes.data(), &preamble, sizeof preamble);
}

Result<std::shared_ptr<const Program>> loadBytes(const std::string &bytes, LoadOptions options) {
  auto copy = std::make_shared<std::vector<uint8_t>>(bytes.begin(), bytes.end());
  return loadProgram(*copy, copy, options);
}

Folder::Folder() {
  const char *base = std::getenv("TMPDIR");
  path = std::string(base ? base : "/tmp") + "/tracert-test-XXXXXX";
  EXPECT_NE(::mkdtemp(path.data()), nullptr);
}

Folder::~Folder() {
  for (const std::string &name : names()) {
    ::unlink((path + "/" + name).c_str());
  }
  ::rmdir(path.c_str());
}

std::vector<std::string> Folder::names() const {
  std::vector<std::string> found;
  DIR *folder = ::opendir(path.c_str());
  while (dirent *entry = folder ? ::readdir(folder) : nullptr) {
    std::string name = entry->d_name;
    if (name != "." && name != "..") {
      found.push_back(name);
    }
  }
  if (folder) {
    ::closedir(folder);
  }
  return found;
}

} // namespace tracert::test
