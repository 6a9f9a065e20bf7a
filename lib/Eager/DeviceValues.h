/// Values in a device's memory, for eager code: which device an op runs for, and copies that the
/// host reads. An op on them is done by the host's kernels on copies; a view copies nothing.
///
///   if (tracert::hasDevices()) { TRACERT_ASSIGN(tracert::Device *device, commonDevice(call, xs));
///   }
///
/// Values here are Ready.
#pragma once

#include "tracec/Devices.h"
#include "tracec/Dispatch.h"

namespace tracec {

/// Null: the host.
tracert::Device *placeOf(const Value &value);
bool isOnHost(std::span<const Value> values);

/// The device of all operands but host values of rank 0, which go along. InvalidArgument when they
/// lie on two.
Result<tracert::Device *> commonDevice(const OpCall &call, std::span<const Value> operands);

/// The operands with sizes and bounds on the host, where type rules read them.
Result<Values> sizesOnHost(const OpCall &call, std::span<const Value> operands);

/// New contiguous value in the device's memory, uninitialised.
Result<Value> allocateOn(tracert::Device &device, const TensorType &type);
/// A new value of rank 0 with the element that `element` views.
Result<Value> copyElementOn(tracert::Device &device, const TensorView &element);

} // namespace tracec
