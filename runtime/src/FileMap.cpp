#include "FileMap.h"

#include "FileFormat.h"
#include "OperatingSystem.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace tracert {
namespace {

Status ioError(const char *what, const std::string &name, int error) {
  return Status::io(std::string("cannot ") + what + " '" + name + "': " + std::strerror(error),
                    error, name);
}

/// Io unless the descriptor is a regular file.
Result<uint64_t> regularFileSize(int descriptor, const std::string &name) {
  os::FileInfo info;
  if (int error = os::fileInfo(descriptor, info)) {
    return ioError("read", name, error);
  }
  if (info.kind == os::FileKind::Folder) {
    return ioError("read", name, EISDIR);
  }
  if (info.kind != os::FileKind::Regular) {
    return Status::io("cannot read '" + name + "': it is not a regular file", EINVAL, name);
  }
  return info.size;
}

template <class F> Result<MappedFile> withOpened(const std::string &path, F &&use) {
  int descriptor = -1;
  if (int error = os::openForReading(path, descriptor)) {
    return ioError("open", path, error);
  }
  Result<MappedFile> file = use(descriptor);
  (void)os::closeFile(descriptor);
  return file;
}

/// Memory for `size` bytes, at a page boundary as in a mapped file.
Result<std::shared_ptr<uint8_t>> allocateFile(uint64_t size, LoadBudget &memory) {
  TRACERT_TRY(memory.take(size, "a copy of the file"));
  auto *bytes = static_cast<uint8_t *>(
      std::aligned_alloc(kSegmentAlignment, alignUp(size, kSegmentAlignment)));
  if (!bytes) {
    return Status::outOfMemory("no memory for a copy of the file's " + std::to_string(size) +
                               " bytes");
  }
  return std::shared_ptr<uint8_t>(bytes, [](uint8_t *held) { std::free(held); });
}

} // namespace

Result<MappedFile> mapDescriptor(int descriptor, const std::string &name) {
  TRACERT_ASSIGN(uint64_t size, regularFileSize(descriptor, name));
  if (size == 0) {
    return MappedFile{};
  }
  const void *memory = nullptr;
  if (int error = os::mapFile(descriptor, size, memory)) {
    return ioError("map", name, error);
  }
  MappedFile file;
  file.bytes = {static_cast<const uint8_t *>(memory), size};
  file.owner = std::shared_ptr<const void>(
      memory, [size](const void *mapped) { os::unmapMemory(const_cast<void *>(mapped), size); });
  return file;
}

Result<MappedFile> mapFile(const std::string &path) {
  return withOpened(path, [&](int descriptor) { return mapDescriptor(descriptor, path); });
}

Result<MappedFile> readDescriptor(int descriptor, const std::string &name, LoadBudget &memory) {
  TRACERT_ASSIGN(uint64_t size, regularFileSize(descriptor, name));
  if (size == 0) {
    return MappedFile{};
  }
  TRACERT_ASSIGN(std::shared_ptr<uint8_t> copy, allocateFile(size, memory));
  for (uint64_t done = 0; done < size;) {
    size_t count = 0;
    if (int error = os::readAt(descriptor, copy.get() + done, size - done, done, count)) {
      return ioError("read", name, error);
    }
    if (count == 0) {
      return Status::io("cannot read '" + name + "': it became shorter while it was read", EIO,
                        name);
    }
    done += count;
  }
  return MappedFile{{copy.get(), size}, copy};
}

Result<MappedFile> readFile(const std::string &path, LoadBudget &memory) {
  return withOpened(path, [&](int descriptor) { return readDescriptor(descriptor, path, memory); });
}

Result<MappedFile> copyBytes(std::span<const uint8_t> bytes, LoadBudget &memory) {
  if (bytes.empty()) {
    return MappedFile{};
  }
  TRACERT_ASSIGN(std::shared_ptr<uint8_t> copy, allocateFile(bytes.size(), memory));
  std::memcpy(copy.get(), bytes.data(), bytes.size());
  return MappedFile{{copy.get(), bytes.size()}, copy};
}

} // namespace tracert
