/// Memory for tensors: a size-class cache with huge pages for large blocks, and shared buffers.
///
///   BufferRef buffer = Buffer::allocate(allocator, bytes); buffer->data();
///
/// Blocks are 64-byte aligned; blocks of 2 MiB and more are 2 MiB aligned and advised as huge
/// pages. 64 bytes beyond the requested size may be written by kernels (vector slack). Thread safe.
#pragma once

#include "tracert/Export.h"
#include "tracert/MemorySpace.h"
#include "tracert/Status.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace tracert {

inline constexpr size_t kBufferAlignment = 64;
inline constexpr size_t kBufferSlack = 64;

class TRACERT_API Allocator {
public:
  /// Null: memory of the host.
  explicit Allocator(const MemorySpace *space = nullptr) : memorySpace(space) {}
  virtual ~Allocator() = default;
  /// Where all of its memory lies.
  const MemorySpace &space() const { return memorySpace ? *memorySpace : hostMemory(); }
  /// Null when the system has no memory; `size` may be 0.
  virtual void *allocate(size_t size) = 0;
  virtual void release(void *data, size_t size) = 0;
  /// Gives cached blocks back to the system.
  virtual void trim() {}
  struct Usage {
    size_t bytesInUse = 0;
    size_t bytesCached = 0;
    size_t peakBytesInUse = 0;
  };
  virtual Usage usage() const { return {}; }

private:
  const MemorySpace *memorySpace;
};

/// One per process unless the embedder makes its own; created on first use, never destroyed.
TRACERT_API Allocator &processAllocator();
TRACERT_API std::unique_ptr<Allocator> makeCachingAllocator();

/// Reference-counted memory. `owner` keeps foreign memory (a NumPy array, a mapped file) alive.
class TRACERT_API Buffer {
public:
  static Buffer *allocate(Allocator &allocator, size_t size); // count 1; null when out of memory
  static Buffer *foreign(void *data, size_t size, void (*releaseOwner)(void *), void *owner);

  void *data() const { return memory; }
  size_t size() const { return byteCount; }
  /// Of the allocator; foreign memory is the host's.
  const MemorySpace &space() const { return allocator ? allocator->space() : hostMemory(); }
  /// Foreign memory is never written in place.
  bool isForeign() const { return allocator == nullptr; }
  void retain() { count.fetch_add(1, std::memory_order_relaxed); }
  void release() {
    if (count.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      destroy();
    }
  }
  /// True when the caller holds the only reference.
  bool isUnique() const { return count.load(std::memory_order_acquire) == 1; }

private:
  Buffer() = default;
  void destroy();
  std::atomic<int64_t> count{1};
  void *memory = nullptr;
  size_t byteCount = 0;
  Allocator *allocator = nullptr;
  void (*releaseOwner)(void *) = nullptr;
  void *owner = nullptr;
};

class BufferRef {
public:
  BufferRef() = default;
  /// Takes over the caller's reference.
  explicit BufferRef(Buffer *adopted) : buffer(adopted) {}
  BufferRef(const BufferRef &other) : buffer(other.buffer) {
    if (buffer) {
      buffer->retain();
    }
  }
  BufferRef(BufferRef &&other) noexcept : buffer(other.buffer) { other.buffer = nullptr; }
  BufferRef &operator=(BufferRef other) noexcept {
    std::swap(buffer, other.buffer);
    return *this;
  }
  ~BufferRef() {
    if (buffer) {
      buffer->release();
    }
  }
  Buffer *operator->() const { return buffer; }
  Buffer *get() const { return buffer; }
  explicit operator bool() const { return buffer != nullptr; }

private:
  Buffer *buffer = nullptr;
};

} // namespace tracert
