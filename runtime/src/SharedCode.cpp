#include "tracert/Device.h"

#include <algorithm>

namespace tracert {

Result<std::shared_ptr<const DeviceCode>> SharedCode::load(Device &device,
                                                           std::span<const uint8_t> code,
                                                           std::optional<uint64_t> hash) const {
  std::lock_guard lock(mutex);
  auto known = std::find_if(loaded.begin(), loaded.end(),
                            [&](const Loaded &one) { return one.device == &device; });
  if (known != loaded.end()) {
    if (std::shared_ptr<const DeviceCode> shared = known->code.lock()) {
      return shared;
    }
    loaded.erase(known);
  }
  TRACERT_ASSIGN(std::shared_ptr<const DeviceCode> fresh, device.load(code, hash));
  loaded.push_back({&device, fresh});
  return fresh;
}

const NativeSection *bestSection(const Program &program, const Device &device) {
  const NativeSection *best = nullptr;
  for (const NativeSection &section : program.sections) {
    if (device.supports(section.target) && (!best || section.target > best->target)) {
      best = &section;
    }
  }
  return best;
}

} // namespace tracert
