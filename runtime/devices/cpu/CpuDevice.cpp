#include "devices/cpu/LaunchRunner.h"
#include "devices/cpu/NativeCode.h"

#include <cstring>

namespace tracert {
namespace {

class CpuDevice final : public Device {
public:
  const MemorySpace &space() const override { return hostMemory(); }
  Allocator &allocator() override { return processAllocator(); }
  bool supports(Target target) const override { return target <= bestTarget(); }
  bool owns(const void *address) const override { return deviceOf(address) == nullptr; }

  Status copyIn(void *to, const void *from, size_t size) override { return copy(to, from, size); }
  Status copyOut(void *to, const void *from, size_t size) override { return copy(to, from, size); }
  Status copyWithin(void *to, const void *from, size_t size) override {
    return copy(to, from, size);
  }

  Result<std::shared_ptr<const DeviceCode>> load(std::span<const uint8_t> code,
                                                 std::optional<uint64_t> hash) override {
    TRACERT_ASSIGN(std::shared_ptr<const NativeCode> mapped, NativeCode::map(code, hash));
    return std::shared_ptr<const DeviceCode>(std::move(mapped));
  }
  Result<std::unique_ptr<Launcher>> makeLauncher(Allocator &allocator, int threadCount) override {
    return LaunchRunner::make(allocator, threadCount);
  }

private:
  static Status copy(void *to, const void *from, size_t size) {
    if (size > 0) {
      std::memcpy(to, from, size);
    }
    return {};
  }
};

} // namespace

/// Never destroyed: programs that hold its code may be statics.
Device &hostDevice() {
  static CpuDevice *device = new CpuDevice();
  return *device;
}

} // namespace tracert
