#include "Codegen/CPU/KernelLibrary.h"

#include "Codegen/CPU/ToLlvm.h"

#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Support/Error.h"

extern "C" {
extern const char kernel_library_avx512[], kernel_library_avx512_end[];
extern const char kernel_library_v3[], kernel_library_v3_end[];
}

using tracert::Isa;
using tracert::Status;

namespace tracec {

static llvm::MemoryBufferRef libraryBytes(Isa isa) {
  const char *begin = isa == Isa::Avx512 ? kernel_library_avx512 : kernel_library_v3;
  const char *end = isa == Isa::Avx512 ? kernel_library_avx512_end : kernel_library_v3_end;
  return {llvm::StringRef(begin, static_cast<size_t>(end - begin)), "kernel library"};
}

Status linkKernelLibrary(llvm::Module &module, Isa isa) {
  llvm::Expected<std::unique_ptr<llvm::Module>> library = llvm::getLazyBitcodeModule(
      libraryBytes(isa), module.getContext(), /*ShouldLazyLoadMetadata=*/true);
  if (!library) {
    return Status::compile("kernel library: " + llvm::toString(library.takeError()));
  }
  module.setTargetTriple((*library)->getTargetTriple());
  module.setDataLayout((*library)->getDataLayout());
  if (llvm::Linker::linkModules(module, std::move(*library), llvm::Linker::LinkOnlyNeeded)) {
    return Status::compile("kernel library does not link");
  }
  static constexpr llvm::StringLiteral targetAttributes[] = {
      "target-cpu", "target-features", "tune-cpu", "min-legal-vector-width", "prefer-vector-width"};
  for (llvm::Function &function : module) {
    if (function.isDeclaration()) {
      if (!function.isIntrinsic()) {
        return Status::compile("the kernel library has no function '" + function.getName().str() +
                               "'");
      }
      continue;
    }
    if (function.getName() != kernelEntryName) {
      function.setLinkage(llvm::GlobalValue::InternalLinkage);
    }
    for (llvm::StringRef name : targetAttributes) {
      function.removeFnAttr(name);
    }
    function.removeFnAttr(llvm::Attribute::UWTable);
    function.addFnAttr(llvm::Attribute::NoUnwind);
    if (isa == Isa::Avx512) {
      // Otherwise 512-bit values are split on the processors that prefer 256.
      function.addFnAttr("min-legal-vector-width", "512");
      function.addFnAttr("prefer-vector-width", "512");
    }
  }
  return {};
}

} // namespace tracec
