#include "ReadTables.h"

#include "CheckedMath.h"
#include "ContentHash.h"
#include "LoadBudget.h"
#include "ReservedTables.h"
#include "StoredLists.h"
#include "tracert/KernelAbi.h"
#include "tracert/schema/program_generated.h"

namespace tracert {
namespace {

namespace fb = flatbuffers;

Status corrupt(std::string message) { return Status::corruptFile(std::move(message)); }

/// Features this build understands; none exist in version 1.
bool isKnownFeature(std::string_view) { return false; }

class TableReader : private StoredLists {
public:
  TableReader(const Container &container, const LoadOptions &options, HashCheck hashes,
              LoadBudget &memory, Program &program)
      : StoredLists(container.segments[0].length + kGraphSlack, memory), container(container),
        options(options), hashes(hashes), program(program) {}

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
    TRACERT_TRY(checkReserved(*root));
    return options.portableOnly ? Status() : readSections(*root);
  }

private:
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

  struct NamedAttr {
    std::string_view name;
    AttrValue value;
  };

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
    case AttrKind::String: {
      std::string value;
      TRACERT_TRY(text(def.text(), value));
      attr = AttrValue::text(std::move(value));
      return {};
    }
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

  /// By name, whatever their order; by position when no attribute has one, as once written.
  Status readAttrs(const schema::OpDef &def, OpCall &call) {
    const OpInfo &info = call.info();
    std::vector<NamedAttr> read;
    TRACERT_TRY(each(def.attrs(), read, [&](const schema::AttrDef &from, NamedAttr &attr) {
      if (from.name()) {
        attr.name = {from.name()->c_str(), from.name()->size()};
      }
      return readAttr(from, attr.value);
    }));
    bool isByPosition = !read.empty();
    for (const NamedAttr &attr : read) {
      isByPosition = isByPosition && attr.name.empty();
    }
    if (isByPosition) {
      for (NamedAttr &attr : read) {
        call.attrs.push_back(std::move(attr.value));
      }
      return {};
    }
    call.attrs.resize(info.attrCount);
    std::vector<bool> isGiven(info.attrCount, false);
    for (NamedAttr &attr : read) {
      size_t place = 0;
      while (place < info.attrCount && info.attrs[place].name != attr.name) {
        ++place;
      }
      if (place == info.attrCount) {
        return Status::unsupported("op '" + std::string(info.name) + "' has an attribute '" +
                                   std::string(attr.name) +
                                   "', which this build does not know; load the file with a newer "
                                   "libtracert");
      }
      if (isGiven[place]) {
        return corrupt("op '" + std::string(info.name) + "' has the attribute '" +
                       std::string(attr.name) + "' twice");
      }
      isGiven[place] = true;
      call.attrs[place] = std::move(attr.value);
    }
    return fillMissing(call, isGiven);
  }

  static Status fillMissing(OpCall &call, const std::vector<bool> &isGiven) {
    const OpInfo &info = call.info();
    for (size_t i = 0; i < isGiven.size(); ++i) {
      if (isGiven[i]) {
        continue;
      }
      std::optional<AttrValue> value = defaultAttr(info.attrs[i]);
      if (!value) {
        return corrupt("op '" + std::string(info.name) + "' lacks the attribute '" +
                       std::string(info.attrs[i].name) + "'");
      }
      call.attrs[i] = std::move(*value);
    }
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
    if (def.blocks() && def.blocks()->size() > 0) {
      return Status::unsupported("op '" + std::string(name) +
                                 "' has blocks of ops, which this build does not know; load the "
                                 "file with a newer libtracert");
    }
    TRACERT_TRY(readAttrs(def, op.call));
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
    TRACERT_TRY(checkTolerances(def, vector.outputs.size()));
    std::vector<TestTensor> intermediates;
    TRACERT_TRY(each(def.intermediates(), intermediates,
                     [&](const schema::IntermediateDef &from, TestTensor &tensor) {
                       return readOne(*from.tensor(), tensor);
                     }));
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
    allow(bytes.size());
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
    std::optional<Target> target = targetFromName(name);
    // A processor's section may be for another machine, to which the file can be copied as it is.
    bool isForMissingDevice = target && target->kind == TargetKind::Nvptx && !supports(*target);
    if (!target || isForMissingDevice || def.kernel_abi() != kKernelAbi) {
      // For a machine or a contract of another version: this build runs another section.
      return {};
    }
    section.target = *target;
    if (!isRunnable(def)) {
      return {};
    }
    // Here, not only in the meaning tier: each section copies code.
    for (const NativeSection &other : program.sections) {
      if (other.target == section.target) {
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
  Program &program;
  TensorSegment vectors = segmentOf(SegmentKind::Vectors);
};

} // namespace

Status readTables(const Container &container, const LoadOptions &options, HashCheck hashes,
                  LoadBudget &memory, Program &program) {
  return TableReader(container, options, hashes, memory, program).run();
}

} // namespace tracert
