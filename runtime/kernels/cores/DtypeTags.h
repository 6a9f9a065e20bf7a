/// DtypeTags.h: from the scalar library's dtype tags to DType numbers.
///
///   cores.select[dtypeIndex<scalar::dtype::f16>] = ...;
#pragma once

#include "tracert/DType.h"
#include "tracert/scalar/Dtypes.h"

namespace tracert {

template <class D> inline constexpr int dtypeIndex = -1;
template <> inline constexpr int dtypeIndex<scalar::dtype::b1> = int(DType::Bool);
template <> inline constexpr int dtypeIndex<scalar::dtype::u8> = int(DType::UInt8);
template <> inline constexpr int dtypeIndex<scalar::dtype::i32> = int(DType::Int32);
template <> inline constexpr int dtypeIndex<scalar::dtype::i64> = int(DType::Int64);
template <> inline constexpr int dtypeIndex<scalar::dtype::f16> = int(DType::Float16);
template <> inline constexpr int dtypeIndex<scalar::dtype::f32> = int(DType::Float32);
template <> inline constexpr int dtypeIndex<scalar::dtype::f64> = int(DType::Float64);

} // namespace tracert
