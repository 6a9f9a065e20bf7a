/// A native section's machine code, copied into memory of its own that can be executed but not
/// written.
///
///   TRACERT_ASSIGN(core.code, section.sharedCode.map(section.code, section.codeHash));
///   KernelEntry entry = core.code->entry(kernel.codeOffset);
///
/// Unmapped with the last reference. Offsets have been checked by verifyProgram.
#pragma once

#include "tracert/KernelAbi.h"
#include "tracert/Program.h"

#include <cstdint>

namespace tracert {

class NativeCode {
public:
  NativeCode(const NativeCode &) = delete;
  NativeCode &operator=(const NativeCode &) = delete;
  ~NativeCode();

  /// Io when the system refuses the mapping; CorruptFile when the copy has not the content `hash`.
  static Result<std::shared_ptr<const NativeCode>> map(std::span<const uint8_t> code,
                                                       std::optional<uint64_t> hash);

  KernelEntry entry(uint64_t offset) const {
    return reinterpret_cast<KernelEntry>(static_cast<uint8_t *>(memory) + offset);
  }

private:
  NativeCode() = default;

  void *memory = nullptr;
  size_t size = 0;
};

} // namespace tracert
