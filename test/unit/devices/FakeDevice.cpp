#include "FakeDevice.h"

#include <gtest/gtest.h>

#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

namespace tracert::test {

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// Two views of the same pages, and blocks in them.
class FakeDevice::Memory final : public Allocator {
public:
  Memory(const MemorySpace &space, size_t capacity) : Allocator(&space), capacity(capacity) {
    int file = memfd_create("fake device", MFD_CLOEXEC);
    bool isMade = file >= 0 && ftruncate(file, static_cast<off_t>(capacity)) == 0;
    hidden = isMade ? mmap(nullptr, capacity, PROT_NONE, MAP_SHARED, file, 0) : MAP_FAILED;
    open =
        isMade ? mmap(nullptr, capacity, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0) : MAP_FAILED;
    close(file);
    if (hidden == MAP_FAILED || open == MAP_FAILED) {
      std::abort();
    }
    free[0] = capacity;
  }
  ~Memory() override {
    munmap(hidden, capacity);
    munmap(open, capacity);
  }

  void *allocate(size_t size) override {
    size_t wanted = blockSize(size);
    std::lock_guard lock(mutex);
    for (auto [offset, length] : free) {
      if (length < wanted) {
        continue;
      }
      free.erase(offset);
      if (length > wanted) {
        free[offset + wanted] = length - wanted;
      }
      use.bytesInUse += size;
      use.peakBytesInUse = std::max(use.peakBytesInUse, use.bytesInUse);
      std::memset(static_cast<char *>(open) + offset, 0xA5, wanted);
      return static_cast<char *>(hidden) + offset;
    }
    return nullptr;
  }
  void release(void *data, size_t size) override {
    if (!data) {
      return;
    }
    auto offset = static_cast<size_t>(static_cast<char *>(data) - static_cast<char *>(hidden));
    std::lock_guard lock(mutex);
    use.bytesInUse -= size;
    auto next = free.emplace(offset, blockSize(size)).first;
    join(next);
    if (next != free.begin()) {
      join(std::prev(next));
    }
  }
  Usage usage() const override {
    std::lock_guard lock(mutex);
    return use;
  }

  bool contains(const void *address) const {
    return address >= hidden && address < static_cast<char *>(hidden) + capacity;
  }
  void *opened(const void *address) const {
    return static_cast<char *>(open) +
           (static_cast<const char *>(address) - static_cast<char *>(hidden));
  }

private:
  static size_t blockSize(size_t size) { return (size + kBufferSlack + 63) / 64 * 64; }
  void join(std::map<size_t, size_t>::iterator block) {
    auto next = std::next(block);
    if (next != free.end() && block->first + block->second == next->first) {
      block->second += next->second;
      free.erase(next);
    }
  }

  const size_t capacity;
  void *hidden = nullptr;
  void *open = nullptr;
  mutable std::mutex mutex;
  /// Offset and length, of blocks that do not touch.
  std::map<size_t, size_t> free;
  Usage use;
};

namespace {

/// Faults whatever is done with it.
void *forbiddenPage() {
  static void *page = mmap(nullptr, 1 << 20, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return page;
}

} // namespace

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

class FakeLauncher final : public Launcher {
public:
  FakeLauncher(FakeDevice &device, std::unique_ptr<Launcher> host)
      : device(device), host(std::move(host)) {}

  Status run(const BoundLaunch &bound, void *partials, ThreadPool *pool,
             LaunchOutcome &outcome) override {
    TRACERT_TRY(device.count(&FakeDevice::Counts::launches, device.launchesLeft, "launch"));
    auto translated = [&](void *pointer) {
      void *open = device.reachable(pointer);
      return open ? open : forbiddenPage();
    };
    BoundLaunch copy = bound;
    for (void *&pointer : copy.pointers) {
      pointer = translated(pointer);
    }
    for (PartialJoin &join : copy.joins) {
      join.result.data = translated(join.result.data);
    }
    return host->run(copy, partials ? translated(partials) : nullptr, pool, outcome);
  }

private:
  FakeDevice &device;
  std::unique_ptr<Launcher> host;
};

//===----------------------------------------------------------------------===//
// The device
//===----------------------------------------------------------------------===//

FakeDevice::FakeDevice(std::string wanted, size_t capacity)
    : name(std::move(wanted)), memorySpace{name, this},
      memory(std::make_unique<Memory>(memorySpace, capacity)) {}
FakeDevice::~FakeDevice() = default;

FakeDevice::Counts FakeDevice::counts() const {
  std::lock_guard lock(mutex);
  return counted;
}

void FakeDevice::failCopiesAfter(int64_t after) {
  std::lock_guard lock(mutex);
  copiesLeft = after;
}

void FakeDevice::failLaunchesAfter(int64_t after) {
  std::lock_guard lock(mutex);
  launchesLeft = after;
}

Allocator &FakeDevice::allocator() { return *memory; }
bool FakeDevice::owns(const void *address) const { return memory->contains(address); }

void *FakeDevice::reachable(const void *address) const {
  return memory->contains(address) ? memory->opened(address) : nullptr;
}

Status FakeDevice::count(uint64_t Counts::*what, int64_t &left, const char *call) {
  std::lock_guard lock(mutex);
  if (left == 0) {
    return Status::io(name + " was told to fail this " + call);
  }
  left -= left > 0;
  ++(counted.*what);
  return {};
}

Status FakeDevice::misuse(const char *call) const {
  ADD_FAILURE() << name << ": " << call << " between memories that it is not for";
  return Status::internal(std::string("wrong memory in ") + call);
}

Status FakeDevice::copyIn(void *to, const void *from, size_t size) {
  if (!owns(to) || deviceOf(from)) {
    return misuse("copyIn");
  }
  TRACERT_TRY(count(&Counts::copiesIn, copiesLeft, "copy"));
  std::memcpy(reachable(to), from, size);
  return {};
}

Status FakeDevice::copyOut(void *to, const void *from, size_t size) {
  if (!owns(from) || deviceOf(to)) {
    return misuse("copyOut");
  }
  TRACERT_TRY(count(&Counts::copiesOut, copiesLeft, "copy"));
  std::memcpy(to, reachable(from), size);
  return {};
}

Status FakeDevice::copyWithin(void *to, const void *from, size_t size) {
  if (!owns(to) || !owns(from)) {
    return misuse("copyWithin");
  }
  TRACERT_TRY(count(&Counts::copiesWithin, copiesLeft, "copy"));
  std::memcpy(reachable(to), reachable(from), size);
  return {};
}

Result<std::shared_ptr<const DeviceCode>> FakeDevice::load(std::span<const uint8_t> code,
                                                           std::optional<uint64_t> hash) {
  {
    std::lock_guard lock(mutex);
    ++counted.loads;
  }
  return hostDevice().load(code, hash);
}

Result<std::unique_ptr<Launcher>> FakeDevice::makeLauncher(Allocator &, int threadCount) {
  TRACERT_ASSIGN(std::unique_ptr<Launcher> host,
                 hostDevice().makeLauncher(processAllocator(), threadCount));
  return std::unique_ptr<Launcher>(std::make_unique<FakeLauncher>(*this, std::move(host)));
}

RegisteredFake::RegisteredFake(std::string name, size_t capacity)
    : device(std::move(name), capacity) {
  Status status = registerDevice(device);
  EXPECT_TRUE(status.ok()) << status.message();
}

RegisteredFake::~RegisteredFake() {
  Status status = unregisterDevice(device);
  EXPECT_TRUE(status.ok()) << status.message();
}

} // namespace tracert::test
