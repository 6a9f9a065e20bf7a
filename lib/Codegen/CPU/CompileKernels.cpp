#include "Codegen/CPU/CompileKernels.h"

#include "Codegen/CPU/EmitObject.h"
#include "Codegen/CPU/FlatBlob.h"
#include "Codegen/CPU/KernelCache.h"
#include "Codegen/CPU/KernelLibrary.h"
#include "Codegen/CPU/Stopwatch.h"
#include "Codegen/CPU/ToLlvm.h"
#include "tracert/CacheLimits.h"

#include "mlir/IR/AsmState.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/Support/MathExtras.h"

#include <mutex>

using namespace mlir;
using tracert::Result;
using tracert::Status;
using tracert::Target;

namespace tracec {

namespace {

/// Where kernels become LLVM IR. What a kernel's module leaves behind (types, constants, metadata)
/// lives as long as the context, so it serves a number of kernels only.
struct IrContext {
  llvm::LLVMContext context;
  KernelLibrary library{context};
  size_t uses = 0;
};

/// What this process has compiled. LLVM contexts and target machines are not thread safe, so one
/// lock serves the cache and the compilation.
struct Compiler {
  std::mutex mutex;
  /// Text of the kernel without name and source ops, after the ISA, to its blob.
  KernelCache cache{tracert::kMaxCompiledKernelBytes};
  uint64_t compiled = 0;
  CompileTimes times;

  /// For one kernel; nothing of it may be kept.
  IrContext &irContext() {
    if (!ir || ir->uses == tracert::kMaxCompilationsPerContext) {
      ir = std::make_unique<IrContext>();
    }
    ++ir->uses;
    return *ir;
  }

private:
  std::unique_ptr<IrContext> ir;
};

} // namespace

static Compiler &compiler() {
  // Never destroyed: threads may compile while the process ends.
  static Compiler *instance = new Compiler;
  return *instance;
}

static Status checkTarget(Target target) {
  return target.isPortable() ? Status::compile("there is no compiled code for the portable level")
                             : Status();
}

static std::string cacheKey(kernel::FuncOp func, Target target) {
  auto stripped = cast<kernel::FuncOp>(func->clone());
  stripped.setSymName(kernelEntryName);
  stripped.setSourceOps({});
  std::string key(tracert::targetName(target));
  llvm::raw_string_ostream stream(key);
  stripped->print(stream,
                  OpPrintingFlags().enableDebugInfo(false).useLocalScope().assumeVerified());
  stripped->erase();
  return key;
}

/// The kernel as optimised LLVM IR with all it calls. Diagnostics become the status.
static Result<std::unique_ptr<llvm::Module>> buildModule(kernel::FuncOp func, Target target,
                                                         IrContext &ir, CompileTimes &times) {
  std::string diagnostics;
  ScopedDiagnosticHandler handler(func.getContext(), [&](Diagnostic &diagnostic) {
    diagnostics += (diagnostics.empty() ? "" : "; ") + diagnostic.str();
    return success();
  });
  ToLlvmTimes toLlvm;
  std::unique_ptr<llvm::Module> module = kernelToLlvm(func, target, ir.context, toLlvm);
  times.lowerNanoseconds += toLlvm.lowerNanoseconds;
  times.translateNanoseconds += toLlvm.translateNanoseconds;
  if (!module) {
    return Status::compile("kernel '" + func.getSymName().str() + "': " + diagnostics);
  }
  Stopwatch watch;
  if (Status status = ir.library.link(*module, target); !status.ok()) {
    return Status::compile("kernel '" + func.getSymName().str() + "': " + status.message());
  }
  times.linkNanoseconds += watch.lap();
  optimizeModule(*module, target);
  times.optimizeNanoseconds += watch.lap();
  return module;
}

static Result<FlatBlob> compileOne(kernel::FuncOp func, Target target, IrContext &ir,
                                   CompileTimes &times) {
  TRACERT_ASSIGN(std::unique_ptr<llvm::Module> module, buildModule(func, target, ir, times));
  Stopwatch watch;
  TRACERT_ASSIGN(auto object, emitModule(*module, target, llvm::CodeGenFileType::ObjectFile));
  times.emitNanoseconds += watch.lap();
  Result<FlatBlob> blob = flattenObject(object, kernelEntryName);
  times.fixNanoseconds += watch.lap();
  if (!blob.ok()) {
    return Status::compile("kernel '" + func.getSymName().str() + "': " + blob.status().message());
  }
  return blob;
}

/// What traps when it is executed: int3, and udf on aarch64.
static uint8_t paddingByte(Target target) {
  return target.kind == tracert::TargetKind::X86 ? 0xCC : 0;
}

Result<CompiledKernels> compileKernels(ModuleOp module, Target target) {
  TRACERT_TRY(checkTarget(target));
  Compiler &state = compiler();
  CompiledKernels result;
  for (auto func : module.getOps<kernel::FuncOp>()) {
    std::string key = cacheKey(func, target);
    std::lock_guard lock(state.mutex);
    const FlatBlob *blob = state.cache.find(key);
    if (!blob) {
      TRACERT_ASSIGN(FlatBlob fresh, compileOne(func, target, state.irContext(), state.times));
      ++state.compiled;
      blob = &state.cache.add(std::move(key), std::move(fresh));
    }
    result.code.resize(llvm::alignTo(result.code.size(), kBlobAlignment), paddingByte(target));
    result.entries.push_back(result.code.size() + blob->entry);
    result.code.insert(result.code.end(), blob->bytes.begin(), blob->bytes.end());
  }
  return result;
}

uint64_t kernelsCompiled() {
  std::lock_guard lock(compiler().mutex);
  return compiler().compiled;
}

size_t compiledKernelBytes() {
  std::lock_guard lock(compiler().mutex);
  return compiler().cache.bytes();
}

CompileTimes compileTimes() {
  std::lock_guard lock(compiler().mutex);
  return compiler().times;
}

Result<std::string> printKernels(ModuleOp module, Target target, CodeText what) {
  TRACERT_TRY(checkTarget(target));
  std::lock_guard lock(compiler().mutex);
  std::string text;
  llvm::raw_string_ostream stream(text);
  for (auto func : module.getOps<kernel::FuncOp>()) {
    CompileTimes times;
    TRACERT_ASSIGN(std::unique_ptr<llvm::Module> built,
                   buildModule(func, target, compiler().irContext(), times));
    stream << (what == CodeText::LlvmIr ? "; " : "# ") << func.getSymName() << "\n";
    if (what == CodeText::LlvmIr) {
      built->print(stream, nullptr);
      continue;
    }
    TRACERT_ASSIGN(auto assembly, emitModule(*built, target, llvm::CodeGenFileType::AssemblyFile));
    stream << llvm::StringRef(assembly.data(), assembly.size());
  }
  return text;
}

} // namespace tracec
