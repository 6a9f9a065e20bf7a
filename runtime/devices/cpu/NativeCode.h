/// A native section's machine code, copied into memory of its own that can be executed but not
/// written.
///
///   TRACERT_ASSIGN(std::shared_ptr<const NativeCode> code, NativeCode::map(section.code, hash));
///   TRACERT_ASSIGN(KernelHandle entry, code->kernel(kernel));
///
/// Unmapped with the last reference. Offsets have been checked by verifyProgram.
#pragma once

#include "tracert/Device.h"
#include "tracert/KernelAbi.h"

#include <cstdint>

namespace tracert {

class NativeCode final : public DeviceCode {
public:
  NativeCode(const NativeCode &) = delete;
  NativeCode &operator=(const NativeCode &) = delete;
  ~NativeCode() override;

  /// Io when the system refuses the mapping; CorruptFile when the copy has not the content `hash`.
  static Result<std::shared_ptr<const NativeCode>> map(std::span<const uint8_t> code,
                                                       std::optional<uint64_t> hash);

  Result<KernelHandle> kernel(const KernelDef &def) const override {
    return KernelHandle(static_cast<uint8_t *>(memory) + def.codeOffset);
  }

private:
  NativeCode() = default;

  void *memory = nullptr;
  size_t size = 0;
};

} // namespace tracert
