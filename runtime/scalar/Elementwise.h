/// Elementwise.h: every elementwise op of ElementwiseOps.inc, applied to stored lanes of a dtype.
///
///   Vec<uint16_t, 16> y = apply<op::add, dtype::f16, 16>(a, b);  // float lanes, rounded once
///   uint8_t below       = apply<op::lt, dtype::f32, 1>(1.0f, 2.0f);
///
/// This is the whole adapter between the op templates (Arithmetic.h, Compare.h, Math.h) and memory:
/// a new op needs its template in one of those headers and its line in the .inc, nothing here.
#pragma once

#include "Arithmetic.h"
#include "Cast.h"
#include "Compare.h"
#include "Dtypes.h"
#include "Math.h"

namespace tracert::scalar::inline TRACERT_LEVEL {

/// One type per op: how many operands, whether the result is the dtype bool, and the template
/// itself.
namespace op {
#define TRACERT_RESULT_IS_BOOL_Same false
#define TRACERT_RESULT_IS_BOOL_Bool true
#define TRACERT_ELEMENTWISE(opName, opArity, opResult, dtypes)                                     \
  struct opName {                                                                                  \
    static constexpr int arity = opArity;                                                          \
    static constexpr bool isPredicate = TRACERT_RESULT_IS_BOOL_##opResult;                         \
    template <class... Lanes> TRACERT_INLINE static auto call(Lanes... lanes) {                    \
      return ::tracert::scalar::opName(lanes...);                                                  \
    }                                                                                              \
  };
#define TRACERT_SELECT(opName)
#define TRACERT_CAST(opName)
#include "tracert/generated/ElementwiseOps.inc"
#undef TRACERT_ELEMENTWISE
#undef TRACERT_SELECT
#undef TRACERT_CAST
} // namespace op

template <class Op, class D> using ResultDtype = std::conditional_t<Op::isPredicate, dtype::b1, D>;

template <class Op, class D, int width, class... Stored>
TRACERT_INLINE Vec<typename ResultDtype<Op, D>::Storage, width> apply(Stored... stored) {
  static_assert(sizeof...(Stored) == Op::arity);
  return storeLanes<ResultDtype<Op, D>, width>(Op::call(loadLanes<D, width>(stored)...));
}

/// where on stored lanes: float16 moves as bits.
template <class D, int width>
TRACERT_INLINE Vec<typename D::Storage, width>
applyWhere(Vec<uint8_t, width> condition, Vec<typename D::Storage, width> whenTrue,
           Vec<typename D::Storage, width> whenFalse) {
  return where(loadLanes<dtype::b1, width>(condition), whenTrue, whenFalse);
}

} // namespace tracert::scalar::inline TRACERT_LEVEL
