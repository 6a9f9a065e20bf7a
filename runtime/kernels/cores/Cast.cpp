#include "CoreTables.h"
#include "DtypeTags.h"
#include "ElementwiseLoop.h"

#include "tracert/scalar/Cast.h"

namespace tracert::TRACERT_ISA {
namespace {

template <class From, class To> struct CastLoop {
  static constexpr size_t arity = 1;
  using Result = typename To::Storage;
  template <size_t> using Operand = typename From::Storage;
  template <int width, class Stored> TRACERT_INLINE static auto call(Stored stored) {
    return scalar::cast<From, To, width>(stored);
  }
};

template <class From> void fillCastsFrom(KernelCores &cores) {
#define TRACERT_FILL_CAST(to, ...)                                                                 \
  cores.cast[dtypeIndex<From>][dtypeIndex<scalar::dtype::to>] =                                    \
      runElementwise<CastLoop<From, scalar::dtype::to>>;
  TRACERT_FOR_AllDTypes(TRACERT_FILL_CAST, )
}

} // namespace

void fillCastCores(KernelCores &cores) {
#define TRACERT_FILL_FROM(from, ...) fillCastsFrom<scalar::dtype::from>(cores);
  TRACERT_FOR_AllDTypes(TRACERT_FILL_FROM, )
}

} // namespace tracert::TRACERT_ISA
