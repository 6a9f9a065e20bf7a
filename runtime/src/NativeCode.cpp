#include "NativeCode.h"

#include <cerrno>
#include <cstring>
#include <sys/mman.h>

namespace tracert {

NativeCode::NativeCode(NativeCode &&other) noexcept : memory(other.memory), size(other.size) {
  other.memory = nullptr;
}

NativeCode &NativeCode::operator=(NativeCode &&other) noexcept {
  std::swap(memory, other.memory);
  std::swap(size, other.size);
  return *this;
}

NativeCode::~NativeCode() {
  if (memory) {
    munmap(memory, size);
  }
}

Result<NativeCode> NativeCode::map(std::span<const uint8_t> code) {
  NativeCode mapped;
  if (code.empty()) {
    return mapped;
  }
  void *memory =
      mmap(nullptr, code.size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    return Status::io(std::string("cannot map memory for native code: ") + std::strerror(errno));
  }
  mapped.memory = memory;
  mapped.size = code.size();
  std::memcpy(memory, code.data(), code.size());
  // Never writable and executable at once.
  if (mprotect(memory, code.size(), PROT_READ | PROT_EXEC) != 0) {
    return Status::io(std::string("cannot make native code executable: ") + std::strerror(errno));
  }
  return mapped;
}

} // namespace tracert
