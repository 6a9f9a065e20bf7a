#include "devices/cpu/NativeCode.h"

#include "src/ContentHash.h"
#include "src/OperatingSystem.h"

#include <cstring>
#include <new>

namespace tracert {

NativeCode::~NativeCode() {
  if (memory) {
    os::unmapMemory(memory, size);
  }
}

Result<std::shared_ptr<const NativeCode>> NativeCode::map(std::span<const uint8_t> code,
                                                          std::optional<uint64_t> hash) {
  std::shared_ptr<NativeCode> mapped(new NativeCode());
  if (code.empty()) {
    return std::shared_ptr<const NativeCode>(std::move(mapped));
  }
  int error = 0;
  void *memory = os::mapMemory(code.size(), error);
  if (error) {
    return Status::io(std::string("cannot map memory for native code: ") + std::strerror(error));
  }
  mapped->memory = memory;
  mapped->size = code.size();
  std::memcpy(memory, code.data(), code.size());
  // Never writable and executable at once.
  error = os::makeExecutable(memory, code.size());
  if (error) {
    return Status::io(std::string("cannot make native code executable: ") + std::strerror(error));
  }
  // Read back now that nothing can write it: what is checked is what runs.
  if (hash && contentHash(memory, code.size()) != *hash) {
    return Status::corruptFile("the native code is damaged (content hash)");
  }
  return std::shared_ptr<const NativeCode>(std::move(mapped));
}

} // namespace tracert
