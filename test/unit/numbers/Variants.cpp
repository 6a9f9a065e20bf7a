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
    auto *entry = reinterpret_cast<const tracert::KernelCores *(*)(int)>(
        dlsym(library, "numbersVariantCores"));
    for (int isa = 0; isa <= int(tracert::bestIsa()); ++isa) {
      const tracert::KernelCores *cores = entry(isa);
      variants.push_back({compiler + "-" + std::string(tracert::isaName(cores->isa)), cores});
    }
  }
  return variants;
}

std::vector<BitcodeVariant> loadBitcode() {
  std::vector<BitcodeVariant> variants;
  struct Module {
    const char *name;
    int lanes;
    tracert::Isa isa;
  };
  for (Module module : {Module{"v3_v8", 8, tracert::Isa::V3}, Module{"v3_v1", 1, tracert::Isa::V3},
                        Module{"avx512_v16", 16, tracert::Isa::Avx512},
                        Module{"avx512_v1", 1, tracert::Isa::Avx512}}) {
    if (module.isa <= tracert::bestIsa()) {
      std::string path = std::string(NUMBERS_LIBRARY_DIR "/bitcode-") + module.name + ".so";
      variants.push_back({std::string("bitcode-") + module.name, openLibrary(path), module.lanes});
    }
  }
  return variants;
}

} // namespace

BitcodeLoop BitcodeVariant::loop(const std::string &function) const {
  std::string symbol = "loop_" + function + "_v" + std::to_string(lanes);
  return reinterpret_cast<BitcodeLoop>(dlsym(library, symbol.c_str()));
}

const std::vector<CoreVariant> &coreVariants() {
  static const std::vector<CoreVariant> variants = loadCores();
  return variants;
}

const std::vector<BitcodeVariant> &bitcodeVariants() {
  static const std::vector<BitcodeVariant> variants = loadBitcode();
  return variants;
}

} // namespace numbers
