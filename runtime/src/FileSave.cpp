#include "FileImage.h"
#include "OperatingSystem.h"
#include "tracert/SavePath.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>

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

const char *kindName(os::FileKind kind) {
  return kind == os::FileKind::Pipe     ? "a pipe"
         : kind == os::FileKind::Socket ? "a socket"
                                        : "a device";
}

/// Of something the system said: 0 is none.
Status statusOf(const std::string &path, int error) {
  return error ? systemError(path, error) : Status();
}

/// The place that the new file takes, and what is there now.
struct Place {
  std::string path;
  std::optional<os::FileInfo> existing;
};

Status checkReplaceable(const std::string &path, const os::FileInfo &info) {
  if (info.kind == os::FileKind::Folder) {
    return systemError(path, EISDIR);
  }
  if (info.kind != os::FileKind::Regular) {
    return Status::io("cannot write '" + path + "': it is no regular file but " +
                          kindName(info.kind),
                      EINVAL, path);
  }
  // A rename would replace a file that says it must not be written.
  return statusOf(path, os::checkWritable(path));
}

/// Follows symbolic links, so that the file that they name is written and they stay.
Result<Place> findPlace(const std::string &path) {
  if (path.find('\0') != std::string::npos) {
    return Status::invalidArgument("a path must not contain a NUL character");
  }
  Place place{path, std::nullopt};
  os::FileInfo info;
  int error = os::fileInfo(path, info);
  if (error == 0) {
    TRACERT_TRY(checkReplaceable(path, info));
    place.existing = info;
  } else if (error != ENOENT) {
    return systemError(path, error);
  }
  if (path.empty() || path.back() == '/') {
    return systemError(path, path.empty() ? ENOENT : EISDIR);
  }
  for (int i = 0; i < kMaxLinks; ++i) {
    error = os::linkInfo(place.path, info);
    if (error) {
      return error == ENOENT ? Result<Place>(std::move(place)) : systemError(path, error);
    }
    if (info.kind != os::FileKind::Link) {
      return place;
    }
    std::string folder = folderOf(place.path);
    if (os::isProcessFolder(folder)) {
      return Status::io("cannot write '" + path +
                            "': it is no regular file but an open one of "
                            "a process",
                        EINVAL, path);
    }
    std::string target;
    TRACERT_TRY(statusOf(path, os::readLink(place.path, target)));
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
      os::removeFile(name);
    }
  }

  const std::string &path() const { return name; }

  Status create() {
    std::string folder = folderOf(place.path);
    std::string base = place.path.substr(place.path.rfind('/') + 1).substr(0, kMaxNameBytes);
    for (int attempt = 0; attempt < 100; ++attempt) {
      uint64_t random = 0;
      TRACERT_TRY(statusOf(userPath, os::randomBits(random)));
      char suffix[40];
      std::snprintf(suffix, sizeof suffix, ".%016llx.partial",
                    static_cast<unsigned long long>(random));
      std::string candidate = folder + base + suffix;
      // Nobody may read what replaces a private file, not even for a moment.
      int error = os::createFile(candidate, place.existing ? 0600 : 0666, descriptor);
      if (error == 0) {
        name = std::move(candidate);
        return {};
      }
      if (error != EEXIST) {
        return systemError(userPath, error);
      }
    }
    return systemError(userPath, EEXIST);
  }

  Status write(const void *data, size_t size) {
    return statusOf(userPath, os::writeFile(descriptor, data, size));
  }

  Status writeImage(const FileImage &image) {
    // Not constant: then they would take 4 KiB of the library.
    static char zeros[4096];
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
      TRACERT_TRY(statusOf(userPath, os::setOwnerAndMode(descriptor, *place.existing)));
    }
    TRACERT_TRY(statusOf(userPath, os::syncFile(descriptor)));
    return statusOf(userPath, os::closeFile(std::exchange(descriptor, -1)));
  }

  Status rename() {
    TRACERT_TRY(statusOf(userPath, os::renameFile(name, place.path)));
    name.clear();
    // The rename itself reaches the disk with the folder; the file is complete either way.
    os::syncFolder(folderOf(place.path));
    return {};
  }

private:
  void close() {
    if (descriptor >= 0) {
      (void)os::closeFile(std::exchange(descriptor, -1));
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
  return statusOf(path, os::checkFolderWritable(folderOf(place.path)));
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
