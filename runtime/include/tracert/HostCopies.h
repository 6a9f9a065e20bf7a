/// HostCopies: what the host does with tensors in a device's memory. It never touches that memory:
/// it brings copies, works on them and puts results back, so all of it is correct and slow.
///
///   HostCopies copies(device, processAllocator());
///   TRACERT_TRY(copies.runKernel(context, call, operands, results)); // by the library kernel
///   TRACERT_ASSIGN(int64_t size, copies.integer(view));
///
/// Views may have any strides. Every copy is counted, and one of no bytes is not made. Errors: what
/// the device reports, and OutOfMemory of the host's allocator. Not thread safe.
#pragma once

#include "tracert/Allocator.h"
#include "tracert/Kernels.h"

namespace tracert {

class Device;

/// A tensor that owns its memory.
struct CopiedTensor {
  BufferRef buffer;
  TensorView view;
};

class TRACERT_API HostCopies {
public:
  /// `hostAllocator`: for the copies, in the host's memory.
  HostCopies(Device &device, Allocator &hostAllocator)
      : device(device), hostAllocator(hostAllocator) {}

  struct Counts {
    uint64_t in = 0;
    uint64_t out = 0;
    uint64_t within = 0;
  };
  const Counts &counts() const { return counted; }

  /// A copy in the host's memory with the same strides, gaps included.
  Result<CopiedTensor> bring(const TensorView &view);
  /// A copy in the device's memory, from `allocator` or in `reused` where that is large enough, of
  /// a view of the host's; same strides, gaps included.
  Result<CopiedTensor> send(const TensorView &view, Allocator &allocator, BufferRef reused);
  /// The bytes of contiguous memory.
  Status put(const void *from, void *to, size_t size);
  /// Between views of one shape and dtype in the device's memory; `to` is contiguous.
  Status copy(const TensorView &from, const TensorView &to);
  /// Of a bool or integer of rank 0.
  Result<int64_t> integer(const TensorView &view);

  /// As tracert::runKernel and tracert::readCounts, on copies. Operands may lie on the host too.
  Status runKernel(const KernelContext &context, const OpCall &call,
                   std::span<const TensorView> operands, std::span<const TensorView> results);
  Result<std::vector<int64_t>> readCounts(const KernelContext &context, const OpCall &call,
                                          std::span<const TensorView> operands);

private:
  Result<BufferRef> hostMemoryOf(size_t size);
  /// What lies on the host stays where it is.
  Result<CopiedTensor> readable(const TensorView &view);

  Device &device;
  Allocator &hostAllocator;
  Counts counted;
};

} // namespace tracert
