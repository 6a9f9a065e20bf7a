#include "Codegen/CPU/EmitObject.h"

#include "llvm/Analysis/CGSCCPassManager.h"
#include "llvm/Analysis/LoopAnalysisManager.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/PassManager.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Triple.h"
#include "llvm/Transforms/IPO/AlwaysInliner.h"
#include "llvm/Transforms/IPO/GlobalDCE.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/DCE.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/LICM.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"

using namespace llvm;
using tracert::Result;
using tracert::Status;

namespace tracec {

static std::unique_ptr<TargetMachine> makeTargetMachine(tracert::Target level) {
  static const bool initialized = [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    LLVMInitializeAArch64TargetInfo();
    LLVMInitializeAArch64Target();
    LLVMInitializeAArch64TargetMC();
    LLVMInitializeAArch64AsmPrinter();
    return true;
  }();
  (void)initialized;
  bool isX86 = level.kind == tracert::TargetKind::X86;
  Triple triple(isX86 ? "x86_64-unknown-linux-gnu" : "aarch64-unknown-linux-gnu");
  std::string error;
  const Target *target = TargetRegistry::lookupTarget(triple, error);
  if (!target) {
    return nullptr;
  }
  TargetOptions options;
  // Contraction would change numbers (runtime/scalar/Numbers.md).
  options.AllowFPOpFusion = FPOpFusion::Strict;
  options.FunctionSections = false;
  options.DataSections = false;
  options.UseInitArray = true;
  StringRef cpu = level == tracert::kX86V4   ? "x86-64-v4"
                  : level == tracert::kX86V3 ? "x86-64-v3"
                                             : "generic";
  // The tiny model of aarch64 reaches a megabyte around an instruction without regard to pages, so
  // that a blob may lie anywhere.
  CodeModel::Model model = isX86 ? CodeModel::Small : CodeModel::Tiny;
  return std::unique_ptr<TargetMachine>(target->createTargetMachine(
      triple, cpu, "", options, Reloc::PIC_, model, CodeGenOptLevel::Default));
}

static TargetMachine *targetMachine(tracert::Target target) {
  // Made when first needed; the caller holds the compiler's lock.
  static std::unique_ptr<TargetMachine> machines[std::size(tracert::kTargets)];
  std::unique_ptr<TargetMachine> &machine = machines[tracert::targetIndex(target)];
  if (!machine) {
    machine = makeTargetMachine(target);
  }
  return machine.get();
}

void optimizeModule(Module &module, tracert::Target target) {
  LoopAnalysisManager loopAnalyses;
  FunctionAnalysisManager functionAnalyses;
  CGSCCAnalysisManager callGraphAnalyses;
  ModuleAnalysisManager moduleAnalyses;
  PassBuilder passBuilder(targetMachine(target));
  passBuilder.registerModuleAnalyses(moduleAnalyses);
  passBuilder.registerCGSCCAnalyses(callGraphAnalyses);
  passBuilder.registerFunctionAnalyses(functionAnalyses);
  passBuilder.registerLoopAnalyses(loopAnalyses);
  passBuilder.crossRegisterProxies(loopAnalyses, functionAnalyses, callGraphAnalyses,
                                   moduleAnalyses);
  ModulePassManager passes;
  passes.addPass(AlwaysInlinerPass(/*InsertLifetime=*/false));
  passes.addPass(GlobalDCEPass());
  FunctionPassManager functions;
  functions.addPass(SROAPass(SROAOptions::ModifyCFG));
  functions.addPass(EarlyCSEPass(/*UseMemorySSA=*/true));
  functions.addPass(InstCombinePass());
  functions.addPass(SimplifyCFGPass());
  functions.addPass(
      createFunctionToLoopPassAdaptor(LICMPass(LICMOptions()), /*UseMemorySSA=*/true));
  functions.addPass(EarlyCSEPass());
  functions.addPass(DCEPass());
  passes.addPass(createModuleToFunctionPassAdaptor(std::move(functions)));
  passes.run(module, moduleAnalyses);
}

Result<SmallVector<char, 0>> emitModule(Module &module, tracert::Target target,
                                        CodeGenFileType fileType) {
  TargetMachine *machine = targetMachine(target);
  if (!machine) {
    return Status::compile("this LLVM does not know " + std::string(tracert::targetName(target)));
  }
  SmallVector<char, 0> bytes;
  raw_svector_ostream stream(bytes);
  legacy::PassManager passes;
  if (machine->addPassesToEmitFile(passes, stream, nullptr, fileType, /*DisableVerify=*/true)) {
    return Status::compile("this LLVM emits no objects for " +
                           std::string(tracert::targetName(target)));
  }
  passes.run(module);
  return bytes;
}

} // namespace tracec
