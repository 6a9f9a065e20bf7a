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

/// Loops that give the same bits are one: an integer's sign decides only when it is widened, or
/// leaves the integers.
template <class From, class To> constexpr ElementwiseLoop castLoop() {
  constexpr bool isToBits = isIntegerTag<To> && !isFloatTag<From>;
  constexpr bool isFromBits =
      isIntegerTag<From> &&
      (isBoolTag<To> ||
       (isIntegerTag<To> && sizeof(typename To::Storage) <= sizeof(typename From::Storage)));
  using Source = std::conditional_t<isFromBits, scalar::dtype::BitsTag<From>, From>;
  using Target = std::conditional_t<isToBits, scalar::dtype::BitsTag<To>, To>;
  return runElementwise<CastLoop<Source, Target>>;
}

template <class From> void fillCastsFrom(KernelCores &cores) {
#define TRACERT_FILL_CAST(to, ...)                                                                 \
  cores.cast[dtypeIndex<From>][dtypeIndex<scalar::dtype::to>] = castLoop<From, scalar::dtype::to>();
  TRACERT_FOR_AllDTypes(TRACERT_FILL_CAST, )
}

} // namespace

void fillCastCores(KernelCores &cores) {
#define TRACERT_FILL_FROM(from, ...) fillCastsFrom<scalar::dtype::from>(cores);
  TRACERT_FOR_AllDTypes(TRACERT_FILL_FROM, )
}

} // namespace tracert::TRACERT_ISA
