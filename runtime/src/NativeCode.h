/// A native section's machine code, copied into memory of its own that can be executed but not
/// written.
///
///   TRACERT_ASSIGN(NativeCode code, NativeCode::map(section.code));
///   KernelEntry entry = code.entry(kernel.codeOffset);
///
/// Move only; unmapped at the end. Offsets have been checked by verifyProgram.
#pragma once

#include "tracert/KernelAbi.h"
#include "tracert/Status.h"

#include <cstdint>
#include <span>

namespace tracert {

class NativeCode {
public:
  NativeCode() = default;
  NativeCode(NativeCode &&other) noexcept;
  NativeCode &operator=(NativeCode &&other) noexcept;
  ~NativeCode();

  /// Io when the system refuses the mapping.
  static Result<NativeCode> map(std::span<const uint8_t> code);

  KernelEntry entry(uint64_t offset) const {
    return reinterpret_cast<KernelEntry>(static_cast<uint8_t *>(memory) + offset);
  }

private:
  void *memory = nullptr;
  size_t size = 0;
};

} // namespace tracert
