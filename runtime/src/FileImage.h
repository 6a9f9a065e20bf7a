/// A file about to be written: pieces of memory at ascending offsets, zeros between them.
///
///   TRACERT_ASSIGN(FileImage image, makeFileImage(program, options));
///   TRACERT_TRY(saveFileImage(image, path));
///
/// Weights are not copied: pieces point into the program, which must outlive the image.
#pragma once

#include "tracert/Executor.h"

#include <deque>

namespace tracert {

struct FileImage {
  struct Piece {
    uint64_t offset;
    const void *data;
    size_t size;
  };
  std::vector<Piece> pieces;
  /// Memory of the pieces made for the file; addresses stay.
  std::deque<std::string> owned;
  uint64_t length = 0;
};

Result<FileImage> makeFileImage(const Program &program, const WriteOptions &options);

/// Written under a unique temporary name beside `path`, synced, checked, renamed. Symbolic links
/// are followed; the file that they name is replaced and its mode kept (hard links to it are not
/// followed). Io errors name `path` and leave nothing behind; an existing file stays as it was.
/// `check` may be empty. A trial is removed after the check.
Status saveFileImage(const FileImage &image, const std::string &path, const FileCheck &check,
                     bool isTrial);

} // namespace tracert
