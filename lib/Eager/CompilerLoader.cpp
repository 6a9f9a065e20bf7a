#include "tracec/Compiler.h"
#include "tracec/InterpreterLock.h"

#include <atomic>
#include <cstdlib>
#include <dlfcn.h>
#include <mutex>
#include <string>
#include <vector>

namespace tracec {

namespace {

constexpr const char *kLibraryName = "libtracec-compiler.so";

std::atomic<const CompilerApi *> loaded{nullptr};
std::mutex loadMutex;

/// The folder of the shared object that this code is linked into.
std::string ownFolder() {
  Dl_info info;
  if (!dladdr(reinterpret_cast<const void *>(&ownFolder), &info) || !info.dli_fname) {
    return "";
  }
  std::string path = info.dli_fname;
  size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash);
}

/// Explicit choice alone, else next to us, else where the dynamic loader looks.
std::vector<std::string> candidates() {
  if (const char *chosen = std::getenv("TRACEC_COMPILER_LIBRARY"); chosen && *chosen) {
    return {chosen};
  }
  std::vector<std::string> paths;
  if (std::string folder = ownFolder(); !folder.empty()) {
    paths.push_back(folder + "/" + kLibraryName);
    paths.push_back(folder + "/../lib/" + kLibraryName);
  }
  paths.push_back(kLibraryName);
  return paths;
}

} // namespace

const CompilerApi *loadedCompiler() { return loaded.load(std::memory_order_acquire); }

tracert::Result<const CompilerApi *> loadCompiler() {
  if (const CompilerApi *api = loadedCompiler()) {
    return api;
  }
  WithoutInterpreter pause;
  std::lock_guard lock(loadMutex);
  if (const CompilerApi *api = loadedCompiler()) {
    return api;
  }
  std::string tried;
  for (const std::string &path : candidates()) {
    // Its symbols stay private, so that another LLVM in the process does not meet ours.
    void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library) {
      tried += "\n  " + std::string(dlerror());
      continue;
    }
    using Entry = const CompilerApi *(*)();
    auto entry = reinterpret_cast<Entry>(dlsym(library, "tracecCompilerApi"));
    if (!entry) {
      tried += "\n  " + path + ": not a tracec compiler library";
      dlclose(library);
      continue;
    }
    const CompilerApi *api = entry();
    loaded.store(api, std::memory_order_release);
    return api;
  }
  return tracert::Status::compile(
      "the compiler library cannot be loaded, so traced calls cannot be compiled; install tracec "
      "with its compiler (libtracec-compiler.so and LLVM/MLIR 22), or set TRACEC_COMPILER_LIBRARY "
      "to its path; tried:" +
      tried);
}

} // namespace tracec
