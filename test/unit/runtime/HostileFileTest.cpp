// Files that are right in every checksum and ask for more than they hold: what a file can multiply
// is refused, shared, or counted against a limit before it is spent.
#include "FileKit.h"
#include "ProgramKit.h"

#include "src/ArenaLayout.h"
#include "src/Guard.h"
#include "tracert/RunControl.h"
#include "tracert/ThreadPool.h"

#include <ctime>

using namespace tracert;
using namespace tracert::test;

namespace {

namespace fb = flatbuffers;
template <class T> using Offsets = std::vector<fb::Offset<T>>;

void expectCorrupt(const std::string &bytes, const std::string &text,
                   LoadOptions options = {.portableOnly = true}) {
  Result<std::shared_ptr<const Program>> loaded = loadBytes(bytes, options);
  ASSERT_FALSE(loaded.ok());
  EXPECT_EQ(loaded.status().code(), StatusCode::CorruptFile);
  EXPECT_NE(loaded.status().message().find(text), std::string::npos) << loaded.status().message();
}

std::string locsOf(size_t count, size_t nameLength) {
  fb::FlatBufferBuilder builder;
  Offsets<fb::String> files{builder.CreateString(std::string(nameLength, 'n'))};
  auto filesOffset = builder.CreateVector(files);
  auto indices = builder.CreateVector(std::vector<uint32_t>(count, 0));
  auto lines = builder.CreateVector(std::vector<int32_t>(count, 7));
  builder.Finish(schema::CreateLocsDef(builder, filesOffset, indices, lines));
  return {reinterpret_cast<const char *>(builder.GetBufferPointer()), builder.GetSize()};
}

TEST(HostileFile, LocationsHaveShortFileNames) {
  // 200 GB, since each has a copy.
  std::string bytes =
      fileOf([](fb::FlatBufferBuilder &builder) { return schema::CreateProgramDef(builder); },
             {{SegmentKind::Locs, locsOf(200'000, 1 << 20)}});
  expectCorrupt(bytes, "longer than 4096 bytes");
  bytes = fileOf([](fb::FlatBufferBuilder &builder) { return schema::CreateProgramDef(builder); },
                 {{SegmentKind::Locs, locsOf(200'000, 4096)}});
  EXPECT_EQ(loadBytes(bytes, {.memoryLimit = uint64_t(64) << 20}).status().code(),
            kResourceExhausted);
}

TEST(HostileFile, FileNamesAreNotListedTwice) {
  fb::FlatBufferBuilder builder;
  auto name = builder.CreateString(std::string(1 << 20, 'n'));
  auto files = builder.CreateVector(Offsets<fb::String>(10'000, name));
  builder.Finish(schema::CreateLocsDef(builder, files));
  std::string locs{reinterpret_cast<const char *>(builder.GetBufferPointer()), builder.GetSize()};
  expectCorrupt(fileOf([](fb::FlatBufferBuilder &b) { return schema::CreateProgramDef(b); },
                       {{SegmentKind::Locs, locs}}),
                "more data than it holds");
}

/// A graph with one list of `count` offsets to the table that `make` builds.
template <class Make, class Root>
std::string sharedTables(size_t count, const Make &make, const Root &root) {
  return fileOf([&](fb::FlatBufferBuilder &builder) {
    auto table = make(builder);
    auto list = builder.CreateVector(std::vector<decltype(table)>(count, table));
    return root(builder, list);
  });
}

TEST(HostileFile, TablesCannotBeShared) {
  auto opWithOperands = [](fb::FlatBufferBuilder &builder) {
    auto operands = builder.CreateVector(std::vector<uint32_t>(100'000, 0));
    return schema::CreateOpDef(builder, builder.CreateString("add"), 1, 0, operands);
  };
  auto asOps = [](auto &builder, auto list) {
    return schema::CreateProgramDef(builder, 0, 0, 0, 0, 0, 0, 0, 0, 0, list);
  };
  expectCorrupt(sharedTables(10'000, opWithOperands, asOps), "more data than it holds");
  // Nothing in the table itself: the tables alone are more than the file.
  auto emptyOp = [](fb::FlatBufferBuilder &builder) {
    return schema::CreateOpDef(builder, builder.CreateString("add"), 1);
  };
  expectCorrupt(sharedTables(1'000'000, emptyOp, asOps), "more data than it holds");
  auto symbol = [](fb::FlatBufferBuilder &builder) {
    return schema::CreateSymbolDef(builder, builder.CreateString(std::string(1 << 20, 's')));
  };
  expectCorrupt(sharedTables(10'000, symbol,
                             [](auto &builder, auto list) {
                               return schema::CreateProgramDef(builder, 0, 0, 0, 0, list);
                             }),
                "more data than it holds");
  auto value = [](fb::FlatBufferBuilder &builder) {
    auto dims = builder.CreateVector(std::vector<int64_t>(64, 1));
    return schema::CreateTensorTypeDef(builder, static_cast<uint8_t>(DType::Float32), dims);
  };
  expectCorrupt(sharedTables(100'000, value,
                             [](auto &builder, auto list) {
                               return schema::CreateProgramDef(builder, 0, 0, 0, 0, 0, list);
                             }),
                "more data than it holds");
  auto line = [](fb::FlatBufferBuilder &builder) {
    return builder.CreateString(std::string(1 << 20, 'l'));
  };
  expectCorrupt(sharedTables(10'000, line,
                             [](auto &builder, auto list) {
                               return schema::CreateProgramDef(builder, 0, 0, 0, list);
                             }),
                "more data than it holds");
}

TEST(HostileFile, SectionsCannotShareCode) {
  std::string bytes = fileOf(
      [](fb::FlatBufferBuilder &builder) {
        Offsets<schema::SectionDef> sections;
        for (int i = 0; i < 1000; ++i) {
          auto target = builder.CreateString(std::string(targetName(kX86V3)));
          sections.push_back(schema::CreateSectionDef(builder, target, 0, 0, 0, 1));
        }
        auto list = builder.CreateVector(sections);
        return schema::CreateProgramDef(builder, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, list);
      },
      {{SegmentKind::Code, std::string(1 << 20, '\xc3')}});
  expectCorrupt(bytes, "two sections for", {});
}

TEST(HostileFile, StoredTensorsCannotOverlap) {
  // Each bool is looked at, so 30,000 views of the same bytes would take minutes.
  std::string bytes = fileOf(
      [](fb::FlatBufferBuilder &builder) {
        Offsets<schema::TensorTypeDef> values;
        Offsets<schema::ConstantDef> constants;
        for (uint32_t i = 0; i < 30'000; ++i) {
          auto type = [&] {
            auto dims = builder.CreateVector(std::vector<int64_t>{1 << 20});
            return schema::CreateTensorTypeDef(builder, static_cast<uint8_t>(DType::Bool), dims);
          };
          values.push_back(type());
          auto stored = schema::CreateStoredTensorDef(builder, type(), 0);
          constants.push_back(schema::CreateConstantDef(builder, i, stored));
        }
        auto valueList = builder.CreateVector(values);
        auto constantList = builder.CreateVector(constants);
        return schema::CreateProgramDef(builder, 0, 0, 0, 0, 0, valueList, 0, 0, constantList);
      },
      {{SegmentKind::Weights, std::string(1 << 20, '\1')}});
  expectCorrupt(bytes, "stored tensors overlap");
}

TEST(HostileFile, AnEmptySegmentLiesInTheFile) {
  std::string bytes =
      fileOf([](fb::FlatBufferBuilder &builder) { return schema::CreateProgramDef(builder); },
             {{SegmentKind::Weights, ""}, {SegmentKind::Locs, ""}});
  ASSERT_TRUE(loadBytes(bytes).ok());
  for (uint64_t offset : {UINT64_MAX, uint64_t(bytes.size()) + 1}) {
    std::string changed = bytes;
    std::memcpy(changed.data() + sizeof(Preamble) + sizeof(SegmentEntry) +
                    offsetof(SegmentEntry, offset),
                &offset, sizeof offset);
    fixSums(changed);
    expectCorrupt(changed, "segment 1 lies outside the file");
  }
}

TEST(HostileFile, ALoadStaysInItsLimit) {
  Result<std::string> bytes = serializeProgram(*sampleProgram(), {});
  ASSERT_TRUE(bytes.ok());
  for (LoadOptions options : {LoadOptions{.memoryLimit = 64},
                              LoadOptions{.copy = true, .memoryLimit = bytes->size() - 1}}) {
    Result<std::shared_ptr<const Program>> loaded = loadBytes(*bytes, options);
    EXPECT_EQ(loaded.status().code(), kResourceExhausted);
    EXPECT_NE(loaded.status().message().find("more than the load's limit of " +
                                             std::to_string(options.memoryLimit) + " bytes"),
              std::string::npos)
        << loaded.status().message();
  }
  EXPECT_TRUE(loadBytes(*bytes, {.copy = true, .memoryLimit = bytes->size() + 65536}).ok());
}

/// `count` state inputs that start from one constant of `elements` floats.
std::shared_ptr<const Program> statesOverOneConstant(int count, int64_t elements) {
  ProgramKit kit;
  kit.constant(iota(DType::Float32, {elements}));
  for (int i = 0; i < count; ++i) {
    ValueId state = kit.input("state" + std::to_string(i), DType::Float32, {elements});
    kit.program->inputs.back().isState = true;
    kit.program->inputs.back().initialConstant = 0;
    if (i == 0) {
      kit.output("next", kit.op(OpKind::add, {}, {state, state}));
      kit.program->outputs.back().stateInput = 0;
    }
  }
  return kit.finish();
}

TEST(HostileFile, StateIsCopiedWhenItChanges) {
  // 160 GB if each state had its copy from the start.
  std::shared_ptr<const Program> program = statesOverOneConstant(20'000, 2 << 20);
  ExecutorOptions options;
  options.memoryLimit = uint64_t(64) << 20;
  std::unique_ptr<Executor> executor = executorOf(program, options);
  std::vector<OwnedTensor> outputs;
  for (float factor : {2.0f, 4.0f, 8.0f}) {
    ASSERT_TRUE(executor->run({}, outputs).ok());
    EXPECT_EQ(static_cast<const float *>(outputs[0].view.data)[3], 3 * factor);
  }
  // The file's constant is as it was: another session starts from it.
  executor = executorOf(program, options);
  ASSERT_TRUE(executor->run({}, outputs).ok());
  EXPECT_EQ(static_cast<const float *>(outputs[0].view.data)[3], 6.0f);
}

TEST(HostileFile, ManyFreeBlocksAreLaidOutQuickly) {
  // Every second buffer lives on, so that each of the others leaves a free block too small for what
  // follows: quadratic when blocks are searched one by one.
  constexpr int32_t kCount = 100'000;
  std::vector<ArenaRequest> requests;
  for (int32_t i = 0; i < kCount; ++i) {
    requests.push_back({64, i, i % 2 == 0 ? i : 2 * kCount, 0});
  }
  for (int32_t i = 0; i < kCount; ++i) {
    requests.push_back({4096, kCount + i, kCount + i, 0});
  }
  std::clock_t start = std::clock();
  EXPECT_LT(layOutArena(requests), size_t(1) << 30);
  EXPECT_LT(static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC, 5.0);
}

TEST(Guard, TurnsExceptionsIntoStatuses) {
  EXPECT_EQ(guardedCall([]() -> Status { throw std::bad_alloc(); }).code(),
            StatusCode::OutOfMemory);
  EXPECT_EQ(guardedCall([]() -> Status { throw std::length_error("x"); }).code(),
            StatusCode::OutOfMemory);
  EXPECT_EQ(guardedCall([]() -> Status { throw 3; }).code(), StatusCode::Internal);
  Result<int> result = guardedCall([]() -> Result<int> { throw std::bad_alloc(); });
  EXPECT_EQ(result.status().code(), StatusCode::OutOfMemory);
}

TEST(Guard, AThreadWithoutMemoryFailsTheLoop) {
  ThreadPool pool(4);
  for (int64_t bad : {0, 517, 999}) {
    EXPECT_THROW(pool.parallelFor(1000,
                                  [&](int64_t begin, int64_t end) {
                                    if (begin <= bad && bad < end) {
                                      throw std::bad_alloc();
                                    }
                                  }),
                 std::bad_alloc);
  }
  std::atomic<int64_t> done{0};
  pool.parallelFor(1000, [&](int64_t begin, int64_t end) { done += end - begin; });
  EXPECT_EQ(done.load(), 1000);
}

} // namespace
