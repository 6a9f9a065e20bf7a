// The executable copy of a section's code: one per program, shared, gone with the last executor.
#include "ProgramKit.h"
#include "TestKernels.h"

#include <atomic>
#include <fstream>
#include <sstream>
#include <thread>

using namespace tracert;
using namespace tracert::test;

namespace {

constexpr Target kIsa = kX86V3;

#define SKIP_WITHOUT_V3()                                                                          \
  if (!supports(kIsa)) {                                                                           \
    GTEST_SKIP() << "this processor has no x86-64-v3";                                             \
  }

struct MappedMemory {
  /// Executable and of no file: what the host loads. Bytes, since neighbours become one mapping.
  size_t codeBytes = 0;
  size_t writableCodeBytes = 0;
};

MappedMemory mappedMemory() {
  MappedMemory memory;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    // begin-end rights offset device inode name
    uint64_t begin = 0, end = 0, inode = 0;
    char dash = 0;
    std::string rights, offset, device;
    std::istringstream fields(line);
    fields >> std::hex >> begin >> dash >> end >> rights >> offset >> device >> std::dec >> inode;
    EXPECT_TRUE(fields) << line;
    bool isNamed = line.find('[') != std::string::npos;
    if (rights[2] == 'x' && inode == 0 && !isNamed) {
      memory.codeBytes += end - begin;
    }
    if (rights[2] == 'x' && rights[1] == 'w') {
      memory.writableCodeBytes += end - begin;
    }
  }
  return memory;
}

/// x + y in one kernel; `padding` bytes of code that are never run.
std::shared_ptr<Program> addProgram(size_t padding = 0) {
  ProgramKit kit;
  ValueId x = kit.input("x", DType::Float32, {kUnknownDim}, {"n"});
  ValueId y = kit.input("y", DType::Float32, {kUnknownDim}, {"n"});
  ValueId sum = kit.op(OpKind::add, {}, {x, y});
  kit.output("sum", sum);
  KernelDef def;
  def.name = "add";
  def.codeOffset = kernelOffset(addF32);
  def.domainValue = sum;
  def.domainRank = 1;
  def.isFlat = true;
  for (ValueId value : {x, y, sum}) {
    KernelAccess access;
    access.kind = value == sum ? AccessKind::Store : AccessKind::Load;
    access.value = value;
    access.innerStride = InnerStride::Contiguous;
    def.accesses.push_back(access);
  }
  NativeSection section;
  section.target = kIsa;
  section.code = kernelCode();
  section.code.resize(section.code.size() + padding, 0xCC);
  section.kernels.push_back(def);
  section.coveredOps = {0};
  section.blocks.push_back(
      {{{InstructionKind::CheckTypes, 0, 0, 0}, {InstructionKind::Launch, 0, 0, 1}}});
  kit.program->sections.push_back(std::move(section));
  kit.finish();
  return kit.program;
}

ExecutorOptions native() { return {.section = {SectionChoice::Native, kIsa}}; }

size_t pages(size_t bytes) { return (bytes + 4095) / 4096 * 4096; }

TEST(CodeMapping, ExecutorsShareItAndTheLastUnmapsIt) {
  SKIP_WITHOUT_V3();
  std::shared_ptr<Program> program = addProgram(/*padding=*/100'000);
  size_t expected = pages(program->sections[0].code.size());
  size_t before = mappedMemory().codeBytes;
  Tensors inputs{iota(DType::Float32, {33}), iota(DType::Float32, {33}, 5)};
  Tensors want = *reference(*program, inputs);
  std::vector<std::unique_ptr<Executor>> executors;
  for (int i = 0; i < 10; ++i) {
    executors.push_back(executorOf(program, native()));
    EXPECT_EQ(*tryRun(*executors.back(), inputs), want);
    EXPECT_EQ(executors.back()->stats().launchesReplacedByOps, 0u);
    EXPECT_EQ(mappedMemory().codeBytes - before, expected) << i;
  }
  EXPECT_EQ(mappedMemory().writableCodeBytes, 0u);
  executors.erase(executors.begin(), executors.begin() + 9);
  EXPECT_EQ(*tryRun(*executors[0], inputs), want);
  EXPECT_EQ(mappedMemory().codeBytes - before, expected);
  executors.clear();
  EXPECT_EQ(mappedMemory().codeBytes, before);
  executors.push_back(executorOf(program, native()));
  EXPECT_EQ(*tryRun(*executors[0], inputs), want);
  EXPECT_EQ(mappedMemory().codeBytes - before, expected);
}

TEST(CodeMapping, ThePortableSectionMapsNothing) {
  std::shared_ptr<Program> program = addProgram(/*padding=*/100'000);
  size_t before = mappedMemory().codeBytes;
  auto executor = executorOf(program, {.section = {SectionChoice::Portable, kPortable}});
  EXPECT_EQ(mappedMemory().codeBytes, before);
}

TEST(CodeMapping, ACopyOfAProgramHasItsOwn) {
  SKIP_WITHOUT_V3();
  std::shared_ptr<Program> program = addProgram();
  size_t before = mappedMemory().codeBytes;
  auto first = executorOf(program, native());
  size_t one = mappedMemory().codeBytes - before;
  auto copy = std::make_shared<Program>(*program);
  auto second = executorOf(copy, native());
  EXPECT_EQ(mappedMemory().codeBytes - before, 2 * one);
  // Assigned code is other code, too, although the old one is still in use.
  program->sections[0] = copy->sections[0];
  auto third = executorOf(program, native());
  EXPECT_EQ(mappedMemory().codeBytes - before, 3 * one);
}

TEST(CodeMapping, CodeThatChangedSinceItWasLoadedNeverRuns) {
  SKIP_WITHOUT_V3();
  std::shared_ptr<Program> program = addProgram();
  Result<std::string> file = serializeProgram(*program, {});
  ASSERT_TRUE(file.ok());
  auto loaded = loadProgram(
      std::span(reinterpret_cast<const uint8_t *>(file->data()), file->size()), nullptr, {});
  ASSERT_TRUE(loaded.ok()) << loaded.status().message();
  EXPECT_TRUE(Executor::create(*loaded, native()).ok());
  size_t before = mappedMemory().codeBytes;
  auto changed = std::make_shared<Program>(**loaded);
  changed->sections[0].code.back() ^= 1;
  for (SectionChoice::Kind kind : {SectionChoice::Native, SectionChoice::Best}) {
    auto executor = Executor::create(changed, {.section = {kind, kIsa}});
    ASSERT_FALSE(executor.ok());
    EXPECT_EQ(executor.status().code(), StatusCode::CorruptFile);
    EXPECT_EQ(executor.status().message(), "the native code is damaged (content hash)");
  }
  EXPECT_EQ(mappedMemory().codeBytes, before);
}

TEST(CodeMapping, ThreadsRunWhileOthersMapAndUnmap) {
  SKIP_WITHOUT_V3();
  std::shared_ptr<Program> program = addProgram(/*padding=*/100'000);
  Tensors inputs{iota(DType::Float32, {100}), iota(DType::Float32, {100}, 5)};
  Tensors want = *reference(*program, inputs);
  size_t before = mappedMemory().codeBytes;
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] {
      for (int round = 0; round < 300; ++round) {
        auto executor = Executor::create(program, native());
        for (int run = 0; executor.ok() && run <= (round + thread) % 3; ++run) {
          Result<Tensors> got = tryRun(**executor, inputs);
          wrong += !got.ok() || !(*got == want);
        }
        wrong += !executor.ok();
      }
    });
  }
  for (std::thread &thread : threads) {
    thread.join();
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(mappedMemory().codeBytes, before);
}

} // namespace
