/// Scratch memory of a kernel, given back at the end of the scope.
///
///   Scratch scratch(context, bytes); if (!scratch.data()) { return outOfScratch(bytes); }
#pragma once

#include "tracert/Allocator.h"
#include "tracert/Kernels.h"

namespace tracert::kernels {

/// 64-byte aligned memory for one kernel call; data() is null when there was none.
class Scratch {
public:
  Scratch(const KernelContext &context, size_t bytes)
      : allocator(*context.allocator), bytes(bytes), memory(allocator.allocate(bytes)) {}
  ~Scratch() {
    if (memory) {
      allocator.release(memory, bytes);
    }
  }
  Scratch(const Scratch &) = delete;
  Scratch &operator=(const Scratch &) = delete;

  void *data() const { return memory; }
  template <class T> T *as() const { return static_cast<T *>(memory); }

private:
  Allocator &allocator;
  size_t bytes;
  void *memory;
};

inline Status outOfScratch(size_t bytes) {
  return Status::outOfMemory("no memory for " + std::to_string(bytes) + " bytes of scratch");
}

} // namespace tracert::kernels
