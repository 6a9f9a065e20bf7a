#include "FileKit.h"
#include "ProgramKit.h"

#include "src/ProgramReader.h"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <dirent.h>
#include <fcntl.h>
#include <fstream>
#include <random>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace tracert;
using namespace tracert::test;

namespace {

std::string sampleBytes() {
  Result<std::string> bytes = serializeProgram(*sampleProgram(), {});
  EXPECT_TRUE(bytes.ok()) << bytes.status().message();
  return *bytes;
}

TEST(File, RoundTripKeepsEverything) {
  auto program = sampleProgram();
  Folder folder;
  std::string path = folder.path + "/model.trc";
  ASSERT_TRUE(writeProgram(*program, path, {}).ok());
  EXPECT_EQ(folder.names(), std::vector<std::string>{"model.trc"});
  auto loaded = loadProgram(path, {});
  ASSERT_TRUE(loaded.ok()) << loaded.status().message();
  const Program &other = **loaded;
  EXPECT_EQ(other.userInfo, program->userInfo);
  EXPECT_EQ(other.producer, program->producer);
  EXPECT_EQ(other.ledger, program->ledger);
  EXPECT_EQ(other.symbols[0].name, "n");
  EXPECT_EQ(other.locs[2].file, "model.py");
  EXPECT_EQ(other.locs[2].line, 12);
  EXPECT_EQ(other.ops.size(), program->ops.size());
  for (size_t i = 0; i < other.ops.size(); ++i) {
    EXPECT_EQ(other.ops[i].call, program->ops[i].call);
    EXPECT_EQ(other.ops[i].operands, program->ops[i].operands);
    EXPECT_EQ(other.ops[i].sourceOps, program->ops[i].sourceOps);
    EXPECT_EQ(other.ops[i].inPlace, program->ops[i].inPlace);
  }
  ASSERT_EQ(other.testVectors.size(), 1u);
  EXPECT_EQ(other.testVectors[0].origin, "user");
  for (const ConstantDef &constant : other.constants) {
    EXPECT_EQ(reinterpret_cast<uintptr_t>(constant.data) % 64, 0u);
  }
  EXPECT_EQ(run(*loaded, sampleInputs()), run(program, sampleInputs()));
}

TEST(File, SameProgramSameBytes) {
  EXPECT_EQ(sampleBytes(), sampleBytes());
  auto loaded = loadBytes(sampleBytes());
  ASSERT_TRUE(loaded.ok());
  EXPECT_EQ(*serializeProgram(**loaded, {}), sampleBytes());
}

TEST(File, LocationsCanBeStripped) {
  Result<std::string> bytes = serializeProgram(*sampleProgram(), {.keepLocs = false});
  ASSERT_TRUE(bytes.ok());
  EXPECT_EQ(bytes->find("model.py:"), bytes->find("model.py:3 scale"));
  auto loaded = loadBytes(*bytes);
  ASSERT_TRUE(loaded.ok()) << loaded.status().message();
  EXPECT_TRUE((*loaded)->locs.empty());
  EXPECT_EQ((*loaded)->ops[0].loc, kNoIndex);
}

TEST(File, WeightsAreUsedInPlace) {
  auto bytes = sampleBytes();
  auto *memory =
      static_cast<uint8_t *>(std::aligned_alloc(4096, (bytes.size() + 4095) / 4096 * 4096));
  std::copy(bytes.begin(), bytes.end(), memory);
  auto loaded = loadProgram(std::span<const uint8_t>(memory, bytes.size()), nullptr, {});
  ASSERT_TRUE(loaded.ok());
  for (const ConstantDef &constant : (*loaded)->constants) {
    EXPECT_GE(constant.data, memory);
    EXPECT_LT(constant.data, memory + bytes.size());
  }
  loaded = Status::internal("released");
  std::free(memory);
}

TEST(File, EveryPrefixIsRefused) {
  std::string bytes = sampleBytes();
  for (size_t length = 0; length < bytes.size(); ++length) {
    auto loaded = loadBytes(bytes.substr(0, length));
    ASSERT_FALSE(loaded.ok()) << length;
    ASSERT_EQ(loaded.status().code(), StatusCode::CorruptFile) << length;
  }
}

/// Runs one load of changed bytes: an error, or the same results.
void expectErrorOrSame(const std::string &bytes, const Tensors &expected, const std::string &what) {
  auto loaded = loadBytes(bytes);
  if (!loaded.ok()) {
    StatusCode code = loaded.status().code();
    ASSERT_TRUE(code == StatusCode::CorruptFile || code == StatusCode::Unsupported) << what;
    return;
  }
  ASSERT_EQ(run(*loaded, sampleInputs()), expected) << what;
}

/// False for the padding between segments.
std::vector<bool> contentBytes(const std::string &bytes) {
  std::vector<bool> isContent(bytes.size(), false);
  Preamble preamble;
  std::memcpy(&preamble, bytes.data(), sizeof preamble);
  auto mark = [&](uint64_t offset, uint64_t length) {
    std::fill_n(isContent.begin() + static_cast<std::ptrdiff_t>(offset), length, true);
  };
  mark(0, sizeof preamble);
  mark(preamble.tableOffset, preamble.segmentCount * sizeof(SegmentEntry));
  for (uint32_t i = 0; i < preamble.segmentCount; ++i) {
    SegmentEntry entry;
    std::memcpy(&entry, bytes.data() + preamble.tableOffset + i * sizeof entry, sizeof entry);
    mark(entry.offset, entry.length);
  }
  return isContent;
}

TEST(File, EveryByteFlipIsRefusedOrHarmless) {
  std::string bytes = sampleBytes();
  Tensors expected = run(sampleProgram(), sampleInputs());
  std::mt19937 random(3);
  int harmless = 0;
  std::vector<bool> isContent = contentBytes(bytes);
  // Every byte of preamble, table and segments with one bit pattern each, all 255 in the preamble;
  // of the zeros between segments every 16th.
  for (size_t at = 0; at < bytes.size(); ++at) {
    if (!isContent[at] && at % 16 != 0) {
      continue;
    }
    int patterns = at < 256 ? 255 : 1;
    for (int i = 0; i < patterns; ++i) {
      std::string changed = bytes;
      auto flip = static_cast<char>(patterns == 1 ? 1 + random() % 255 : 1 + i);
      changed[at] = static_cast<char>(changed[at] ^ flip);
      expectErrorOrSame(changed, expected, "byte " + std::to_string(at));
      harmless += patterns == 1;
      if (testing::Test::HasFatalFailure()) {
        return;
      }
    }
  }
  EXPECT_GT(harmless, 1000);
}

/// With the hashes made right again, damage reaches the structure and meaning tiers: whatever is
/// accepted must run without harm (results may differ).
TEST(File, DamageBehindTheHashesIsSurvived) {
  std::string bytes = sampleBytes();
  Preamble preamble;
  std::memcpy(&preamble, bytes.data(), sizeof preamble);
  std::mt19937 random(11);
  int accepted = 0;
  int refused = 0;
  for (int round = 0; round < 20000; ++round) {
    std::string changed = bytes;
    size_t count = 1 + random() % 3;
    for (size_t i = 0; i < count; ++i) {
      size_t at = preamble.metadataOffset + random() % preamble.metadataLength;
      changed[at] =
          static_cast<char>(random() % 3 == 0 ? random() : changed[at] ^ (1 << random() % 8));
    }
    auto copy = std::make_shared<std::vector<uint8_t>>(changed.begin(), changed.end());
    auto loaded = readProgram(*copy, copy, {.portableOnly = true}, HashCheck::Skip);
    if (!loaded.ok()) {
      ++refused;
      continue;
    }
    ++accepted;
    Result<std::unique_ptr<Executor>> executor =
        Executor::create(*loaded, {.section = {SectionChoice::Portable, kPortable}});
    ASSERT_TRUE(executor.ok());
    Tensors inputs = sampleInputs();
    TensorView view = inputs[0].view();
    std::vector<OwnedTensor> outputs;
    (void)(*executor)->run(std::span(&view, 1), outputs);
  }
  EXPECT_GT(refused, 1000);
  EXPECT_GT(accepted, 100);
}

/// The bytes with another length of the segment of that kind, and right checksums of the headers.
std::vector<uint8_t> withSegmentLength(std::string bytes, SegmentKind kind, uint64_t length) {
  Preamble preamble;
  std::memcpy(&preamble, bytes.data(), sizeof preamble);
  std::vector<SegmentEntry> table(preamble.segmentCount);
  size_t tableBytes = table.size() * sizeof(SegmentEntry);
  std::memcpy(table.data(), bytes.data() + preamble.tableOffset, tableBytes);
  for (SegmentEntry &entry : table) {
    entry.length = entry.kind == static_cast<uint32_t>(kind) ? length : entry.length;
  }
  preamble.tableCrc = crc32(table.data(), tableBytes);
  preamble.preambleCrc = crc32(&preamble, offsetof(Preamble, preambleCrc));
  std::memcpy(bytes.data() + preamble.tableOffset, table.data(), tableBytes);
  std::memcpy(bytes.data(), &preamble, sizeof preamble);
  return {bytes.begin(), bytes.end()};
}

/// Of a constant of 40 bytes, one byte less is refused, not read from beyond the segment.
TEST(File, AConstantEndsInsideItsSegment) {
  ProgramKit kit;
  ValueId x = kit.input("x", DType::Float32, {10});
  ValueId weights = kit.constant(iota(DType::Float32, {10}));
  kit.output("sum", kit.op(OpKind::add, {}, {x, weights}));
  Result<std::string> bytes = serializeProgram(*kit.finish(), {});
  ASSERT_TRUE(bytes.ok());
  for (uint64_t length : {40, 39, 1, 0}) {
    auto copy = std::make_shared<std::vector<uint8_t>>(
        withSegmentLength(*bytes, SegmentKind::Weights, length));
    auto loaded = readProgram(*copy, copy, {}, HashCheck::Skip);
    EXPECT_EQ(loaded.ok(), length == 40) << length << ": " << loaded.status().message();
  }
}

TEST(File, MessagesSayWhatIsWrong) {
  std::string bytes = sampleBytes();
  auto messageOf = [](const std::string &changed) { return loadBytes(changed).status().message(); };
  auto withPreamble = [&](auto change) {
    std::string changed = bytes;
    Preamble preamble;
    std::memcpy(&preamble, changed.data(), sizeof preamble);
    change(preamble);
    preamble.preambleCrc = crc32(&preamble, offsetof(Preamble, preambleCrc));
    std::memcpy(changed.data(), &preamble, sizeof preamble);
    return changed;
  };
  EXPECT_EQ(messageOf(""), "not a tracec file: the first bytes are not \"TRACEC\"");
  EXPECT_EQ(messageOf(std::string(1000, 'x')),
            "not a tracec file: the first bytes are not \"TRACEC\"");
  EXPECT_NE(messageOf(bytes.substr(0, 5000)).find("it is cut off"), std::string::npos);
  std::string newer = withPreamble([](Preamble &p) { p.major = 9; });
  EXPECT_EQ(messageOf(newer),
            "the file has container version 9.0, this build reads up to 1.1; load "
            "it with a newer libtracert");
  EXPECT_EQ(loadBytes(newer).status().code(), StatusCode::Unsupported);
  EXPECT_TRUE(loadBytes(withPreamble([](Preamble &p) { p.minor = 1; })).ok());
  EXPECT_EQ(loadBytes(withPreamble([](Preamble &p) { p.minor = 2; })).status().code(),
            StatusCode::Unsupported);
  EXPECT_EQ(loadBytes(withPreamble([](Preamble &p) { p.flags = 4; })).status().code(),
            StatusCode::Unsupported);
  EXPECT_NE(messageOf(bytes + "x").find("were written"), std::string::npos);
}

TEST(File, UnknownFeatureOpAndVersionAreRefused) {
  std::string feature = fileOf([](flatbuffers::FlatBufferBuilder &builder) {
    std::vector<flatbuffers::Offset<flatbuffers::String>> names{builder.CreateString("complex")};
    auto list = builder.CreateVector(names);
    return schema::CreateProgramDef(builder, list);
  });
  EXPECT_EQ(loadBytes(feature).status().code(), StatusCode::Unsupported);
  EXPECT_EQ(loadBytes(feature).status().message(),
            "the file needs the feature 'complex', which this build does not have; load it with a "
            "newer libtracert");
  auto withOp = [](const char *name, uint8_t version) {
    return fileOf([=](flatbuffers::FlatBufferBuilder &builder) {
      auto op = schema::CreateOpDef(builder, builder.CreateString(name), version);
      std::vector<flatbuffers::Offset<schema::OpDef>> ops{op};
      auto list = builder.CreateVector(ops);
      return schema::CreateProgramDef(builder, 0, 0, 0, 0, 0, 0, 0, 0, 0, list);
    });
  };
  EXPECT_EQ(loadBytes(withOp("fft", 1)).status().message(),
            "op 'fft' is not known to this build; load the file with a newer libtracert");
  EXPECT_EQ(loadBytes(withOp("add", 9)).status().message(),
            "op 'add' has version 9, this build knows version 1; load the file with a newer "
            "libtracert");
  EXPECT_EQ(loadBytes(withOp("add", 9)).status().code(), StatusCode::Unsupported);
  EXPECT_EQ(loadBytes(withOp("add", 1)).status().code(), StatusCode::CorruptFile);
  EXPECT_TRUE(loadBytes(fileOf([](flatbuffers::FlatBufferBuilder &builder) {
                return schema::CreateProgramDef(builder);
              })).ok());
}

TEST(File, UnreadablePathsAreIoErrors) {
  Folder folder;
  auto codeOf = [](const std::string &path) { return loadProgram(path, {}).status(); };
  Status missing = codeOf(folder.path + "/none.trc");
  EXPECT_EQ(missing.code(), StatusCode::Io);
  EXPECT_NE(missing.message().find("none.trc': No such file"), std::string::npos);
  EXPECT_EQ(codeOf(folder.path).code(), StatusCode::Io);
  EXPECT_EQ(codeOf("/dev/null").code(), StatusCode::Io);
  std::ofstream(folder.path + "/empty.trc").flush();
  EXPECT_EQ(codeOf(folder.path + "/empty.trc").code(), StatusCode::CorruptFile);
}

TEST(File, UnwritablePathsAreIoErrorsAndLeaveNothing) {
  Folder folder;
  auto program = sampleProgram();
  Status missing = writeProgram(*program, folder.path + "/no/such/model.trc", {});
  EXPECT_EQ(missing.code(), StatusCode::Io);
  EXPECT_NE(missing.message().find("No such file"), std::string::npos) << missing.message();
  EXPECT_EQ(writeProgram(*program, folder.path, {}).code(), StatusCode::Io);
  EXPECT_EQ(writeProgram(*program, "/dev/full", {}).code(), StatusCode::Io);
  EXPECT_TRUE(folder.names().empty());
}

TEST(File, DiskFullLeavesTheOldFile) {
  Folder folder;
  std::string disk = folder.path + "/disk";
  ASSERT_EQ(::mkdir(disk.c_str(), 0700), 0);
  // A file size limit stops the write on every machine; a small file system where we may mount one.
  bool isMounted = ::mount("none", disk.c_str(), "tmpfs", 0, "size=64k") == 0;
  ProgramKit kit;
  ValueId x = kit.input("x", DType::Float32, {100000});
  ValueId weights = kit.constant(iota(DType::Float32, {100000}));
  kit.output("y", kit.op(OpKind::add, {}, {x, weights}));
  auto big = kit.finish();
  std::string path = disk + "/model.trc";
  std::string small = "old";
  std::ofstream(path) << small << std::flush;
  Status status;
  if (isMounted) {
    status = writeProgram(*big, path, {});
    EXPECT_NE(status.message().find("No space left on device"), std::string::npos)
        << status.message();
  } else {
    rlimit old;
    ::getrlimit(RLIMIT_FSIZE, &old);
    rlimit limited = old;
    limited.rlim_cur = 64 * 1024;
    auto *handler = ::signal(SIGXFSZ, SIG_IGN);
    ::setrlimit(RLIMIT_FSIZE, &limited);
    status = writeProgram(*big, path, {});
    ::setrlimit(RLIMIT_FSIZE, &old);
    ::signal(SIGXFSZ, handler);
  }
  EXPECT_EQ(status.code(), StatusCode::Io);
  std::ifstream in(path);
  std::string kept((std::istreambuf_iterator<char>(in)), {});
  in.close();
  EXPECT_EQ(kept, small);
  DIR *opened = ::opendir(disk.c_str());
  int entries = 0;
  while (::readdir(opened)) {
    ++entries;
  }
  ::closedir(opened);
  EXPECT_EQ(entries, 3) << "more than . and .. and the old file";
  if (isMounted) {
    EXPECT_EQ(::umount(disk.c_str()), 0);
  } else {
    ::unlink(path.c_str());
  }
  ::rmdir(disk.c_str());
}

TEST(File, LoadsQuickly) {
  ProgramKit kit;
  ValueId x = kit.input("x", DType::Float32, {kUnknownDim}, {"n"});
  ValueId current = x;
  for (int i = 0; i < 1000; ++i) {
    current = kit.op(OpKind::add, {}, {current, x});
  }
  kit.output("y", current);
  Folder folder;
  std::string path = folder.path + "/model.trc";
  ASSERT_TRUE(writeProgram(*kit.finish(), path, {}).ok());
  // Of the processor's time the best of several, so that a busy machine changes little.
  double best = 1e9;
  for (int i = 0; i < 20; ++i) {
    std::clock_t start = std::clock();
    ASSERT_TRUE(loadProgram(path, {}).ok());
    best = std::min(best, 1e6 * static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
  }
  // Printed, not bounded: builds and sanitizers differ.
  std::printf("loading 1,000 ops: %.0f us\n", best);
}

} // namespace
