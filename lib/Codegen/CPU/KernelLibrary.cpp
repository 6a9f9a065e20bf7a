#include "Codegen/CPU/KernelLibrary.h"

#include "Codegen/CPU/ToLlvm.h"

#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/Constants.h"
#include "llvm/Support/Error.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/ValueMapper.h"

extern "C" {
extern const char kernel_library_avx512[], kernel_library_avx512_end[];
extern const char kernel_library_v3[], kernel_library_v3_end[];
extern const char kernel_library_neon[], kernel_library_neon_end[];
}

using tracert::Result;
using tracert::Status;
using tracert::Target;

namespace tracec {

/// Empty for a target that has none.
static llvm::StringRef libraryBytes(Target target) {
  struct Library {
    Target target;
    const char *begin, *end;
  };
  const Library all[] = {
      {tracert::kX86V4, kernel_library_avx512, kernel_library_avx512_end},
      {tracert::kX86V3, kernel_library_v3, kernel_library_v3_end},
      {tracert::kAarch64Neon, kernel_library_neon, kernel_library_neon_end},
  };
  for (const Library &library : all) {
    if (library.target == target) {
      return {library.begin, static_cast<size_t>(library.end - library.begin)};
    }
  }
  return {};
}

Result<llvm::Module *> KernelLibrary::functionsFor(Target target) {
  std::unique_ptr<llvm::Module> &functions = modules[tracert::targetIndex(target)];
  if (!functions) {
    llvm::Expected<std::unique_ptr<llvm::Module>> parsed =
        llvm::getLazyBitcodeModule({libraryBytes(target), "kernel library"}, context,
                                   /*ShouldLazyLoadMetadata=*/true);
    if (!parsed) {
      return Status::compile("kernel library: " + llvm::toString(parsed.takeError()));
    }
    functions = std::move(*parsed);
  }
  return functions.get();
}

/// Gives `function`, in the kernel's module, the attributes that all code of a kernel has.
static void setKernelAttributes(llvm::Function &function, Target target) {
  static constexpr llvm::StringLiteral targetAttributes[] = {
      "target-cpu", "target-features", "tune-cpu", "min-legal-vector-width", "prefer-vector-width"};
  for (llvm::StringRef name : targetAttributes) {
    function.removeFnAttr(name);
  }
  function.removeFnAttr(llvm::Attribute::UWTable);
  function.addFnAttr(llvm::Attribute::NoUnwind);
  if (target == tracert::kX86V4) {
    // Otherwise 512-bit values are split on the processors that prefer 256.
    function.addFnAttr("min-legal-vector-width", "512");
    function.addFnAttr("prefer-vector-width", "512");
  }
}

/// The value of the kernel's module that stands for a global of the library, for what bodies use.
class GlobalMaterializer : public llvm::ValueMaterializer {
public:
  explicit GlobalMaterializer(llvm::Module &module) : module(module) {}

  llvm::Value *materialize(llvm::Value *value) override {
    if (auto *table = llvm::dyn_cast<llvm::GlobalVariable>(value)) {
      return copyTable(*table);
    }
    auto *function = llvm::dyn_cast<llvm::Function>(value);
    if (!function || function->getParent() == &module) {
      return nullptr;
    }
    llvm::Function *local = module.getFunction(function->getName());
    if (!local) {
      local =
          llvm::Function::Create(function->getFunctionType(), llvm::GlobalValue::ExternalLinkage,
                                 function->getName(), module);
      local->copyAttributesFrom(function);
    }
    return local;
  }

private:
  /// A table of numbers that a function reads. Anything that is not constant data stays a
  /// declaration, which the flat blob then refuses as an undefined symbol.
  llvm::Value *copyTable(llvm::GlobalVariable &table) {
    if (table.getParent() == &module) {
      return nullptr;
    }
    bool isData = table.isConstant() && table.hasDefinitiveInitializer() &&
                  llvm::isa<llvm::ConstantData>(table.getInitializer());
    auto *copy = new llvm::GlobalVariable(
        module, table.getValueType(), table.isConstant(),
        isData ? llvm::GlobalValue::InternalLinkage : llvm::GlobalValue::ExternalLinkage,
        isData ? table.getInitializer() : nullptr, table.getName());
    copy->setAlignment(table.getAlign());
    copy->setUnnamedAddr(table.getUnnamedAddr());
    return copy;
  }

  llvm::Module &module;
};

/// The body of a library function, copied under the declaration `local`.
static Status defineFrom(llvm::Function &source, llvm::Function &local, Target target) {
  if (llvm::Error error = source.materialize()) {
    return Status::compile("kernel library: " + llvm::toString(std::move(error)));
  }
  if (source.getFunctionType() != local.getFunctionType()) {
    return Status::compile("the kernel library's '" + source.getName().str() +
                           "' has another signature than the kernel expects");
  }
  llvm::ValueToValueMapTy map;
  for (auto [from, to] : llvm::zip(source.args(), local.args())) {
    map[&from] = &to;
  }
  GlobalMaterializer materializer(*local.getParent());
  llvm::SmallVector<llvm::ReturnInst *, 4> returns;
  llvm::CloneFunctionInto(&local, &source, map, llvm::CloneFunctionChangeType::DifferentModule,
                          returns, "", nullptr, nullptr, &materializer);
  local.setLinkage(llvm::GlobalValue::InternalLinkage);
  return {};
}

Status KernelLibrary::link(llvm::Module &module, Target target) {
  TRACERT_ASSIGN(llvm::Module * functions, functionsFor(target));
  module.setTargetTriple(functions->getTargetTriple());
  module.setDataLayout(functions->getDataLayout());
  // Functions that bodies bring in are appended, so the loop reaches them too.
  for (llvm::Function &function : module) {
    if (function.isIntrinsic()) {
      continue;
    }
    if (function.isDeclaration()) {
      llvm::Function *source = functions->getFunction(function.getName());
      if (!source || (source->isDeclaration() && !source->isMaterializable())) {
        return Status::compile("the kernel library has no function '" + function.getName().str() +
                               "'");
      }
      TRACERT_TRY(defineFrom(*source, function, target));
    }
    setKernelAttributes(function, target);
  }
  return {};
}

} // namespace tracec
