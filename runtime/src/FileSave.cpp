#include "FileImage.h"

#include "tracert/SavePath.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <linux/magic.h>
#include <optional>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

namespace tracert {
namespace {

/// As many as Linux follows.
constexpr int kMaxLinks = 40;
/// A file name may have 255 bytes; the rest is for what makes the temporary name unique.
constexpr size_t kMaxNameBytes = 200;

Status systemError(const std::string &path, int error) {
  return Status::io("cannot write '" + path + "': " + std::strerror(error), error, path);
}

std::string folderOf(const std::string &path) {
  size_t slash = path.rfind('/');
  return slash == std::string::npos ? "./" : path.substr(0, slash + 1);
}

const char *kindName(mode_t mode) {
  return S_ISFIFO(mode) ? "a pipe" : S_ISSOCK(mode) ? "a socket" : "a device";
}

/// The place that the new file takes, and what is there now.
struct Place {
  std::string path;
  std::optional<struct stat> existing;
};

Status checkReplaceable(const std::string &path, const struct stat &info) {
  if (S_ISDIR(info.st_mode)) {
    return systemError(path, EISDIR);
  }
  if (!S_ISREG(info.st_mode)) {
    return Status::io("cannot write '" + path + "': it is no regular file but " +
                          kindName(info.st_mode),
                      EINVAL, path);
  }
  // A rename would replace a file that says it must not be written.
  return ::access(path.c_str(), W_OK) == 0 ? Status() : systemError(path, errno);
}

/// Follows symbolic links, so that the file that they name is written and they stay.
Result<Place> findPlace(const std::string &path) {
  if (path.find('\0') != std::string::npos) {
    return Status::invalidArgument("a path must not contain a NUL character");
  }
  Place place{path, std::nullopt};
  struct stat info;
  if (::stat(path.c_str(), &info) == 0) {
    TRACERT_TRY(checkReplaceable(path, info));
    place.existing = info;
  } else if (errno != ENOENT) {
    return systemError(path, errno);
  }
  if (path.empty() || path.back() == '/') {
    return systemError(path, path.empty() ? ENOENT : EISDIR);
  }
  for (int i = 0; i < kMaxLinks; ++i) {
    if (::lstat(place.path.c_str(), &info) != 0) {
      return errno == ENOENT ? Result<Place>(std::move(place)) : systemError(path, errno);
    }
    if (!S_ISLNK(info.st_mode)) {
      return place;
    }
    std::string folder = folderOf(place.path);
    struct statfs system;
    if (::statfs(folder.c_str(), &system) == 0 && system.f_type == PROC_SUPER_MAGIC) {
      return Status::io("cannot write '" + path +
                            "': it is no regular file but an open one of "
                            "a process",
                        EINVAL, path);
    }
    char link[4096];
    ssize_t length = ::readlink(place.path.c_str(), link, sizeof link);
    if (length < 0 || static_cast<size_t>(length) == sizeof link) {
      return systemError(path, length < 0 ? errno : ENAMETOOLONG);
    }
    std::string target(link, static_cast<size_t>(length));
    place.path = target[0] == '/' ? target : folder + target;
  }
  return systemError(path, ELOOP);
}

/// A file under a name of its own beside its place; removed unless it was renamed. Messages name
/// the user's path.
class TemporaryFile {
public:
  TemporaryFile(const std::string &userPath, const Place &place)
      : userPath(userPath), place(place) {}
  ~TemporaryFile() {
    close();
    if (!name.empty()) {
      ::unlink(name.c_str());
    }
  }

  const std::string &path() const { return name; }

  Status create() {
    std::string folder = folderOf(place.path);
    std::string base = place.path.substr(place.path.rfind('/') + 1).substr(0, kMaxNameBytes);
    for (int attempt = 0; attempt < 100; ++attempt) {
      uint64_t random = 0;
      if (::getrandom(&random, sizeof random, 0) != sizeof random) {
        return systemError(userPath, errno);
      }
      char suffix[40];
      std::snprintf(suffix, sizeof suffix, ".%016llx.partial",
                    static_cast<unsigned long long>(random));
      std::string candidate = folder + base + suffix;
      // Nobody may read what replaces a private file, not even for a moment.
      descriptor = ::open(candidate.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
                          place.existing ? 0600 : 0666);
      if (descriptor >= 0) {
        name = std::move(candidate);
        return {};
      }
      if (errno != EEXIST) {
        break;
      }
    }
    return systemError(userPath, errno);
  }

  Status write(const void *data, size_t size) {
    const char *bytes = static_cast<const char *>(data);
    while (size > 0) {
      ssize_t written = ::write(descriptor, bytes, size);
      if (written < 0 && errno == EINTR) {
        continue;
      }
      if (written < 0) {
        return systemError(userPath, errno);
      }
      bytes += written;
      size -= static_cast<size_t>(written);
    }
    return {};
  }

  Status writeImage(const FileImage &image) {
    static constexpr char zeros[4096] = {};
    uint64_t at = 0;
    for (const FileImage::Piece &piece : image.pieces) {
      while (at < piece.offset) {
        size_t count = std::min<uint64_t>(sizeof zeros, piece.offset - at);
        TRACERT_TRY(write(zeros, count));
        at += count;
      }
      TRACERT_TRY(write(piece.data, piece.size));
      at += piece.size;
    }
    return {};
  }

  /// The bytes are on the disk, with owner and mode of the file that is replaced.
  Status finish() {
    if (place.existing) {
      // Only the superuser may give a file away; the mode comes after, since this clears bits.
      (void)!::fchown(descriptor, place.existing->st_uid, place.existing->st_gid);
      if (::fchmod(descriptor, place.existing->st_mode & 0777) != 0) {
        return systemError(userPath, errno);
      }
    }
    if (::fsync(descriptor) != 0) {
      return systemError(userPath, errno);
    }
    int closing = std::exchange(descriptor, -1);
    return ::close(closing) == 0 ? Status() : systemError(userPath, errno);
  }

  Status rename() {
    if (::rename(name.c_str(), place.path.c_str()) != 0) {
      return systemError(userPath, errno);
    }
    name.clear();
    syncFolder();
    return {};
  }

private:
  void close() {
    if (descriptor >= 0) {
      ::close(std::exchange(descriptor, -1));
    }
  }

  /// The rename itself reaches the disk with the folder; the file is complete either way.
  void syncFolder() const {
    int handle = ::open(folderOf(place.path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (handle >= 0) {
      (void)::fsync(handle);
      ::close(handle);
    }
  }

  const std::string &userPath;
  const Place &place;
  std::string name;
  int descriptor = -1;
};

} // namespace

Status checkSavePath(const std::string &path) {
  TRACERT_ASSIGN(Place place, findPlace(path));
  return ::access(folderOf(place.path).c_str(), W_OK | X_OK) == 0 ? Status()
                                                                  : systemError(path, errno);
}

Status saveFileImage(const FileImage &image, const std::string &path, const FileCheck &check,
                     bool isTrial) {
  TRACERT_ASSIGN(Place place, findPlace(path));
  TemporaryFile file(path, place);
  TRACERT_TRY(file.create());
  TRACERT_TRY(file.writeImage(image));
  TRACERT_TRY(file.finish());
  if (check) {
    TRACERT_TRY(check(file.path()));
  }
  return isTrial ? Status() : file.rename();
}

} // namespace tracert
