#include "KernelCores.h"

#include "CoreTables.h"

namespace tracert {
namespace {

#define TRACERT_BUILD_LEVEL(level, isaValue)                                                       \
  KernelCores cores = {};                                                                          \
  cores.isa = isaValue;                                                                            \
  level::fillElementwiseCores(cores);                                                              \
  level::fillCastCores(cores);                                                                     \
  level::fillReduceCores(cores);                                                                   \
  level::fillMaskedCores(cores);                                                                   \
  level::fillMatmulCores(cores);                                                                   \
  level::fillMatrixVectorCores(cores);                                                             \
  return cores;

KernelCores buildPortable(){TRACERT_BUILD_LEVEL(portable, Isa::Portable)} KernelCores
    buildV3(){TRACERT_BUILD_LEVEL(v3, Isa::V3)} KernelCores buildAvx512() {
  TRACERT_BUILD_LEVEL(avx512, Isa::Avx512)
}

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

const KernelCores &kernelCores(Isa isa) {
  static const KernelCores portableCores = buildPortable();
  if (isa == Isa::Avx512) {
    static const KernelCores cores = buildAvx512();
    return cores;
  }
  if (isa == Isa::V3) {
    static const KernelCores cores = buildV3();
    return cores;
  }
  return portableCores;
}

} // namespace tracert
