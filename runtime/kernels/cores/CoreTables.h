/// CoreTables.h: what each file of cores/ adds to a level's table; KernelCores.cpp puts it
/// together.
///
///   namespace tracert::TRACERT_ISA { void fillReduceCores(KernelCores &cores) { ... } }
#pragma once

#include "KernelCores.h"

#define TRACERT_DECLARE_LEVEL(level)                                                               \
  namespace tracert::level {                                                                       \
  void fillElementwiseCores(KernelCores &cores);                                                   \
  void fillUpdateCores(KernelCores &cores);                                                        \
  void fillCastCores(KernelCores &cores);                                                          \
  void fillReduceCores(KernelCores &cores);                                                        \
  void fillMaskedCores(KernelCores &cores);                                                        \
  void fillMatmulCores(KernelCores &cores);                                                        \
  void fillMatrixVectorCores(KernelCores &cores);                                                  \
  }
TRACERT_DECLARE_LEVEL(portable)
TRACERT_DECLARE_LEVEL(v3)
TRACERT_DECLARE_LEVEL(avx512)
#undef TRACERT_DECLARE_LEVEL
