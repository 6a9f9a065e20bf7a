// The compiler itself: cache, flatness, errors, time.
#include "KernelHarness.h"

#include "Codegen/CPU/CompileKernels.h"
#include "Codegen/CPU/EmitObject.h"
#include "Codegen/CPU/FlatBlob.h"
#include "Codegen/CPU/Stopwatch.h"
#include "kernel/IR/KernelDialect.h"

#include "mlir/Parser/Parser.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/TargetParser/Triple.h"

using namespace tracec;
using namespace tracec::test;
using namespace tracert;

namespace {

class Compile : public AtEachTarget {
protected:
  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
  void SetUp() override {
    AtEachTarget::SetUp();
    context.loadDialect<kernel::KernelDialect>();
  }
  mlir::OwningOpRef<mlir::ModuleOp> parse(const std::string &text) {
    return mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  }
};
TRACEC_AT_EACH_ISA(Compile);

std::string chain(const std::string &name, int length, const std::string &constant) {
  std::string text = "kernel.func @" + name + R"( domain 2 split outer_axis ops [4] (
      %x: !kernel.access<load f32 contiguous>, %o: !kernel.access<store f32 contiguous>) {
    %v0 = kernel.load %x : !kernel.access<load f32 contiguous>
    %c = kernel.const )" +
                     constant + " : f32\n";
  for (int i = 0; i < length; ++i) {
    text += "%v" + std::to_string(i + 1) + " = kernel.apply \"" + (i % 2 ? "add" : "mul") +
            "\"(%v" + std::to_string(i) + ", %c) : (f32, f32) -> f32\n";
  }
  return text + "kernel.store %v" + std::to_string(length) +
         " to %o : !kernel.access<store f32 contiguous>\n}\n";
}

TEST_P(Compile, AKernelIsCompiledOncePerProcess) {
  auto module =
      parse(chain("first", 3, "0.125") + chain("second", 3, "0.125") + chain("third", 4, "0.125"));
  uint64_t before = kernelsCompiled();
  auto compiled = compileKernels(*module, GetParam());
  ASSERT_TRUE(compiled.ok()) << compiled.status().message();
  EXPECT_EQ(kernelsCompiled() - before, 2u);
  EXPECT_EQ(compiled->entries.size(), 3u);
  for (uint64_t entry : compiled->entries) {
    EXPECT_LT(entry, compiled->code.size());
  }
  auto again = compileKernels(*module, GetParam());
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(kernelsCompiled() - before, 2u);
  EXPECT_EQ(again->code, compiled->code);
}

TEST_P(Compile, AnUnknownOpIsAnErrorThatNamesIt) {
  auto module = parse(R"(kernel.func @bad domain 1 (%x: !kernel.access<load f32 contiguous>,
      %o: !kernel.access<store f32 contiguous>) {
    %0 = kernel.load %x : !kernel.access<load f32 contiguous>
    %1 = kernel.apply "frobnicate"(%0) : (f32) -> f32
    kernel.store %1 to %o : !kernel.access<store f32 contiguous>
  })");
  auto compiled = compileKernels(*module, GetParam());
  ASSERT_FALSE(compiled.ok());
  EXPECT_EQ(compiled.status().code(), StatusCode::Compile);
  EXPECT_NE(compiled.status().message().find("kernel 'bad'"), std::string::npos);
  EXPECT_NE(compiled.status().message().find("tcs_frobnicate_f32"), std::string::npos);
}

TEST_P(Compile, TooManyOrderedSumsIsAnError) {
  std::string arguments, body;
  for (int i = 0; i < 9; ++i) {
    std::string access = "!kernel.access<reduce_store f32 zero>", n = std::to_string(i);
    arguments += ", %s" + n + ": " + access;
    body += "kernel.reduce \"sum\"(%0) to %s" + n + " : " + access + ", f32\n";
  }
  auto module = parse("kernel.func @many domain 1 reduced [0] (%x: !kernel.access<load f32 "
                      "contiguous>" +
                      arguments +
                      ") {\n%0 = kernel.load %x : !kernel.access<load "
                      "f32 contiguous>\n" +
                      body + "}");
  auto compiled = compileKernels(*module, GetParam());
  ASSERT_FALSE(compiled.ok());
  EXPECT_NE(compiled.status().message().find("has 9 ordered reductions, scratch holds 8"),
            std::string::npos)
      << compiled.status().message();
}

TEST_P(Compile, TextFormsNameTheKernel) {
  auto module = parse(chain("shown", 2, "0.25"));
  auto assembly = printKernels(*module, GetParam(), CodeText::Assembly);
  ASSERT_TRUE(assembly.ok());
  EXPECT_NE(assembly->find("shown"), std::string::npos);
  EXPECT_NE(assembly->find(GetParam() == tracert::kX86V4 ? "%zmm" : "%ymm"), std::string::npos);
  auto ir = printKernels(*module, GetParam(), CodeText::LlvmIr);
  ASSERT_TRUE(ir.ok());
  EXPECT_NE(ir->find("fmul"), std::string::npos);
}

TEST_P(Compile, TimeOfASmallKernel) {
  // The first one pays for tables of the process.
  ASSERT_TRUE(compileKernels(*parse(chain("warm", 4, "1.5")), GetParam()).ok());
  CompileTimes before = compileTimes();
  Stopwatch watch;
  const int kernels = 20;
  std::vector<mlir::OwningOpRef<mlir::ModuleOp>> modules;
  for (int i = 0; i < kernels; ++i) {
    modules.push_back(parse(chain("k", 6, "2." + std::to_string(i + 1))));
  }
  for (auto &module : modules) {
    ASSERT_TRUE(compileKernels(*module, GetParam()).ok());
  }
  double total = watch.lap() / 1e6;
  CompileTimes after = compileTimes();
  auto print = [&](const char *stage, double nanoseconds) {
    std::printf("  %-10s %6.3f ms\n", stage, nanoseconds / 1e6 / kernels);
  };
  print("lower", after.lowerNanoseconds - before.lowerNanoseconds);
  print("translate", after.translateNanoseconds - before.translateNanoseconds);
  print("link", after.linkNanoseconds - before.linkNanoseconds);
  print("optimize", after.optimizeNanoseconds - before.optimizeNanoseconds);
  print("emit", after.emitNanoseconds - before.emitNanoseconds);
  print("fix", after.fixNanoseconds - before.fixNanoseconds);
  std::printf("  %-10s %6.3f ms\n", "total", total / kernels);
  // The goal is 5 ms; this bound only catches a pass of another order of cost.
  EXPECT_LT(total / kernels, 20.0);
}

TEST(CompileForAarch64, KernelsBecomeFlatCode) {
  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
  context.loadDialect<kernel::KernelDialect>();
  auto module = mlir::parseSourceString<mlir::ModuleOp>(chain("shown", 2, "0.25"), &context);
  auto assembly = printKernels(*module, tracert::kAarch64Neon, CodeText::Assembly);
  ASSERT_TRUE(assembly.ok()) << assembly.status().message();
  EXPECT_NE(assembly->find(".4s"), std::string::npos) << *assembly;
  auto compiled = compileKernels(*module, tracert::kAarch64Neon);
  ASSERT_TRUE(compiled.ok()) << compiled.status().message();
  ASSERT_EQ(compiled->entries.size(), 1u);
  EXPECT_LT(compiled->entries[0], compiled->code.size());
  EXPECT_EQ(compiled->entries[0] % 4, 0u);
}

TEST(CompileForGpu, IsRefusedByName) {
  auto generator = codeGeneratorFor({tracert::TargetKind::Nvptx, 90});
  ASSERT_FALSE(generator.ok());
  EXPECT_EQ(generator.status().message(),
            "code generation for nvptx-sm_90 is not built into this version");
}

/// What flattenObject says about LLVM IR made into an object.
Status flatten(const char *ir, tracert::Target target = tracert::kX86V3) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic diagnostic;
  std::unique_ptr<llvm::Module> module = llvm::parseAssemblyString(ir, diagnostic, context);
  if (!module) {
    return Status::internal(diagnostic.getMessage().str());
  }
  bool isX86 = target.kind == tracert::TargetKind::X86;
  module->setTargetTriple(
      llvm::Triple(isX86 ? "x86_64-unknown-linux-gnu" : "aarch64-unknown-linux-gnu"));
  auto object = emitModule(*module, target, llvm::CodeGenFileType::ObjectFile);
  return object.ok() ? flattenObject(*object, "tracec_kernel").status() : object.status();
}

TEST(FlatBlob, TakesCodeWithConstants) {
  for (tracert::Target target : {tracert::kX86V3, tracert::kAarch64Neon}) {
    Status status = flatten(R"(
    @table = internal constant [3 x i32] [i32 7, i32 8, i32 9]
    define i32 @tracec_kernel(i64 %i) {
      %at = getelementptr i32, ptr @table, i64 %i
      %value = load i32, ptr %at
      ret i32 %value
    })",
                            target);
    EXPECT_TRUE(status.ok()) << tracert::targetName(target) << ": " << status.message();
  }
}

TEST(FlatBlob, RefusesUndefinedSymbols) {
  Status status = flatten(R"(
    declare hidden void @elsewhere()
    define i32 @tracec_kernel(ptr %frame) {
      call void @elsewhere()
      ret i32 0
    })");
  EXPECT_EQ(status.message(), "code needs the undefined symbol 'elsewhere'");
}

TEST(FlatBlob, RefusesTheGlobalOffsetTable) {
  Status status = flatten(R"(
    @elsewhere = external global i32
    define i32 @tracec_kernel(ptr %frame) {
      %value = load i32, ptr @elsewhere
      ret i32 %value
    })");
  EXPECT_NE(status.message().find("GOTPCREL"), std::string::npos) << status.message();
}

TEST(FlatBlob, RefusesWritableData) {
  Status status = flatten(R"(
    @counter = internal global i32 0
    define i32 @tracec_kernel(ptr %frame) {
      %value = load i32, ptr @counter
      %next = add i32 %value, 1
      store i32 %next, ptr @counter
      ret i32 %value
    })");
  EXPECT_EQ(status.message(), "code has writable data in section .bss");
}

TEST(FlatBlob, RefusesAddressesInData) {
  Status status = flatten(R"(
    @table = internal constant [2 x ptr] [ptr @tracec_kernel, ptr @table]
    define ptr @tracec_kernel(i64 %i) {
      %at = getelementptr ptr, ptr @table, i64 %i
      %value = load ptr, ptr %at
      ret ptr %value
    })");
  EXPECT_EQ(status.message(), "code has writable data in section .data.rel.ro");
}

TEST(FlatBlob, RefusesAMissingEntry) {
  Status status = flatten("define i32 @other(ptr %frame) { ret i32 0 }");
  EXPECT_EQ(status.message(), "object has no entry 'tracec_kernel'");
}

TEST(FlatBlob, RefusesWhatIsNoObject) {
  auto blob = flattenObject(llvm::ArrayRef("not an object", 13), "k");
  ASSERT_FALSE(blob.ok());
  EXPECT_EQ(blob.status().code(), StatusCode::Compile);
}

} // namespace
