/// Device: where compiled code is loaded and launched, and the memory that it works in. The host's
/// processor is one; another is a class of these in a folder of its own (runtime/devices/), made
/// known by registerDevice().
///
///   TRACERT_TRY(registerDevice(device)); Device *found = findDevice("gpu0");
///   TRACERT_TRY(found->copyIn(buffer->data(), bytes, size));
///   TRACERT_ASSIGN(auto code, found->load(section.code, section.codeHash));
///   TRACERT_ASSIGN(auto launcher, found->makeLauncher(allocator, threadCount));
///   TRACERT_TRY(launcher->run(bound, partials, pool, outcome));
///
/// A device outlives its buffers, its code and the executors on it. Sizes are in bytes. All of it
/// is thread safe but for a launcher, which belongs to one executor.
#pragma once

#include "tracert/Allocator.h"
#include "tracert/Program.h"

#include <atomic>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace tracert {

/// A reduction whose blocks are joined after the kernel (joinReductionPartials).
struct PartialJoin {
  size_t access = 0;
  const ReductionInfo *reduction = nullptr;
  /// Of the reduction's operand.
  DType operand = DType::Float32;
  int64_t blockCount = 0;
  ValueId value = 0;
  TensorView result;
  /// In the launch's partials buffer.
  size_t byteOffset = 0;
};

/// What a device's code calls one of its kernels.
using KernelHandle = void *;

/// A kernel with all that its frame needs (KernelAbi.h) but scratch and range. Pointers are into
/// the device's memory; where nothing is read or written they may be any.
struct BoundLaunch {
  const KernelDef *kernel = nullptr;
  KernelHandle entry = nullptr;
  /// kNoIndex: the pointer is into the partials buffer, at `pointerOffsets`.
  std::vector<ValueId> pointerSources;
  std::vector<void *> pointers;
  std::vector<int64_t> pointerOffsets;
  Dims domain;
  std::vector<int64_t> strides;
  std::vector<int64_t> gathers;
  std::vector<PartialJoin> joins;
  size_t partialBytes = 0;
  /// Range of begin and end.
  int64_t splitCount = 0;
  bool isWorthThreads = false;
  /// Any part of [0, splitCount) may be run by itself.
  bool canSplit = false;
  /// An estimate.
  double nanosecondsPerPart = 0;
};

struct LaunchOutcome {
  bool isIndexError = false;
  /// Selected elements of masked kernels.
  int64_t count = 0;
};

/// A section's code, ready to run on the device that loaded it; unloaded with the last reference.
class TRACERT_API DeviceCode {
public:
  virtual ~DeviceCode() = default;
  /// The kernel of the section that was loaded. Called while planning, not per launch.
  virtual Result<KernelHandle> kernel(const KernelDef &def) const = 0;
};

/// Launches kernels for one executor, whose scratch memory it holds.
class TRACERT_API Launcher {
public:
  virtual ~Launcher() = default;
  /// Runs the kernel and joins its partial results; both are done on return. `partials` has
  /// bound.partialBytes. `pool` may be null, and means nothing but to a processor. The outcome is
  /// of no use when the run's control has stopped. Not Ok only when the device fails.
  virtual Status run(const BoundLaunch &bound, void *partials, ThreadPool *pool,
                     LaunchOutcome &outcome) = 0;
};

class TRACERT_API Device {
public:
  Device() = default;
  Device(const Device &) = delete;
  Device &operator=(const Device &) = delete;
  virtual ~Device() = default;

  /// Of its memory. The name is the device's.
  virtual const MemorySpace &space() const = 0;
  /// Of memory in that space; usage() counts the bytes in use.
  virtual Allocator &allocator() = 0;
  /// Whether it runs code for `target`.
  virtual bool supports(Target target) const = 0;
  /// Whether the address lies in its memory.
  virtual bool owns(const void *address) const = 0;

  /// Copies from the host, to the host, and within its memory, done on return. Any size, any
  /// alignment; ranges do not overlap.
  virtual Status copyIn(void *to, const void *from, size_t size) = 0;
  virtual Status copyOut(void *to, const void *from, size_t size) = 0;
  virtual Status copyWithin(void *to, const void *from, size_t size) = 0;

  /// `hash`: the content hash that the code must have, checked on what will run (CorruptFile). Io:
  /// the system refuses.
  virtual Result<std::shared_ptr<const DeviceCode>> load(std::span<const uint8_t> code,
                                                         std::optional<uint64_t> hash) = 0;
  /// `threadCount`: of the pool that its launches will have. Scratch in the device's memory comes
  /// from `allocator`.
  virtual Result<std::unique_ptr<Launcher>> makeLauncher(Allocator &allocator, int threadCount) = 0;

private:
  friend class DeviceUse;
  friend TRACERT_API Status unregisterDevice(Device &device);
  /// Executors on it; changed under the registry's lock.
  int64_t users = 0;
};

/// The processor that runs this code, with the memory of the host. Always there, never registered.
TRACERT_API Device &hostDevice();

/// The section of the highest level that the device runs; null when there is none.
const NativeSection *bestSection(const Program &program, const Device &device);

/// Beside the host's.
inline constexpr size_t kMaxDevices = 8;

/// InvalidArgument when its name is another's, or there are kMaxDevices.
TRACERT_API Status registerDevice(Device &device);
/// InvalidArgument, and the device stays, while an executor is on it or memory of it is in use.
TRACERT_API Status unregisterDevice(Device &device);
/// Null when no device of that name is registered.
TRACERT_API Device *findDevice(std::string_view name);
/// The registered device in whose memory the address lies; null: the host's.
TRACERT_API Device *deviceOf(const void *address);

namespace detail {
TRACERT_API extern std::atomic<int> registeredDevices;
} // namespace detail
/// False: all memory is the host's. Costs one load.
inline bool hasDevices() { return detail::registeredDevices.load(std::memory_order_relaxed) != 0; }

/// Keeps a device from being unregistered.
class TRACERT_API DeviceUse {
public:
  DeviceUse() = default;
  /// Unsupported when the device is neither registered nor the host's.
  static Result<DeviceUse> of(Device &device);
  DeviceUse(DeviceUse &&other) noexcept : device(std::exchange(other.device, nullptr)) {}
  DeviceUse &operator=(DeviceUse &&other) noexcept {
    std::swap(device, other.device);
    return *this;
  }
  ~DeviceUse();

private:
  /// Null for the host's.
  Device *device = nullptr;
};

} // namespace tracert
