/// MemorySpace: where a buffer's memory lies, and who may touch it.
///
///   buffer->space().isHost()   // any code may read it; otherwise only space().device
///   buffer->space().name       // "cpu0": what Tensor.device says
///
/// One object per space, alive as long as any buffer in it; spaces are equal when they are the same
/// object.
#pragma once

#include "tracert/Export.h"

#include <string_view>

namespace tracert {

class Device;

struct MemorySpace {
  std::string_view name; // ends with a zero
  /// Copies in and out, loads code and launches it; null for the memory of the host.
  Device *device = nullptr;

  bool isHost() const { return device == nullptr; }
};

TRACERT_API const MemorySpace &hostMemory();

} // namespace tracert
