#include "KernelHarness.h"

#include "Codegen/CPU/CompileKernels.h"
#include "kernel/IR/KernelDialect.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"

#include <sys/mman.h>

using tracert::KernelFrame;

namespace tracec::test {

RunnableKernel::RunnableKernel(const std::string &text, Target target) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  context.loadDialect<kernel::KernelDialect>();
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  if (!module) {
    ADD_FAILURE() << "does not parse: " << text;
    return;
  }
  auto compiled = compileKernels(*module, target);
  if (!compiled.ok()) {
    ADD_FAILURE() << compiled.status().message() << "\n" << text;
    return;
  }
  mappedBytes = compiled->code.size();
  memory = mmap(nullptr, mappedBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  std::memcpy(memory, compiled->code.data(), mappedBytes);
  mprotect(memory, mappedBytes, PROT_READ | PROT_EXEC);
  entry = compiled->entries.front();
}

RunnableKernel::~RunnableKernel() {
  if (memory) {
    munmap(memory, mappedBytes);
  }
}

int32_t RunnableKernel::run(KernelCall &call) {
  if (!memory) {
    return -1;
  }
  static thread_local std::vector<char> scratch(tracert::kKernelScratchBytes + 64);
  auto address = reinterpret_cast<uintptr_t>(scratch.data());
  KernelFrame frame{};
  frame.pointers = call.pointers.data();
  frame.domain = call.domain.data();
  frame.strides = call.strides.data();
  frame.gathers = call.gathers.data();
  frame.begin = call.begin;
  frame.end = call.end;
  frame.scratch = scratch.data() + (64 - address % 64);
  frame.count = -1;
  auto kernel = reinterpret_cast<tracert::KernelEntry>(static_cast<char *>(memory) + entry);
  int32_t code = kernel(&frame);
  call.count = frame.count;
  call.errorPosition = frame.errorPosition;
  call.errorAccess = frame.errorAccess;
  return code;
}

} // namespace tracec::test
