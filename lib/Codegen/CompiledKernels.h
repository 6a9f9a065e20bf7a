/// CompiledKernels: what code generation gives, whatever the target: flat code and where each
/// kernel starts in it.
///
///   section.code = compiled.code; kernelDef.codeOffset = compiled.entries[i];
#pragma once

#include <cstdint>
#include <vector>

namespace tracec {

struct CompiledKernels {
  std::vector<uint8_t> code;
  /// Byte offset in `code` of each kernel's entry (tracert::KernelEntry).
  std::vector<uint64_t> entries;
};

} // namespace tracec
