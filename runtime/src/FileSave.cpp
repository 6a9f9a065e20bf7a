#include "FileImage.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tracert {
namespace {

Status systemError(const std::string &what, const std::string &path) {
  return Status::io("cannot " + what + " '" + path + "': " + std::strerror(errno));
}

/// A file under a temporary name; removed unless it was renamed.
class TemporaryFile {
public:
  explicit TemporaryFile(const std::string &target) : target(target) {}
  ~TemporaryFile() {
    close();
    if (!name.empty()) {
      ::unlink(name.c_str());
    }
  }

  Status create() {
    for (int attempt = 0; attempt < 100; ++attempt) {
      name = target + ".tmp" + std::to_string(::getpid()) + "-" + std::to_string(attempt);
      descriptor = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
      if (descriptor >= 0) {
        return {};
      }
      if (errno != EEXIST) {
        break;
      }
    }
    name.clear();
    return systemError("create", target);
  }

  Status write(const void *data, size_t size) {
    const char *bytes = static_cast<const char *>(data);
    while (size > 0) {
      ssize_t written = ::write(descriptor, bytes, size);
      if (written < 0 && errno == EINTR) {
        continue;
      }
      if (written < 0) {
        return systemError("write", target);
      }
      bytes += written;
      size -= static_cast<size_t>(written);
    }
    return {};
  }

  Status finish() {
    if (::fsync(descriptor) != 0) {
      return systemError("write", target);
    }
    int closing = descriptor;
    descriptor = -1;
    if (::close(closing) != 0) {
      return systemError("write", target);
    }
    if (::rename(name.c_str(), target.c_str()) != 0) {
      return systemError("rename the written file to", target);
    }
    name.clear();
    syncFolder();
    return {};
  }

private:
  void close() {
    if (descriptor >= 0) {
      ::close(descriptor);
      descriptor = -1;
    }
  }

  /// The rename itself reaches the disk with the folder; the file is complete either way.
  void syncFolder() const {
    size_t slash = target.rfind('/');
    std::string folder = slash == std::string::npos ? "." : target.substr(0, slash + 1);
    int handle = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (handle >= 0) {
      (void)::fsync(handle);
      ::close(handle);
    }
  }

  const std::string &target;
  std::string name;
  int descriptor = -1;
};

} // namespace

Status saveFileImage(const FileImage &image, const std::string &path) {
  struct stat info;
  if (::stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode)) {
    return Status::io("cannot write '" + path + "': it exists and is not a regular file");
  }
  TemporaryFile file(path);
  TRACERT_TRY(file.create());
  static constexpr char zeros[4096] = {};
  uint64_t at = 0;
  for (const FileImage::Piece &piece : image.pieces) {
    while (at < piece.offset) {
      size_t count = std::min<uint64_t>(sizeof zeros, piece.offset - at);
      TRACERT_TRY(file.write(zeros, count));
      at += count;
    }
    TRACERT_TRY(file.write(piece.data, piece.size));
    at += piece.size;
  }
  return file.finish();
}

} // namespace tracert
