#include "Eager/DeviceValues.h"

#include "tracert/HostCopies.h"

#include <algorithm>

namespace tracec {
namespace {

std::string_view nameOf(const Value &value) {
  const tracert::Device *device = placeOf(value);
  return device ? device->space().name : tracert::hostMemory().name;
}

Status onTwoDevices(const OpCall &call, const Value &one, const Value &other) {
  return Status::invalidArgument("'" + std::string(call.info().name) +
                                 "' expects its operands on one device, got " +
                                 std::string(nameOf(one)) + " and " + std::string(nameOf(other)) +
                                 "; copy one of them with toDevice() or toHost()");
}

} // namespace

tracert::Device *placeOf(const Value &value) {
  const tracert::BufferRef &buffer = value->buffer();
  return buffer ? buffer->space().device : nullptr;
}

bool isOnHost(std::span<const Value> values) {
  return std::all_of(values.begin(), values.end(),
                     [](const Value &value) { return placeOf(value) == nullptr; });
}

Result<tracert::Device *> commonDevice(const OpCall &call, std::span<const Value> operands) {
  auto first = std::find_if(operands.begin(), operands.end(),
                            [](const Value &value) { return placeOf(value) != nullptr; });
  if (first == operands.end()) {
    return nullptr;
  }
  for (const Value &operand : operands) {
    bool goesAlong = !placeOf(operand) && operand->shape().empty();
    if (!goesAlong && placeOf(operand) != placeOf(*first)) {
      return onTwoDevices(call, *first, operand);
    }
  }
  return placeOf(*first);
}

Result<Value> onHost(const Value &value) {
  tracert::Device *device = placeOf(value);
  if (!device) {
    return value;
  }
  tracert::HostCopies copies(*device, tracert::processAllocator());
  TRACERT_ASSIGN(tracert::CopiedTensor brought, copies.bring(value->view()));
  return ValueImpl::makeReady(std::move(brought.buffer), std::move(brought.view));
}

Result<Values> sizesOnHost(const OpCall &call, std::span<const Value> operands) {
  Values known(operands.begin(), operands.end());
  int fixed = call.info().operandCount;
  for (size_t i = fixed < 0 ? known.size() : static_cast<size_t>(fixed); i < known.size(); ++i) {
    if (known[i]->shape().empty()) {
      TRACERT_ASSIGN(known[i], onHost(known[i]));
    }
  }
  return known;
}

Result<Value> allocateOn(tracert::Device &device, const TensorType &type) {
  auto size = static_cast<size_t>(type.byteCount());
  tracert::BufferRef buffer(tracert::Buffer::allocate(device.allocator(), size));
  if (!buffer) {
    return Status::outOfMemory("out of memory on " + std::string(device.space().name) +
                               " for a tensor of " + std::to_string(size) + " bytes (" +
                               type.str() + ")");
  }
  void *data = buffer->data();
  return ValueImpl::makeReady(std::move(buffer), TensorView::contiguous(data, type));
}

Result<Value> copyElementOn(tracert::Device &device, const TensorView &element) {
  TRACERT_ASSIGN(Value copy, allocateOn(device, {element.dtype, {}}));
  TRACERT_TRY(device.copyWithin(copy->view().data, element.data, dtypeSize(element.dtype)));
  return copy;
}

Result<Value> toHost(const Value &x) { return stack().onHostRead(x); }

Result<Value> toDevice(const Value &x, tracert::Device &device) {
  if (hasTransforms()) {
    return Status::invalidArgument("a copy to " + std::string(device.space().name) +
                                   " is no op that can be recorded; copy outside");
  }
  TRACERT_TRY(ensureReady(x));
  if (placeOf(x) == (device.space().isHost() ? nullptr : &device)) {
    return x;
  }
  TRACERT_ASSIGN(Value host, onHost(x));
  if (device.space().isHost()) {
    return host;
  }
  tracert::HostCopies copies(device, tracert::processAllocator());
  TRACERT_ASSIGN(tracert::CopiedTensor sent,
                 copies.send(host->view(), device.allocator(), tracert::BufferRef()));
  return ValueImpl::makeReady(std::move(sent.buffer), std::move(sent.view));
}

} // namespace tracec
