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
using tracert::Isa;
using tracert::Result;
using tracert::Status;

namespace tracec {

static std::unique_ptr<TargetMachine> makeTargetMachine(Isa isa) {
  static const bool initialized = [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    return true;
  }();
  (void)initialized;
  Triple triple("x86_64-unknown-linux-gnu");
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
  StringRef cpu = isa == Isa::Avx512 ? "x86-64-v4" : "x86-64-v3";
  return std::unique_ptr<TargetMachine>(target->createTargetMachine(
      triple, cpu, "", options, Reloc::PIC_, CodeModel::Small, CodeGenOptLevel::Default));
}

static TargetMachine *targetMachine(Isa isa) {
  static std::unique_ptr<TargetMachine> avx512 = makeTargetMachine(Isa::Avx512);
  static std::unique_ptr<TargetMachine> v3 = makeTargetMachine(Isa::V3);
  return isa == Isa::Avx512 ? avx512.get() : v3.get();
}

void optimizeModule(Module &module, Isa isa) {
  LoopAnalysisManager loopAnalyses;
  FunctionAnalysisManager functionAnalyses;
  CGSCCAnalysisManager callGraphAnalyses;
  ModuleAnalysisManager moduleAnalyses;
  PassBuilder passBuilder(targetMachine(isa));
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

Result<SmallVector<char, 0>> emitModule(Module &module, Isa isa, CodeGenFileType fileType) {
  TargetMachine *machine = targetMachine(isa);
  if (!machine) {
    return Status::compile("this LLVM has no x86-64 target");
  }
  SmallVector<char, 0> bytes;
  raw_svector_ostream stream(bytes);
  legacy::PassManager passes;
  if (machine->addPassesToEmitFile(passes, stream, nullptr, fileType, /*DisableVerify=*/true)) {
    return Status::compile("this LLVM cannot emit x86-64 objects");
  }
  passes.run(module);
  return bytes;
}

} // namespace tracec
