/// Values in the memory of a device: copies to it and back. An op on such values gives its result
/// there; host values of rank 0 go along, other mixtures are InvalidArgument.
///
///   TRACERT_ASSIGN(Value there, toDevice(x, *tracert::findDevice("gpu0")));
///   TRACERT_ASSIGN(Value back, toHost(there));
#pragma once

#include "tracec/Value.h"
#include "tracert/Device.h"

namespace tracec {

/// A copy in the device's memory, or `x` when it lies there. Not an op: InvalidArgument under a
/// transform.
Result<Value> toDevice(const Value &x, tracert::Device &device);
/// The same for the host's memory; a host read.
Result<Value> toHost(const Value &x);
/// The same of a Ready value, unseen by transforms: to show it, or to compare it.
Result<Value> onHost(const Value &value);

} // namespace tracec
