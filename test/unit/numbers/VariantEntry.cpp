// The door of a variant library: the kernel cores as one compiler built them. Everything else in
// the library is hidden, so several can be loaded into one process.
#include "tracert/kernels/cores/KernelCores.h"

extern "C" __attribute__((visibility("default"))) const tracert::KernelCores *
numbersVariantCores(tracert::Target target) {
  return &tracert::kernelCores(target);
}
