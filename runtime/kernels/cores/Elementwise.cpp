#include "CoreTables.h"
#include "DtypeTags.h"
#include "ElementwiseLoop.h"

#include "tracert/scalar/Elementwise.h"

namespace tracert::TRACERT_ISA {
namespace {

template <class ScalarOp, class D> struct OpLoop {
  static constexpr size_t arity = ScalarOp::arity;
  using Result = typename scalar::ResultDtype<ScalarOp, D>::Storage;
  template <size_t> using Operand = typename D::Storage;
  template <int width, class... Stored> TRACERT_INLINE static auto call(Stored... stored) {
    return scalar::apply<ScalarOp, D, width>(stored...);
  }
};

/// Moves bits: one loop per size of an element.
template <class D> struct WhereLoop {
  static constexpr size_t arity = 3;
  using Result = typename D::Storage;
  template <size_t i> using Operand = std::conditional_t<i == 0, uint8_t, typename D::Storage>;
  template <int width, class... Stored> TRACERT_INLINE static auto call(Stored... stored) {
    return scalar::applyWhere<D, width>(stored...);
  }
};

} // namespace

void fillElementwiseCores(KernelCores &cores) {
  int position = 0;
#define TRACERT_FILL_OP(d, opName)                                                                 \
  cores.elementwise[position][dtypeIndex<scalar::dtype::d>] =                                      \
      runElementwise<OpLoop<scalar::op::opName, scalar::dtype::d>>;
#define TRACERT_FILL_WHERE(d, opName)                                                              \
  cores.select[dtypeIndex<scalar::dtype::d>] =                                                     \
      runElementwise<WhereLoop<scalar::dtype::BitsTag<scalar::dtype::d>>>;
#define TRACERT_ELEMENTWISE(opName, opArity, opResult, dtypes)                                     \
  TRACERT_FOR_##dtypes(TRACERT_FILL_OP, opName)++ position;
#define TRACERT_SELECT(opName) TRACERT_FOR_AllDTypes(TRACERT_FILL_WHERE, opName)++ position;
#define TRACERT_CAST(opName) ++position;
#include "tracert/generated/ElementwiseOps.inc"
}

} // namespace tracert::TRACERT_ISA
