// Any bytes as a file. An even first byte: the rest is the whole file. An odd one: the rest is the
// graph's FlatBuffer in a container made around it, so that the fuzzer gets past the checksums to
// the meaning tier and to replay on the portable section.
#include "src/Container.h"
#include "src/ProgramReader.h"

#include <cstring>

using namespace tracert;

namespace {

/// Inputs of at most a few elements per axis.
constexpr int64_t kFreeSize = 3;
constexpr int64_t kMaxBytes = 1 << 20;

std::vector<uint8_t> containerOf(const uint8_t *graph, size_t size) {
  constexpr size_t weightBytes = 4096;
  uint64_t weightOffset = alignUp(kSegmentAlignment + size, kSegmentAlignment);
  std::vector<uint8_t> bytes(weightOffset + weightBytes, 1);
  std::memcpy(bytes.data() + kSegmentAlignment, graph, size);
  SegmentEntry table[2] = {
      {static_cast<uint32_t>(SegmentKind::Metadata), 0, kSegmentAlignment, size, 0},
      {static_cast<uint32_t>(SegmentKind::Weights), 0, weightOffset, weightBytes, 0}};
  std::memcpy(bytes.data() + sizeof(Preamble), table, sizeof table);
  Preamble preamble{};
  std::memcpy(preamble.magic, kFileMagic, sizeof kFileMagic);
  preamble.major = kContainerMajor;
  preamble.headerSize = sizeof(Preamble);
  preamble.metadataOffset = kSegmentAlignment;
  preamble.metadataLength = size;
  preamble.tableOffset = sizeof(Preamble);
  preamble.segmentCount = 2;
  preamble.fileLength = bytes.size();
  preamble.tableCrc = crc32(table, sizeof table);
  preamble.preambleCrc = crc32(&preamble, offsetof(Preamble, preambleCrc));
  std::memcpy(bytes.data(), &preamble, sizeof preamble);
  return bytes;
}

/// Refuses what would only run out of memory.
class SmallAllocator : public Allocator {
public:
  void *allocate(size_t size) override {
    size_t padded = (size + kBufferSlack + 63) / 64 * 64;
    return size > size_t(1) << 24 ? nullptr : std::aligned_alloc(64, padded);
  }
  void release(void *data, size_t) override { std::free(data); }
};

void replay(std::shared_ptr<const Program> program) {
  SmallAllocator allocator;
  ExecutorOptions options;
  options.section.kind = SectionChoice::Portable;
  options.allocator = &allocator;
  Result<std::unique_ptr<Executor>> executor = Executor::create(program, options);
  if (!executor.ok()) {
    return;
  }
  std::vector<std::vector<uint8_t>> memory;
  std::vector<TensorView> inputs;
  for (const InputDef &input : program->inputs) {
    TensorType type{program->values[input.value].dtype, program->values[input.value].dims};
    for (int64_t &dim : type.shape) {
      dim = dim == kUnknownDim ? kFreeSize : dim;
    }
    if (type.rank() > 8 || type.byteCount() > kMaxBytes) {
      return;
    }
    memory.emplace_back(static_cast<size_t>(type.byteCount()) + 64, 0);
    inputs.push_back(TensorView::contiguous(memory.back().data(), type));
  }
  std::vector<OwnedTensor> outputs;
  (void)(*executor)->run(inputs, outputs);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 1) {
    return 0;
  }
  bool isGraph = data[0] % 2 == 1;
  std::vector<uint8_t> bytes =
      isGraph ? containerOf(data + 1, size - 1) : std::vector<uint8_t>(data + 1, data + size);
  LoadOptions options;
  options.portableOnly = true;
  auto program =
      readProgram(bytes, nullptr, options, isGraph ? HashCheck::Skip : HashCheck::Verify);
  if (program.ok()) {
    replay(*program);
  }
  return 0;
}
