#include "FileMap.h"

#include <cerrno>
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
} // namespace

Result<MappedFile> mapDescriptor(int descriptor, const std::string &name) {
  auto failure = [&](const char *what) { return ioError(what, name, errno); };
  struct stat info;
  if (::fstat(descriptor, &info) != 0) {
    return failure("read");
  }
  if (S_ISDIR(info.st_mode)) {
    return ioError("read", name, EISDIR);
  }
  if (!S_ISREG(info.st_mode)) {
    return Status::io("cannot read '" + name + "': it is not a regular file", EINVAL, name);
  }
  if (info.st_size == 0) {
    return MappedFile{};
  }
  auto size = static_cast<size_t>(info.st_size);
  void *memory = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
  if (memory == MAP_FAILED) {
    return failure("map");
  }
  MappedFile file;
  file.bytes = {static_cast<const uint8_t *>(memory), size};
  file.owner = std::shared_ptr<const void>(
      memory, [size](const void *mapped) { ::munmap(const_cast<void *>(mapped), size); });
  return file;
}

Result<MappedFile> mapFile(const std::string &path) {
  int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) {
    return ioError("open", path, errno);
  }
  Result<MappedFile> file = mapDescriptor(descriptor, path);
  ::close(descriptor);
  return file;
}

} // namespace tracert
