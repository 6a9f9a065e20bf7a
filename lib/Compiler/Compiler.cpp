#include "Compiler/Compiler.h"

#include "Codegen/CodeGenerator.h"
#include "Conversion/KernelToVector/KernelToVector.h"
#include "Import/ImportTrace.h"
#include "Pipelines/Registry.h"
#include "tracert/CacheLimits.h"

#include "mlir/Parser/Parser.h"
#include "llvm/Support/SourceMgr.h"

#include <chrono>

using namespace mlir;
using tracert::Result;
using tracert::Status;

namespace tracec {

namespace {

/// The MLIRContext of the process. Whatever a compilation made unique in it (types, attributes,
/// locations, names) lives as long as it does, so it serves a number of compilations only.
struct ProcessContext {
  std::mutex mutex;

  /// For one compilation, which holds the lock until nothing of the context is left with it.
  MLIRContext *forCompilation() {
    if (!context || uses == tracert::kMaxCompilationsPerContext) {
      renew();
    }
    ++uses;
    return context.get();
  }

private:
  void renew() {
    // The old one first, so that there are never two.
    context.reset();
    context = std::make_unique<MLIRContext>(MLIRContext::Threading::DISABLED);
    DialectRegistry registry;
    registerAllDialects(registry);
    context->appendDialectRegistry(registry);
    context->loadAllAvailableDialects();
    uses = 0;
  }

  std::unique_ptr<MLIRContext> context;
  size_t uses = 0;
};

/// Made on first use and never destroyed: other threads may be compiling at exit.
ProcessContext &processContext() {
  static ProcessContext *context = new ProcessContext();
  return *context;
}

bool verifiesPasses() {
#ifdef NDEBUG
  return false;
#else
  return true;
#endif
}

} // namespace

DiagnosticText::DiagnosticText(MLIRContext *context)
    : handler(context, [this](Diagnostic &diagnostic) {
        if (diagnostic.getSeverity() != DiagnosticSeverity::Error) {
          return success();
        }
        llvm::raw_string_ostream stream(text);
        if (!text.empty()) {
          stream << "; ";
        }
        if (auto loc = diagnostic.getLocation()->findInstanceOf<FileLineColLoc>()) {
          stream << loc.getFilename().getValue() << ':' << loc.getLine() << ": ";
        }
        stream << diagnostic;
        return success();
      }) {}

Status DiagnosticText::status(const std::string &otherwise) const {
  return Status::compile(text.empty() ? otherwise : text);
}

Compilation::Compilation(const CompileOptions &options)
    : options(options), lock(processContext().mutex), context(processContext().forCompilation()),
      diagnostics(context) {}

template <class Action> auto Compilation::timed(const char *stage, Action action) {
  auto start = std::chrono::steady_clock::now();
  auto result = action();
  if (options.timing) {
    std::chrono::duration<double, std::milli> elapsed = std::chrono::steady_clock::now() - start;
    llvm::errs() << llvm::formatv("{0,-10} {1,8:f2} ms\n", stage, elapsed.count());
  }
  return result;
}

Status Compilation::importGraph(const TraceGraph &graph) {
  for (const TraceConstant &constant : graph.constants) {
    constants.push_back({constant.data, constant.owner});
  }
  return timed("trace", [&]() -> Status {
    TRACERT_ASSIGN(module, importTrace(graph, context));
    return {};
  });
}

Status Compilation::parseText(const std::string &mlir, const std::string &name) {
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBuffer(mlir, name), llvm::SMLoc());
  module = parseSourceFile<ModuleOp>(sources, ParserConfig(context));
  if (!module) {
    return diagnostics.status(name + " is not a module in the trace dialect");
  }
  return checkFunction();
}

func::FuncOp Compilation::function() {
  auto functions = module->getOps<func::FuncOp>();
  return functions.empty() ? func::FuncOp() : *functions.begin();
}

Status Compilation::checkFunction() {
  auto functions = module->getOps<func::FuncOp>();
  if (!llvm::hasSingleElement(functions) || !llvm::hasSingleElement(module->getOps())) {
    return Status::compile("expected one function in the module");
  }
  func::FuncOp only = *functions.begin();
  if (only.isExternal() || !llvm::hasSingleElement(only.getBody())) {
    return Status::compile("expected function '" + only.getName().str() + "' to have one block");
  }
  for (Type type : llvm::concat<const Type>(only.getArgumentTypes(), only.getResultTypes())) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor || !dtypeOfElement(tensor.getElementType())) {
      std::string text;
      llvm::raw_string_ostream(text) << type;
      return Status::compile("type " + text + " of the signature is not a tensor of a known dtype");
    }
  }
  for (Operation &op : only.getBody().front()) {
    if (!isa<trace::ConstantOp, func::ReturnOp>(op) && !trace::opKindOf(&op)) {
      return Status::compile("'" + op.getName().getStringRef().str() +
                             "' is not an op of the trace stage");
    }
  }
  return {};
}

Status Compilation::runPasses(const char *stage, llvm::function_ref<void(OpPassManager &)> build) {
  return timed(stage, [&]() -> Status {
    PassManager passes(context);
    passes.enableVerifier(verifiesPasses());
    build(passes);
    if (failed(passes.run(*module))) {
      return diagnostics.status(std::string("the ") + stage + " stage failed");
    }
    return {};
  });
}

Status Compilation::makeCanonical() {
  return runPasses("canonical", [](OpPassManager &passes) { buildCanonicalStage(passes); });
}

Status Compilation::makeFused() {
  return runPasses("fused", [&](OpPassManager &passes) {
    buildFusedStage(passes, /*groupEachOp=*/options.optLevel == 0);
  });
}

void Compilation::makeKernels() {
  (void)timed("kernel", [&] {
    kernelModule = ModuleOp::create(UnknownLoc::get(context));
    kernels = lowerGroups(function(), *kernelModule);
    return true;
  });
}

Result<std::shared_ptr<tracert::Program>> Compilation::run() {
  TRACERT_TRY(makeCanonical());
  ProgramBuilder builder(function(), constants);
  TRACERT_TRY(builder.addOps());
  if (options.targets.empty()) {
    return builder.finish();
  }
  TRACERT_TRY(makeFused());
  makeKernels();
  for (tracert::Target target : options.targets) {
    Status status = timed("code", [&]() -> Status {
      TRACERT_ASSIGN(CodeGenerator * generator, codeGeneratorFor(target));
      TRACERT_ASSIGN(CompiledKernels compiled, generator->compile(*kernelModule, target));
      return builder.addSection(target, kernels, std::move(compiled));
    });
    TRACERT_TRY(status);
  }
  return builder.finish();
}

Result<std::string> Compilation::print(Stage stage) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  OpPrintingFlags flags;
  flags.enableDebugInfo(/*enable=*/true, /*prettyForm=*/false);
  if (stage >= Stage::Canonical) {
    TRACERT_TRY(makeCanonical());
  }
  if (stage >= Stage::Fused) {
    TRACERT_TRY(makeFused());
  }
  if (stage <= Stage::Fused) {
    module->print(stream, flags);
    stream << '\n';
    return text;
  }
  makeKernels();
  tracert::Target target =
      options.targets.empty() ? tracert::bestTarget() : options.targets.front();
  switch (stage) {
  case Stage::Vector:
    for (kernel::FuncOp func : llvm::make_early_inc_range(kernelModule->getOps<kernel::FuncOp>())) {
      if (failed(lowerKernelToVector(func, laneConfig(target)))) {
        return diagnostics.status("the vector stage failed");
      }
    }
    [[fallthrough]];
  case Stage::Kernel:
    kernelModule->print(stream);
    stream << '\n';
    return text;
  case Stage::Llvm:
  case Stage::Asm: {
    TRACERT_ASSIGN(CodeGenerator * generator, codeGeneratorFor(target));
    return generator->print(*kernelModule, target,
                            stage == Stage::Llvm ? CodeText::LlvmIr : CodeText::Assembly);
  }
  default:
    return Status::invalidArgument("stage 'obj' is not text; compile to a file instead");
  }
}

} // namespace tracec
