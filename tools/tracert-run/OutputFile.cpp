#include "OutputFile.h"

#include "Tensors.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

namespace cli {

OutputFile::OutputFile(std::string name) : path(std::move(name)) {
  constexpr int flags = O_WRONLY | O_CREAT | O_CLOEXEC;
  descriptor = ::open(path.c_str(), flags | O_EXCL, 0666);
  isNew = descriptor >= 0;
  if (descriptor < 0 && errno == EEXIST) {
    descriptor = ::open(path.c_str(), flags | O_TRUNC, 0666);
  }
  if (descriptor < 0) {
    fail(errno);
  }
}

OutputFile::~OutputFile() {
  if (descriptor >= 0) {
    ::close(descriptor);
    if (isNew) {
      ::unlink(path.c_str());
    }
  }
}

void OutputFile::write(std::string_view bytes) {
  while (!bytes.empty()) {
    ssize_t count = ::write(descriptor, bytes.data(), bytes.size());
    if (count < 0 && errno != EINTR) {
      fail(errno);
    }
    bytes.remove_prefix(count < 0 ? 0 : static_cast<size_t>(count));
  }
}

void OutputFile::finish() {
  int closing = descriptor;
  descriptor = -1;
  if (::close(closing) != 0) {
    int error = errno;
    if (isNew) {
      ::unlink(path.c_str());
    }
    fail(error);
  }
}

void OutputFile::fail(int error) {
  throw UserError("cannot write '" + path + "': " + std::strerror(error));
}

} // namespace cli
