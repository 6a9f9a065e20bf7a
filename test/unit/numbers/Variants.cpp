#include "Variants.h"

#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>

namespace numbers {
namespace {

void *openLibrary(const std::string &path) {
  void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    std::fprintf(stderr, "cannot load %s: %s\n", path.c_str(), dlerror());
    std::abort();
  }
  return library;
}

std::vector<CoreVariant> loadCores() {
  std::vector<CoreVariant> variants;
  for (std::string compiler : {"gcc", "clang"}) {
    void *library = openLibrary(std::string(NUMBERS_LIBRARY_DIR "/cores-") + compiler + ".so");
    auto *entry = reinterpret_cast<const tracert::KernelCores *(*)(tracert::Target)>(
        dlsym(library, "numbersVariantCores"));
    for (const tracert::NamedTarget &known : tracert::kTargets) {
      if (!tracert::supports(known.target)) {
        continue;
      }
      const tracert::KernelCores *cores = entry(known.target);
      variants.push_back({compiler + "-" + std::string(tracert::targetName(cores->target)), cores});
    }
  }
  return variants;
}

} // namespace

const std::vector<CoreVariant> &coreVariants() {
  static const std::vector<CoreVariant> variants = loadCores();
  return variants;
}

} // namespace numbers
