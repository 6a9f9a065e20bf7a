/// The library kernel of each op family, called by runKernel. Types have been checked; the thread
/// is in the numeric mode; results are as Kernels.h says.
///
///   return runReduce(context, call, operands, results);
#pragma once

#include "kernels/cores/KernelCores.h"
#include "tracert/Kernels.h"

namespace tracert::kernels {

using Views = std::span<const TensorView>;

#define TRACERT_FAMILY(name, typeRule, kernel, ...)                                                \
  Status kernel(const KernelContext &context, const OpCall &call, Views operands, Views results);
#include "generated/Families.inc"
#undef TRACERT_FAMILY

inline char *bytesOf(const TensorView &view) { return static_cast<char *>(view.data); }
inline int64_t itemBytes(DType dtype) { return static_cast<int64_t>(dtypeSize(dtype)); }
inline int dtypeNumber(DType dtype) { return static_cast<int>(dtype); }

} // namespace tracert::kernels
