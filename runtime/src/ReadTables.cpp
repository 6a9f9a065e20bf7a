#include "ReadTables.h"

#include "CheckedMath.h"
#include "ContentHash.h"
#include "LoadBudget.h"
#include "tracert/schema/program_generated.h"

namespace tracert {
namespace {

namespace fb = flatbuffers;

Status corrupt(std::string message) { return Status::corruptFile(std::move(message)); }

/// Features this build understands; none exist in version 1.
bool isKnownFeature(std::string_view) { return false; }

class TableReader {
public:
  TableReader(const Container &container, const LoadOptions &options, HashCheck hashes,
              LoadBudget &memory, Program &program)
      : container(container), options(options), hashes(hashes), memory(memory), program(program),
        content(container.segments[0].length + kGraphSlack) {}

  Status run() {
    std::span<const uint8_t> bytes = container.segment(0);
    TRACERT_TRY(verifyBuffer<schema::ProgramDef>(bytes, schema::ProgramDefIdentifier(), "graph"));
    const schema::ProgramDef *root = schema::GetProgramDef(bytes.data());
    TRACERT_TRY(readFeatures(*root));
    TRACERT_TRY(text(root->producer(), program.producer));
    TRACERT_TRY(text(root->user_info(), program.userInfo));
    TRACERT_TRY(strings(root->ledger(), program.ledger));
    TRACERT_TRY(readSignature(*root));
    TRACERT_TRY(each(root->ops(), program.ops,
                     [&](const schema::OpDef &def, OpDef &op) { return readOp(def, op); }));
    TRACERT_TRY(each(root->test_vectors(), program.testVectors,
                     [&](const schema::TestVectorDef &def, TestVector &vector) {
                       return readVector(def, vector);
                     }));
    TRACERT_TRY(readLocs());
    return options.portableOnly ? Status() : readSections(*root);
  }

private:
  template <class Root>
  Status verifyBuffer(std::span<const uint8_t> bytes, const char *identifier, const char *what) {
    fb::Verifier::Options limits;
    limits.max_depth = 16;
    limits.max_tables = static_cast<fb::uoffset_t>(bytes.size() / 4 + 1);
    fb::Verifier verifier(bytes.data(), bytes.size(), limits);
    if (verifier.VerifyBuffer<Root>(identifier)) {
      return {};
    }
    return corrupt(std::string("the ") + what + " tables are damaged");
  }

  /// Sizes as they are stored, less padding: an offset in a list and the start of its table, a
  /// list's length, a string's length and final zero.
  static constexpr uint64_t kItemBytes = 8;
  static constexpr uint64_t kListBytes = 4;
  static constexpr uint64_t kStringBytes = 5;

  /// Shared tables could make a small file ask for much memory; nothing we write shares any.
  Status take(uint64_t stored, uint64_t inMemory) {
    if (stored > content) {
      return corrupt("the graph refers to more data than it holds");
    }
    content -= stored;
    return memory.take(inMemory, "the graph");
  }

  Status text(const fb::String *from, std::string &to) {
    if (from) {
      TRACERT_TRY(take(kStringBytes + from->size(), from->size()));
      to.assign(from->c_str(), from->size());
    }
    return {};
  }

  Status strings(const fb::Vector<fb::Offset<fb::String>> *from, std::vector<std::string> &to) {
    if (!from) {
      return {};
    }
    TRACERT_TRY(take(kListBytes + sizeof(fb::uoffset_t) * uint64_t(from->size()),
                     sizeof(std::string) * uint64_t(from->size())));
    to.resize(from->size());
    for (fb::uoffset_t i = 0; i < from->size(); ++i) {
      TRACERT_TRY(text(from->Get(i), to[i]));
    }
    return {};
  }

  /// Appends one item per table: read(table, item).
  template <class T, class Item, class F>
  Status each(const fb::Vector<fb::Offset<T>> *from, std::vector<Item> &to, F &&read) {
    if (!from) {
      return {};
    }
    uint64_t count = from->size();
    TRACERT_TRY(take(kListBytes + kItemBytes * count, sizeof(Item) * count));
    to.reserve(to.size() + count);
    for (const T *table : *from) {
      TRACERT_TRY(read(*table, to.emplace_back()));
    }
    return {};
  }

  template <class T> Status numbers(const fb::Vector<T> *from, std::vector<T> &to) {
    if (from) {
      uint64_t bytes = sizeof(T) * uint64_t(from->size());
      TRACERT_TRY(take(kListBytes + bytes, bytes));
      to.assign(from->begin(), from->end());
    }
    return {};
  }

  Status dims(const fb::Vector<int64_t> *from, Dims &to) {
    if (from) {
      uint64_t bytes = sizeof(int64_t) * uint64_t(from->size());
      TRACERT_TRY(take(kListBytes + bytes, bytes));
      // Bytes, since the verifier checks the alignment of the length only.
      to.resize(from->size());
      std::memcpy(to.data(), from->Data(), bytes);
    }
    return {};
  }

  Status dtype(uint8_t raw, DType &to) const {
    if (!isKnownDType(raw)) {
      return Status::unsupported("dtype number " + std::to_string(raw) +
                                 " is not known to this build");
    }
    to = static_cast<DType>(raw);
    return {};
  }

  Status readFeatures(const schema::ProgramDef &root) {
    std::vector<std::string> features;
    TRACERT_TRY(strings(root.required_features(), features));
    for (const std::string &feature : features) {
      if (!isKnownFeature(feature)) {
        return Status::unsupported("the file needs the feature '" + feature +
                                   "', which this build does not have; load it with a newer "
                                   "libtracert");
      }
    }
    return {};
  }

  Status readSignature(const schema::ProgramDef &root) {
    TRACERT_TRY(each(root.symbols(), program.symbols,
                     [&](const schema::SymbolDef &def, SymbolDef &symbol) -> Status {
                       symbol.min = def.min();
                       symbol.max = def.max();
                       return text(def.name(), symbol.name);
                     }));
    TRACERT_TRY(each(root.values(), program.values,
                     [&](const schema::TensorTypeDef &def, ValueDef &value) -> Status {
                       TRACERT_TRY(dtype(def.dtype(), value.dtype));
                       return dims(def.dims(), value.dims);
                     }));
    TRACERT_TRY(each(root.inputs(), program.inputs,
                     [&](const schema::InputDef &def, InputDef &input) -> Status {
                       input.value = def.value();
                       input.isState = def.is_state();
                       input.initialConstant = def.initial_constant();
                       TRACERT_TRY(numbers(def.dim_symbols(), input.dimSymbols));
                       return text(def.name(), input.name);
                     }));
    TRACERT_TRY(each(root.outputs(), program.outputs,
                     [&](const schema::OutputDef &def, OutputDef &output) -> Status {
                       output.value = def.value();
                       output.stateInput = def.state_input();
                       return text(def.name(), output.name);
                     }));
    TensorSegment weights = segmentOf(SegmentKind::Weights);
    return each(root.constants(), program.constants,
                [&](const schema::ConstantDef &def, ConstantDef &constant) -> Status {
                  constant.value = def.value();
                  return readTensor(*def.tensor(), weights, constant.type, constant.data);
                });
  }

  /// Of a list whose tables are put elsewhere.
  struct Skipped {};

  /// A segment of tensors and how many of its bytes no tensor has taken.
  struct TensorSegment {
    std::span<const uint8_t> bytes;
    uint64_t left = 0;
  };

  TensorSegment segmentOf(SegmentKind kind) const {
    int segment = container.find(kind);
    if (segment < 0) {
      return {};
    }
    std::span<const uint8_t> bytes = container.segment(static_cast<size_t>(segment));
    return {bytes, bytes.size()};
  }

  Status readTensor(const schema::StoredTensorDef &def, TensorSegment &segment, TensorType &type,
                    const void *&data) {
    TRACERT_TRY(dtype(def.type()->dtype(), type.dtype));
    TRACERT_TRY(dims(def.type()->dims(), type.shape));
    int64_t bytes;
    if (type.rank() > kMaxRank || !checkedByteCount(type, bytes)) {
      return corrupt("a stored tensor has an impossible shape");
    }
    if (bytes == 0) {
      return {};
    }
    auto size = static_cast<uint64_t>(bytes);
    if (def.offset() % kTensorAlignment != 0 ||
        !isRangeInside(def.offset(), size, segment.bytes.size())) {
      return corrupt("a stored tensor lies outside its segment");
    }
    // Each has bytes of its own, so that what is done once per tensor costs no more than the file.
    if (size > segment.left) {
      return corrupt("stored tensors overlap");
    }
    segment.left -= size;
    data = segment.bytes.data() + def.offset();
    return {};
  }

  Status readAttr(const schema::AttrDef &def, AttrValue &attr) {
    switch (static_cast<AttrKind>(def.kind())) {
    case AttrKind::Int:
      attr = AttrValue::integer(def.integer());
      return {};
    case AttrKind::Bool:
      attr = AttrValue::boolean(def.integer() != 0);
      return {};
    case AttrKind::DType: {
      DType value;
      TRACERT_TRY(dtype(def.dtype(), value));
      attr = AttrValue::dtype(value);
      return {};
    }
    case AttrKind::Ints: {
      Dims values;
      TRACERT_TRY(dims(def.ints(), values));
      attr = AttrValue::ints(std::move(values));
      return {};
    }
    case AttrKind::Scalar: {
      Scalar value;
      TRACERT_TRY(dtype(def.dtype(), value.dtype));
      value.bits = def.bits();
      attr = AttrValue::scalar(value);
      return {};
    }
    case AttrKind::Index:
      return readIndex(def, attr);
    case AttrKind::Float:
      attr = AttrValue::number(std::bit_cast<double>(def.bits()));
      return {};
    case AttrKind::String:
      attr = AttrValue::text(def.text() ? def.text()->str() : std::string());
      return {};
    }
    return corrupt("an attribute has an unknown kind");
  }

  Status readIndex(const schema::AttrDef &def, AttrValue &attr) {
    auto index = std::make_shared<IndexItems>();
    index->advancedFirst = def.advanced_first();
    auto readItem = [](const schema::IndexItemDef &from, IndexItem &item) -> Status {
      if (from.kind() > static_cast<uint8_t>(IndexItemKind::Mask) || from.step() == 0) {
        return corrupt("an index item is malformed");
      }
      item.kind = static_cast<IndexItemKind>(from.kind());
      item.hasBegin = from.has_begin();
      item.hasEnd = from.has_end();
      item.beginIsOperand = from.begin_is_operand();
      item.endIsOperand = from.end_is_operand();
      item.maskRank = from.mask_rank();
      item.begin = from.begin();
      item.end = from.end();
      item.step = from.step();
      return {};
    };
    TRACERT_TRY(each(def.items(), index->items, readItem));
    attr = AttrValue::index(std::move(index));
    return {};
  }

  Status readOp(const schema::OpDef &def, OpDef &op) {
    std::string_view name(def.name()->c_str(), def.name()->size());
    std::optional<OpKind> kind = opKindFromName(name);
    if (!kind) {
      return Status::unsupported("op '" + std::string(name) +
                                 "' is not known to this build; load the file with a newer "
                                 "libtracert");
    }
    if (def.version() > opInfo(*kind).version) {
      return Status::unsupported("op '" + std::string(name) + "' has version " +
                                 std::to_string(def.version()) + ", this build knows version " +
                                 std::to_string(opInfo(*kind).version) +
                                 "; load the file with a newer libtracert");
    }
    if (def.version() == 0) {
      return corrupt("op '" + std::string(name) + "' has version 0");
    }
    op.call.kind = *kind;
    TRACERT_TRY(each(def.attrs(), op.call.attrs, [&](const schema::AttrDef &from, AttrValue &attr) {
      return readAttr(from, attr);
    }));
    TRACERT_TRY(numbers(def.operands(), op.operands));
    TRACERT_TRY(numbers(def.results(), op.results));
    TRACERT_TRY(numbers(def.source_ops(), op.sourceOps));
    op.loc = def.loc();
    op.indexMode = static_cast<IndexMode>(def.index_mode());
    op.inPlace = def.in_place();
    return {};
  }

  Status readVector(const schema::TestVectorDef &def, TestVector &vector) {
    auto readOne = [&](const schema::StoredTensorDef &stored, TestTensor &tensor) {
      return readTensor(stored, vectors, tensor.type, tensor.data);
    };
    TRACERT_TRY(each(def.inputs(), vector.inputs, readOne));
    TRACERT_TRY(each(def.outputs(), vector.outputs, readOne));
    return text(def.origin(), vector.origin);
  }

  /// Without the segment every op's location is absent.
  Status readLocs() {
    std::span<const uint8_t> bytes = segmentOf(SegmentKind::Locs).bytes;
    if (bytes.empty()) {
      for (OpDef &op : program.ops) {
        op.loc = kNoIndex;
      }
      return {};
    }
    TRACERT_TRY(verifyBuffer<schema::LocsDef>(bytes, nullptr, "source location"));
    content += bytes.size();
    const auto *root = fb::GetRoot<schema::LocsDef>(bytes.data());
    std::vector<std::string> names;
    TRACERT_TRY(strings(root->files(), names));
    std::vector<uint32_t> indices;
    TRACERT_TRY(numbers(root->file_indices(), indices));
    std::vector<int32_t> lines;
    TRACERT_TRY(numbers(root->lines(), lines));
    if (lines.size() != indices.size()) {
      return corrupt("the source locations are damaged");
    }
    for (const std::string &name : names) {
      if (name.size() > kMaxFileNameBytes) {
        return corrupt("the name of a source file is longer than " +
                       std::to_string(kMaxFileNameBytes) + " bytes");
      }
    }
    TRACERT_TRY(take(0, sizeof(SourceLoc) * uint64_t(lines.size())));
    program.locs.reserve(lines.size());
    for (size_t i = 0; i < lines.size(); ++i) {
      if (indices[i] >= names.size()) {
        return corrupt("the source locations are damaged");
      }
      TRACERT_TRY(take(0, names[indices[i]].size()));
      program.locs.push_back({names[indices[i]], lines[i]});
    }
    return {};
  }

  Status readSections(const schema::ProgramDef &root) {
    std::vector<Skipped> read;
    return each(root.sections(), read,
                [&](const schema::SectionDef &def, Skipped &) { return readSection(def); });
  }

  Status readSection(const schema::SectionDef &def) {
    std::string_view name(def.isa()->c_str(), def.isa()->size());
    NativeSection section;
    if (name == isaName(Isa::V3)) {
      section.isa = Isa::V3;
    } else if (name == isaName(Isa::Avx512)) {
      section.isa = Isa::Avx512;
    } else {
      // A target of a newer version: this build runs another section.
      return {};
    }
    // Here, not only in the meaning tier: each section copies code.
    for (const NativeSection &other : program.sections) {
      if (other.isa == section.isa) {
        return corrupt("two sections for " + std::string(name));
      }
    }
    auto readInstruction = [](const schema::InstructionDef &from, Instruction &to) -> Status {
      to = {static_cast<InstructionKind>(from.kind()), from.index(), from.first_covered(),
            from.covered_count()};
      return {};
    };
    TRACERT_TRY(each(def.blocks(), section.blocks, [&](const schema::BlockDef &from, Block &block) {
      return each(from.instructions(), block.instructions, readInstruction);
    }));
    TRACERT_TRY(
        each(def.kernels(), section.kernels, [&](const schema::KernelDef &from, KernelDef &kernel) {
          return readKernel(from, kernel);
        }));
    TRACERT_TRY(numbers(def.covered_ops(), section.coveredOps));
    TRACERT_TRY(readCode(def.code_segment(), section));
    program.sections.push_back(std::move(section));
    return {};
  }

  Status readKernel(const schema::KernelDef &def, KernelDef &kernel) {
    TRACERT_TRY(text(def.name(), kernel.name));
    kernel.codeOffset = def.code_offset();
    kernel.domainValue = def.domain_value();
    kernel.isFlat = def.is_flat();
    kernel.domainRank = def.domain_rank();
    TRACERT_TRY(dims(def.reduced_axes(), kernel.reducedAxes));
    kernel.split = static_cast<KernelSplit>(def.split());
    kernel.countValue = def.count_value();
    kernel.nanosecondsPerElement = def.nanoseconds_per_element();
    auto readAccess = [](const schema::KernelAccessDef &from, KernelAccess &access) -> Status {
      access = {static_cast<AccessKind>(from.kind()), from.value(), from.op(), from.indexed_axis(),
                static_cast<InnerStride>(from.inner_stride())};
      return {};
    };
    return each(def.accesses(), kernel.accesses, readAccess);
  }

  /// Copied first, then hashed, so that a file that changes meanwhile is found. The executor hashes
  /// the copy that it makes executable again.
  Status readCode(uint32_t index, NativeSection &section) {
    if (!container.isKind(index, SegmentKind::Code)) {
      return corrupt("a section's native code is missing");
    }
    std::span<const uint8_t> code = container.segment(index);
    TRACERT_TRY(memory.take(code.size(), "the native code"));
    section.code.assign(code.begin(), code.end());
    if (hashes != HashCheck::Verify) {
      return {};
    }
    section.codeHash = container.segments[index].hash;
    if (contentHash(section.code.data(), section.code.size()) != *section.codeHash) {
      return corrupt("the native code is damaged (content hash)");
    }
    return {};
  }

  const Container &container;
  const LoadOptions &options;
  HashCheck hashes;
  LoadBudget &memory;
  Program &program;
  /// Bytes of the tables that have not been visited.
  uint64_t content;
  TensorSegment vectors = segmentOf(SegmentKind::Vectors);
};

} // namespace

Status readTables(const Container &container, const LoadOptions &options, HashCheck hashes,
                  LoadBudget &memory, Program &program) {
  return TableReader(container, options, hashes, memory, program).run();
}

} // namespace tracert
