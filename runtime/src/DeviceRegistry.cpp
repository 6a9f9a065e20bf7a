#include "tracert/Device.h"

#include <algorithm>
#include <array>
#include <mutex>

namespace tracert {

namespace detail {
constinit std::atomic<int> registeredDevices{0};
} // namespace detail

namespace {

struct Registry {
  std::mutex mutex;
  std::array<Device *, kMaxDevices> devices{};
  size_t count = 0;

  std::span<Device *const> known() const { return {devices.data(), count}; }
  bool has(const Device &device) const {
    return std::find(known().begin(), known().end(), &device) != known().end();
  }
};

/// Never destroyed: devices may be unregistered by destructors of statics.
Registry &registry() {
  static Registry *made = new Registry();
  return *made;
}

template <class F> Device *findIf(const F &fits) {
  if (!hasDevices()) {
    return nullptr;
  }
  Registry &all = registry();
  std::lock_guard lock(all.mutex);
  auto found = std::find_if(all.known().begin(), all.known().end(),
                            [&](const Device *device) { return fits(*device); });
  return found == all.known().end() ? nullptr : *found;
}

std::string nameOf(const Device &device) {
  return "device '" + std::string(device.space().name) + "'";
}

} // namespace

Status registerDevice(Device &device) {
  std::string_view name = device.space().name;
  Registry &all = registry();
  std::lock_guard lock(all.mutex);
  bool isTaken = name == hostMemory().name ||
                 std::any_of(all.known().begin(), all.known().end(),
                             [&](const Device *other) { return other->space().name == name; });
  if (isTaken) {
    return Status::invalidArgument("there is a " + nameOf(device) + " already");
  }
  if (all.count == kMaxDevices) {
    return Status::invalidArgument(nameOf(device) + " is one more than the " +
                                   std::to_string(kMaxDevices) + " that can be registered");
  }
  all.devices[all.count++] = &device;
  detail::registeredDevices.fetch_add(1, std::memory_order_relaxed);
  return {};
}

Status unregisterDevice(Device &device) {
  Registry &all = registry();
  std::lock_guard lock(all.mutex);
  if (!all.has(device)) {
    return Status::invalidArgument(nameOf(device) + " is not registered");
  }
  size_t bytes = device.allocator().usage().bytesInUse;
  if (device.users > 0 || bytes > 0) {
    return Status::invalidArgument(nameOf(device) + " is in use: " + std::to_string(device.users) +
                                   " executors, " + std::to_string(bytes) + " bytes");
  }
  auto last = all.devices.begin() + static_cast<ptrdiff_t>(all.count);
  std::copy(std::find(all.devices.begin(), last, &device) + 1, last,
            std::find(all.devices.begin(), last, &device));
  --all.count;
  detail::registeredDevices.fetch_sub(1, std::memory_order_relaxed);
  return {};
}

Device *findDevice(std::string_view name) {
  return findIf([&](const Device &device) { return device.space().name == name; });
}

Device *deviceOf(const void *address) {
  return findIf([&](const Device &device) { return device.owns(address); });
}

bool supports(Target target) {
  return target <= bestTarget() ||
         findIf([&](const Device &device) { return device.supports(target); }) != nullptr;
}

Result<DeviceUse> DeviceUse::of(Device &device) {
  DeviceUse use;
  if (device.space().isHost()) {
    return use;
  }
  Registry &all = registry();
  std::lock_guard lock(all.mutex);
  if (!all.has(device)) {
    return Status::unsupported(nameOf(device) + " is not registered");
  }
  ++device.users;
  use.device = &device;
  return use;
}

DeviceUse::~DeviceUse() {
  if (device) {
    std::lock_guard lock(registry().mutex);
    --device->users;
  }
}

} // namespace tracert
