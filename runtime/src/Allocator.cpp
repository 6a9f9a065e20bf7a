#include "tracert/Allocator.h"

#include "OperatingSystem.h"
#include "tracert/CacheLimits.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <iterator>
#include <mutex>
#include <new>
#include <utility>

namespace tracert {
namespace {

constexpr size_t kHugePage = size_t(2) << 20;

/// Four classes per power of two, so that rounding up wastes at most a quarter; multiples of the
/// alignment for small blocks and of the huge page for large ones.
size_t classBytes(size_t size) {
  size_t wanted = size + kBufferSlack;
  if (wanted <= 256) {
    return (wanted + kBufferAlignment - 1) & ~(kBufferAlignment - 1);
  }
  size_t step = std::bit_floor(wanted - 1) / 4;
  size_t rounded = (wanted + step - 1) & ~(step - 1);
  return rounded < kHugePage ? rounded : (rounded + kHugePage - 1) & ~(kHugePage - 1);
}

/// Dense numbers for the values of classBytes.
size_t classIndex(size_t bytes) {
  if (bytes <= 256) {
    return bytes / kBufferAlignment;
  }
  size_t power = static_cast<size_t>(std::bit_width(bytes - 1));
  size_t half = size_t(1) << (power - 1);
  return 4 * power + (bytes - half - 1) / (half / 4);
}
constexpr size_t kClassCount = 4 * 65;

void *systemAllocate(size_t bytes) {
  if (bytes < kHugePage) {
    return std::aligned_alloc(kBufferAlignment, bytes);
  }
  void *data = std::aligned_alloc(kHugePage, bytes);
  if (data) {
    os::adviseHugePages(data, bytes);
  }
  return data;
}

class CachingAllocator : public Allocator {
public:
  ~CachingAllocator() override { CachingAllocator::trim(); }

  void *allocate(size_t size) override {
    // Beyond this no rounding can overflow and no system has the memory.
    if (size > SIZE_MAX / 4) {
      return nullptr;
    }
    size_t bytes = classBytes(size);
    {
      std::lock_guard lock(mutex);
      FreeBlock *&first = freeBlocks[classIndex(bytes)];
      if (first) {
        FreeBlock *block = first;
        first = block->next;
        counters.bytesCached -= bytes;
        countUse(bytes);
        return block;
      }
    }
    void *data = systemAllocate(bytes);
    if (!data) {
      // Blocks of other classes may be what the system lacks.
      trim();
      data = systemAllocate(bytes);
    }
    if (data) {
      std::lock_guard lock(mutex);
      countUse(bytes);
    }
    return data;
  }

  void release(void *data, size_t size) override {
    if (!data) {
      return;
    }
    size_t bytes = classBytes(size);
    {
      std::lock_guard lock(mutex);
      counters.bytesInUse -= bytes;
      if (counters.bytesCached + bytes <= kMaxCachedBytes) {
        FreeBlock *&first = freeBlocks[classIndex(bytes)];
        first = new (data) FreeBlock{first};
        counters.bytesCached += bytes;
        return;
      }
    }
    std::free(data);
  }

  void trim() override {
    FreeBlock *taken[kClassCount];
    {
      std::lock_guard lock(mutex);
      std::copy(std::begin(freeBlocks), std::end(freeBlocks), taken);
      std::fill(std::begin(freeBlocks), std::end(freeBlocks), nullptr);
      counters.bytesCached = 0;
    }
    // Giving memory back to the system takes long, so not under the lock.
    for (FreeBlock *first : taken) {
      while (first) {
        std::free(std::exchange(first, first->next));
      }
    }
  }

  /// Held over a fork, so that the child finds the lists whole.
  void lockForFork() { mutex.lock(); }
  void unlockAfterFork() { mutex.unlock(); }

  Usage usage() const override {
    std::lock_guard lock(mutex);
    return counters;
  }

private:
  /// Lies in the free block itself.
  struct FreeBlock {
    FreeBlock *next;
  };

  void countUse(size_t bytes) {
    counters.bytesInUse += bytes;
    if (counters.bytesInUse > counters.peakBytesInUse) {
      counters.peakBytesInUse = counters.bytesInUse;
    }
  }

  /// A leaf: held for a few instructions that call nothing, so that it may be awaited anywhere.
  mutable std::mutex mutex;
  FreeBlock *freeBlocks[kClassCount] = {};
  Usage counters;
};

CachingAllocator *createProcessAllocator();

/// Never destroyed: buffers may be released by destructors that run after those of statics.
CachingAllocator &cachingProcessAllocator() {
  static CachingAllocator *allocator = createProcessAllocator();
  return *allocator;
}

CachingAllocator *createProcessAllocator() {
  os::atFork([] { cachingProcessAllocator().lockForFork(); },
             [] { cachingProcessAllocator().unlockAfterFork(); },
             [] { cachingProcessAllocator().unlockAfterFork(); });
  return new CachingAllocator();
}

} // namespace

std::unique_ptr<Allocator> makeCachingAllocator() { return std::make_unique<CachingAllocator>(); }

const MemorySpace &hostMemory() {
  static constexpr MemorySpace host{"cpu0"};
  return host;
}

Allocator &processAllocator() { return cachingProcessAllocator(); }

Buffer *Buffer::allocate(Allocator &allocator, size_t size) {
  void *data = allocator.allocate(size);
  if (!data) {
    return nullptr;
  }
  Buffer *buffer = new (std::nothrow) Buffer();
  if (!buffer) {
    allocator.release(data, size);
    return nullptr;
  }
  buffer->memory = data;
  buffer->byteCount = size;
  buffer->allocator = &allocator;
  return buffer;
}

Buffer *Buffer::foreign(void *data, size_t size, void (*releaseOwner)(void *), void *owner) {
  Buffer *buffer = new (std::nothrow) Buffer();
  if (!buffer) {
    return nullptr;
  }
  buffer->memory = data;
  buffer->byteCount = size;
  buffer->releaseOwner = releaseOwner;
  buffer->owner = owner;
  return buffer;
}

void Buffer::destroy() {
  if (allocator) {
    allocator->release(memory, byteCount);
  } else if (releaseOwner) {
    releaseOwner(owner);
  }
  delete this;
}

} // namespace tracert
