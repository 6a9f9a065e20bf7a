/// EmitObject: the short pass list, then an ELF object or assembly text.
///
///   optimizeModule(*module, kX86V4);
///   TRACERT_ASSIGN(llvm::SmallVector<char, 0> object, emitModule(*module, target, ObjectFile));
///
/// No vectoriser, no unrolling: the vector code is final when it arrives. One caller at a time.
#pragma once

#include "tracert/Kernels.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/CodeGen.h"

namespace tracec {

void optimizeModule(llvm::Module &module, tracert::Target target);

tracert::Result<llvm::SmallVector<char, 0>> emitModule(llvm::Module &module, tracert::Target target,
                                                       llvm::CodeGenFileType fileType);

} // namespace tracec
