/// The checks of elements that records ask for (OpInfo::elementRule).
///
///   if (info.checksElements()) { TRACERT_TRY(checkElements(call, operands[info.checkedOperand]));
///   }
#pragma once

#include "kernels/Families.h"

namespace tracert::kernels {

/// The error of the first element, in C order, that the op's record refuses.
Status checkElements(const OpCall &call, const TensorView &operand);

} // namespace tracert::kernels
