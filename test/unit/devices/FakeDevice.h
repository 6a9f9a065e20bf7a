/// FakeDevice: a device whose memory the host cannot read or write outside its copy calls, to prove
/// that nothing else touches it.
///
///   FakeDevice device("fake0"); ASSERT_TRUE(registerDevice(device).ok());
///   device.counts().copiesIn
///
/// Its memory is mapped twice: without any right at the addresses that it gives out, and readable
/// and writable at others that only copies and launches use. So a stray access faults, at any time
/// and in any thread. Its code is the host's, in a section for nvptx-sm_80; launches see translated
/// pointers, and a pointer to anything but its memory becomes one to a page without rights. Fresh
/// memory is filled with garbage.
#pragma once

#include "tracert/Device.h"

#include <map>
#include <mutex>
#include <ostream>
#include <string>

namespace tracert::test {

inline constexpr Target kFakeTarget{TargetKind::Nvptx, 80};

class FakeDevice final : public Device {
public:
  explicit FakeDevice(std::string name, size_t capacity = size_t(64) << 20);
  ~FakeDevice() override;

  struct Counts {
    uint64_t copiesIn = 0, copiesOut = 0, copiesWithin = 0;
    uint64_t launches = 0, loads = 0;
    friend bool operator==(const Counts &, const Counts &) = default;
    friend std::ostream &operator<<(std::ostream &out, const Counts &counts) {
      return out << counts.copiesIn << " in, " << counts.copiesOut << " out, "
                 << counts.copiesWithin << " within, " << counts.launches << " launches, "
                 << counts.loads << " loads";
    }
  };
  Counts counts() const;
  /// Fails the copies and launches from the `after`-th on; negative: none.
  void failCopiesAfter(int64_t after);
  void failLaunchesAfter(int64_t after);

  const MemorySpace &space() const override { return memorySpace; }
  Allocator &allocator() override;
  bool supports(Target target) const override { return target == kFakeTarget; }
  bool owns(const void *address) const override;
  Status copyIn(void *to, const void *from, size_t size) override;
  Status copyOut(void *to, const void *from, size_t size) override;
  Status copyWithin(void *to, const void *from, size_t size) override;
  Result<std::shared_ptr<const DeviceCode>> load(std::span<const uint8_t> code,
                                                 std::optional<uint64_t> hash) override;
  Result<std::unique_ptr<Launcher>> makeLauncher(Allocator &allocator, int threadCount) override;

private:
  friend class FakeLauncher;
  class Memory;

  /// Where copies and launches find what the address names; null when it is not this device's.
  void *reachable(const void *address) const;
  Status count(uint64_t Counts::*what, int64_t &left, const char *call);
  Status misuse(const char *call) const;

  const std::string name;
  const MemorySpace memorySpace;
  std::unique_ptr<Memory> memory;
  mutable std::mutex mutex;
  Counts counted;
  int64_t copiesLeft = -1;
  int64_t launchesLeft = -1;
};

/// Registered as long as it lives; a test fails when something still uses it then.
class RegisteredFake {
public:
  explicit RegisteredFake(std::string name = "fake0", size_t capacity = size_t(64) << 20);
  ~RegisteredFake();
  FakeDevice &operator*() { return device; }
  FakeDevice *operator->() { return &device; }

private:
  FakeDevice device;
};

} // namespace tracert::test
