/// The library kernel of each op family, called by runKernel. Types have been checked; the thread
/// is in the numeric mode; results are as Kernels.h says.
///
///   return runReduce(context, call, operands, results);
#pragma once

#include "kernels/cores/KernelCores.h"
#include "tracert/Kernels.h"

namespace tracert::kernels {

using Views = std::span<const TensorView>;

Status runPointwise(const KernelContext &context, const OpCall &call, Views operands,
                    Views results);
Status runReduce(const KernelContext &context, const OpCall &call, Views operands, Views results);
Status runSize(const KernelContext &context, const OpCall &call, Views operands, Views results);
Status runGuard(const KernelContext &context, const OpCall &call, Views operands, Views results);
Status runView(const KernelContext &context, const OpCall &call, Views operands, Views results);
Status runJoin(const KernelContext &context, const OpCall &call, Views operands, Views results);
Status runCreate(const KernelContext &context, const OpCall &call, Views operands, Views results);
Status runMatmul(const KernelContext &context, const OpCall &call, Views operands, Views results);
Status runIndexing(const KernelContext &context, const OpCall &call, Views operands, Views results);
Status runCompress(const KernelContext &context, const OpCall &call, Views operands, Views results);

inline char *bytesOf(const TensorView &view) { return static_cast<char *>(view.data); }
inline int64_t itemBytes(DType dtype) { return static_cast<int64_t>(dtypeSize(dtype)); }
inline int dtypeNumber(DType dtype) { return static_cast<int>(dtype); }

} // namespace tracert::kernels
