// Any bytes as a file: the loader, the meaning tier, and a replay of the portable section, with the
// limits of a file that is not trusted.
//
//   fuzz-load -max_total_time=60 -timeout=10 NEW_FINDS test/fuzz/corpus
//
// The mutator repairs checksums and lengths, so that most of what it makes gets past them; the
// checksums are checked as for any file. Files in the corpus may be .trc files as they are.
#include "src/Container.h"
#include "src/ContentHash.h"
#include "tracert/Executor.h"
#include "tracert/RunControl.h"

#include <cstring>
#include <random>

using namespace tracert;

extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t maxSize);

namespace {

/// Inputs of at most a few elements per axis.
constexpr int64_t kFreeSize = 3;
constexpr int64_t kMaxInputBytes = 1 << 20;
constexpr uint64_t kLoadMemory = 64 << 20;
constexpr uint64_t kRunMemory = 64 << 20;
constexpr uint64_t kRunMs = 200;

void replay(const std::shared_ptr<const Program> &program) {
  RunControl control;
  ExecutorOptions options;
  options.section.kind = SectionChoice::Portable;
  options.memoryLimit = kRunMemory;
  Result<std::unique_ptr<Executor>> executor = Executor::create(program, options);
  if (!executor.ok()) {
    return;
  }
  std::vector<std::vector<uint64_t>> memory;
  std::vector<TensorView> inputs;
  int64_t total = 0;
  for (const InputDef &input : program->inputs) {
    TensorType type{program->values[input.value].dtype, program->values[input.value].dims};
    for (int64_t &dim : type.shape) {
      dim = dim == kUnknownDim ? kFreeSize : dim;
    }
    // verifyProgram bounds the size with 1 for unknown dims only.
    if (type.rank() > 8 || (total += type.byteCount()) > kMaxInputBytes) {
      return;
    }
    memory.emplace_back(static_cast<size_t>(type.byteCount()) / 8 + 1, 0);
    inputs.push_back(TensorView::contiguous(memory.back().data(), type));
  }
  std::vector<OwnedTensor> outputs;
  // Twice: the second finds a plan and state.
  for (int run = 0; run < 2; ++run) {
    RunScope scope(control, kRunMs);
    (void)(*executor)->run(inputs, outputs);
  }
}

//===----------------------------------------------------------------------===//
// Mutation
//===----------------------------------------------------------------------===//

/// A file whose preamble and segment table can be read.
class File {
public:
  File(uint8_t *data, size_t size) : data(data), size(size) {
    if (size < sizeof preamble) {
      return;
    }
    std::memcpy(&preamble, data, sizeof preamble);
    uint64_t tableBytes = uint64_t(preamble.segmentCount) * sizeof(SegmentEntry);
    isGood = std::memcmp(preamble.magic, kFileMagic, sizeof kFileMagic) == 0 &&
             preamble.segmentCount > 0 && preamble.segmentCount <= kMaxSegments &&
             preamble.tableOffset <= size && tableBytes <= size - preamble.tableOffset;
    if (isGood) {
      table.resize(preamble.segmentCount);
      std::memcpy(table.data(), data + preamble.tableOffset, tableBytes);
    }
  }

  explicit operator bool() const { return isGood; }

  std::span<uint8_t> segment(size_t i) {
    const SegmentEntry &entry = table[i];
    bool isInside = entry.offset <= size && entry.length <= size - entry.offset;
    return isInside ? std::span(data + entry.offset, entry.length) : std::span<uint8_t>();
  }

  /// Lengths and sums as a writer would have made them.
  void repair() {
    for (size_t i = 0; i < table.size(); ++i) {
      std::span<uint8_t> content = segment(i);
      table[i].hash = contentHash(content.data(), content.size());
    }
    std::memcpy(data + preamble.tableOffset, table.data(), table.size() * sizeof(SegmentEntry));
    preamble.fileLength = size;
    preamble.metadataOffset = table[0].offset;
    preamble.metadataLength = table[0].length;
    preamble.tableCrc = crc32(table.data(), table.size() * sizeof(SegmentEntry));
    preamble.preambleCrc = crc32(&preamble, offsetof(Preamble, preambleCrc));
    std::memcpy(data, &preamble, sizeof preamble);
  }

  uint8_t *data;
  size_t size;
  Preamble preamble;
  std::vector<SegmentEntry> table;

private:
  bool isGood = false;
};

using Random = std::minstd_rand;

uint64_t interesting(Random &random) {
  constexpr uint64_t values[] = {
      0, 1, 2, 3, 7, 64, 255, ~0ull, INT32_MAX, UINT32_MAX, INT64_MAX, 1ull << 40, 1 << 20, 4096};
  return values[random() % std::size(values)];
}

/// FlatBuffers are made of little-endian words: set one, move it a little, or take it from
/// elsewhere, which makes tables shared.
void mutateWords(std::span<uint8_t> content, Random &random) {
  for (unsigned count = 1 + random() % 4; count > 0 && content.size() >= 16; --count) {
    size_t width = size_t(1) << random() % 4;
    size_t slots = content.size() / width;
    uint8_t *target = content.data() + random() % slots * width;
    uint64_t word = 0;
    std::memcpy(&word, target, width);
    switch (random() % 4) {
    case 0:
      word = interesting(random);
      break;
    case 1:
      word += random() % 17 - 8;
      break;
    case 2:
      word ^= uint64_t(1) << random() % (8 * width);
      break;
    default:
      std::memcpy(&word, content.data() + random() % slots * width, width);
      break;
    }
    std::memcpy(target, &word, width);
  }
}

void mutateTable(File &file, Random &random) {
  SegmentEntry &entry = file.table[random() % file.table.size()];
  switch (random() % 4) {
  case 0:
    entry.kind = random() % 7;
    break;
  case 1:
    entry.offset = random() % 2 ? interesting(random) : file.table[0].offset;
    break;
  case 2:
    entry.length = random() % 2 ? interesting(random) : entry.length - random() % 64;
    break;
  default:
    std::swap(entry, file.table[random() % file.table.size()]);
    break;
  }
}

} // namespace

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t maxSize,
                                          unsigned seed) {
  Random random(seed);
  File file(data, size);
  if (!file || random() % 16 == 0) {
    return LLVMFuzzerMutate(data, size, maxSize);
  }
  if (random() % 16 == 0) {
    mutateTable(file, random);
  } else {
    // Mostly the graph, which is the first.
    size_t i = random() % 4 == 0 ? random() % file.table.size() : 0;
    std::span<uint8_t> content = file.segment(i);
    if (random() % 4 == 0 && !content.empty()) {
      size_t length = LLVMFuzzerMutate(content.data(), content.size(), content.size());
      std::memset(content.data() + length, 0, content.size() - length);
    } else {
      mutateWords(content, random);
    }
  }
  file.repair();
  return size;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  // Memory of exactly this size, aligned as a mapped file is.
  auto memory = std::shared_ptr<uint8_t>(
      static_cast<uint8_t *>(std::aligned_alloc(64, alignUp(size + 1, 64))), std::free);
  std::memcpy(memory.get(), data, size);
  for (bool portableOnly : {false, true}) {
    LoadOptions options;
    options.portableOnly = portableOnly;
    options.verifyAll = true;
    options.memoryLimit = kLoadMemory;
    auto program = loadProgram(std::span<const uint8_t>(memory.get(), size), memory, options);
    // Native code is never run: it is trusted.
    if (program.ok() && portableOnly) {
      replay(*program);
    }
  }
  return 0;
}
