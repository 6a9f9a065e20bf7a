/// DtypeTags.h: from the tags of the dtypes to indices of tables by dtype.
///
///   cores.select[dtypeIndex<scalar::dtype::f16>] = ...;
#pragma once

#include "tracert/DType.h"
#include "tracert/scalar/Dtypes.h"

namespace tracert {

template <class D> inline constexpr int dtypeIndex = static_cast<int>(D::dtype);

} // namespace tracert
