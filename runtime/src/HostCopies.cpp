#include "tracert/HostCopies.h"

#include "tracert/Device.h"
#include "tracert/Element.h"

namespace tracert {
namespace {

/// The memory of a view: from its lowest element, which lies `before` bytes below the first.
struct Extent {
  size_t before = 0;
  size_t size = 0;
};

Extent extentOf(const TensorView &view) {
  if (view.elementCount() == 0) {
    return {};
  }
  Extent extent{0, dtypeSize(view.dtype)};
  for (size_t axis = 0; axis < view.rank(); ++axis) {
    int64_t reach = view.strides[axis] * (view.shape[axis] - 1);
    extent.size += static_cast<size_t>(reach < 0 ? -reach : reach);
    extent.before += static_cast<size_t>(reach < 0 ? -reach : 0);
  }
  return extent;
}

const char *startOf(const TensorView &view, const Extent &extent) {
  return static_cast<const char *>(view.data) - extent.before;
}

CopiedTensor moved(const TensorView &view, const Extent &extent, BufferRef buffer) {
  CopiedTensor result{std::move(buffer), view};
  result.view.data = static_cast<char *>(result.buffer->data()) + extent.before;
  return result;
}

} // namespace

Result<BufferRef> HostCopies::hostMemoryOf(size_t size) {
  BufferRef buffer(Buffer::allocate(hostAllocator, size));
  if (!buffer) {
    return Status::outOfMemory("no memory on the host for a copy of " + std::to_string(size) +
                               " bytes from the device");
  }
  return buffer;
}

Result<CopiedTensor> HostCopies::bring(const TensorView &view) {
  Extent extent = extentOf(view);
  TRACERT_ASSIGN(BufferRef buffer, hostMemoryOf(extent.size));
  if (extent.size > 0) {
    TRACERT_TRY(device.copyOut(buffer->data(), startOf(view, extent), extent.size));
    ++counted.out;
  }
  return moved(view, extent, std::move(buffer));
}

Result<CopiedTensor> HostCopies::send(const TensorView &view, Allocator &allocator,
                                      BufferRef reused) {
  Extent extent = extentOf(view);
  if (!reused || reused->size() < extent.size) {
    reused = BufferRef();
    reused = BufferRef(Buffer::allocate(allocator, extent.size));
  }
  if (!reused) {
    return Status::outOfMemory("no memory on the device for a copy of " +
                               std::to_string(extent.size) + " bytes from the host");
  }
  TRACERT_TRY(put(startOf(view, extent), reused->data(), extent.size));
  return moved(view, extent, std::move(reused));
}

Status HostCopies::put(const void *from, void *to, size_t size) {
  if (size > 0) {
    TRACERT_TRY(device.copyIn(to, from, size));
    ++counted.in;
  }
  return {};
}

Status HostCopies::copy(const TensorView &from, const TensorView &to) {
  auto size = static_cast<size_t>(to.type().byteCount());
  if (size == 0) {
    return {};
  }
  if (from.isContiguous()) {
    TRACERT_TRY(device.copyWithin(to.data, from.data, size));
    ++counted.within;
    return {};
  }
  TRACERT_ASSIGN(CopiedTensor strided, bring(from));
  TRACERT_ASSIGN(BufferRef packed, hostMemoryOf(size));
  copyView({nullptr, kPortable, &hostAllocator, IndexMode::Checked}, strided.view,
           TensorView::contiguous(packed->data(), to.type()));
  return put(packed->data(), to.data, size);
}

Result<int64_t> HostCopies::integer(const TensorView &view) {
  alignas(8) unsigned char bytes[8];
  TRACERT_TRY(device.copyOut(bytes, view.data, dtypeSize(view.dtype)));
  ++counted.out;
  return integerAt(bytes, view.dtype);
}

Result<CopiedTensor> HostCopies::readable(const TensorView &view) {
  return device.owns(view.data) ? bring(view) : CopiedTensor{BufferRef(), view};
}

Status HostCopies::runKernel(const KernelContext &context, const OpCall &call,
                             std::span<const TensorView> operands,
                             std::span<const TensorView> results) {
  std::vector<CopiedTensor> brought(operands.size());
  std::vector<TensorView> inputs(operands.begin(), operands.end());
  for (size_t i = 0; i < operands.size(); ++i) {
    TRACERT_ASSIGN(brought[i], readable(operands[i]));
    inputs[i] = brought[i].view;
  }
  std::vector<BufferRef> made;
  std::vector<TensorView> outputs;
  for (const TensorView &result : results) {
    auto size = static_cast<size_t>(result.type().byteCount());
    TRACERT_ASSIGN(BufferRef buffer, hostMemoryOf(size));
    outputs.push_back(TensorView::contiguous(buffer->data(), result.type()));
    made.push_back(std::move(buffer));
  }
  KernelContext onHost = context;
  onHost.allocator = &hostAllocator;
  TRACERT_TRY(tracert::runKernel(onHost, call, inputs, outputs));
  for (size_t i = 0; i < results.size(); ++i) {
    auto size = static_cast<size_t>(results[i].type().byteCount());
    TRACERT_TRY(put(outputs[i].data, results[i].data, size));
  }
  return {};
}

Result<std::vector<int64_t>> HostCopies::readCounts(const KernelContext &context,
                                                    const OpCall &call,
                                                    std::span<const TensorView> operands) {
  // Of an indexed read only masks count.
  bool isIndexed = call.info().family == OpFamily::Indexing;
  auto isMask = [&](size_t i) {
    return static_cast<int>(i) >= call.info().operandCount && operands[i].dtype == DType::Bool;
  };
  std::vector<CopiedTensor> brought(operands.size());
  std::vector<TensorView> views(operands.begin(), operands.end());
  for (size_t i = 0; i < operands.size(); ++i) {
    if (!isIndexed || isMask(i)) {
      TRACERT_ASSIGN(brought[i], readable(operands[i]));
      views[i] = brought[i].view;
    }
  }
  KernelContext onHost = context;
  onHost.allocator = &hostAllocator;
  return tracert::readCounts(onHost, call, views);
}

} // namespace tracert
