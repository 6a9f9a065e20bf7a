#include "FileMap.h"

#include "FileFormat.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tracert {
namespace {

Status ioError(const char *what, const std::string &name, int error) {
  return Status::io(std::string("cannot ") + what + " '" + name + "': " + std::strerror(error),
                    error, name);
}
Status failure(const char *what, const std::string &name) { return ioError(what, name, errno); }

/// Io unless the descriptor is a regular file.
Result<uint64_t> regularFileSize(int descriptor, const std::string &name) {
  struct stat info;
  if (::fstat(descriptor, &info) != 0) {
    return failure("read", name);
  }
  if (S_ISDIR(info.st_mode)) {
    return ioError("read", name, EISDIR);
  }
  if (!S_ISREG(info.st_mode)) {
    return Status::io("cannot read '" + name + "': it is not a regular file", EINVAL, name);
  }
  return static_cast<uint64_t>(info.st_size);
}

template <class F> Result<MappedFile> withOpened(const std::string &path, F &&use) {
  int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) {
    return failure("open", path);
  }
  Result<MappedFile> file = use(descriptor);
  ::close(descriptor);
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
  void *memory = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
  if (memory == MAP_FAILED) {
    return failure("map", name);
  }
  MappedFile file;
  file.bytes = {static_cast<const uint8_t *>(memory), size};
  file.owner = std::shared_ptr<const void>(
      memory, [size](const void *mapped) { ::munmap(const_cast<void *>(mapped), size); });
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
    ssize_t count = ::pread(descriptor, copy.get() + done, size - done, static_cast<off_t>(done));
    if (count < 0 && errno == EINTR) {
      continue;
    }
    if (count < 0) {
      return failure("read", name);
    }
    if (count == 0) {
      return Status::io("cannot read '" + name + "': it became shorter while it was read", EIO,
                        name);
    }
    done += static_cast<uint64_t>(count);
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
