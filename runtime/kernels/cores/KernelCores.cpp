#include "KernelCores.h"

#include "CoreTables.h"

namespace tracert {
namespace {

#define TRACERT_BUILD_LEVEL(level, isaValue)                                                       \
  KernelCores cores = {};                                                                          \
  cores.target = isaValue;                                                                         \
  level::fillElementwiseCores(cores);                                                              \
  level::fillUpdateCores(cores);                                                                   \
  level::fillCastCores(cores);                                                                     \
  level::fillReduceCores(cores);                                                                   \
  level::fillMaskedCores(cores);                                                                   \
  level::fillMatmulCores(cores);                                                                   \
  level::fillMatrixVectorCores(cores);                                                             \
  return cores;

KernelCores buildPortable(){TRACERT_BUILD_LEVEL(portable, kPortable)}
#if defined(__x86_64__)
KernelCores buildV3(){TRACERT_BUILD_LEVEL(v3, kX86V3)} KernelCores buildAvx512() {
  TRACERT_BUILD_LEVEL(avx512, kX86V4)
}
#endif

} // namespace

int elementwiseOpIndex(std::string_view name) {
  static constexpr std::string_view names[] = {
#define TRACERT_ELEMENTWISE(opName, arity, result, dtypes) #opName,
#define TRACERT_SELECT(opName) #opName,
#define TRACERT_CAST(opName) #opName,
#include "tracert/generated/ElementwiseOps.inc"
#undef TRACERT_ELEMENTWISE
#undef TRACERT_SELECT
#undef TRACERT_CAST
  };
  for (int index = 0; index < elementwiseOpCount; ++index) {
    if (names[index] == name) {
      return index;
    }
  }
  return -1;
}

const KernelCores &kernelCores(Target target) {
#if defined(__x86_64__)
  if (target == kX86V4) {
    static const KernelCores cores = buildAvx512();
    return cores;
  }
  if (target == kX86V3) {
    static const KernelCores cores = buildV3();
    return cores;
  }
#endif
  static const KernelCores cores = buildPortable();
  return cores;
}

} // namespace tracert
