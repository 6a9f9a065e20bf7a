#include "ReadTables.h"

#include "CheckedMath.h"
#include "ContentHash.h"
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
              Program &program)
      : container(container), options(options), hashes(hashes), program(program),
        budget(container.segments[0].length + 1024) {}

  Status run() {
    std::span<const uint8_t> bytes = container.segment(0);
    TRACERT_TRY(verifyBuffer<schema::ProgramDef>(bytes, schema::ProgramDefIdentifier(), "graph"));
    const schema::ProgramDef *root = schema::GetProgramDef(bytes.data());
    TRACERT_TRY(readFeatures(*root));
    program.producer = text(root->producer());
    program.userInfo = text(root->user_info());
    TRACERT_TRY(each(root->ledger(), [&](const fb::String *line) -> Status {
      TRACERT_TRY(take(line->size()));
      program.ledger.push_back(line->str());
      return {};
    }));
    TRACERT_TRY(readSignature(*root));
    TRACERT_TRY(each(root->ops(), [&](const schema::OpDef *op) { return readOp(*op); }));
    TRACERT_TRY(each(root->test_vectors(),
                     [&](const schema::TestVectorDef *vector) { return readVector(*vector); }));
    TRACERT_TRY(readLocs());
    if (options.portableOnly) {
      return {};
    }
    return each(root->sections(),
                [&](const schema::SectionDef *section) { return readSection(*section); });
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

  /// Shared tables could make a small file ask for much memory; nothing we write shares any.
  Status take(uint64_t count) {
    if (count > budget) {
      return corrupt("the graph refers to more data than it holds");
    }
    budget -= count;
    return {};
  }

  std::string text(const fb::String *string) const { return string ? string->str() : ""; }

  template <class T, class F> Status each(const fb::Vector<fb::Offset<T>> *list, F &&read) {
    if (!list) {
      return {};
    }
    TRACERT_TRY(take(list->size()));
    for (const T *item : *list) {
      TRACERT_TRY(read(item));
    }
    return {};
  }

  template <class T> Status numbers(const fb::Vector<T> *from, std::vector<T> &to) {
    if (from) {
      TRACERT_TRY(take(from->size()));
      to.assign(from->begin(), from->end());
    }
    return {};
  }

  Status dims(const fb::Vector<int64_t> *from, Dims &to) {
    if (from) {
      TRACERT_TRY(take(from->size()));
      // Bytes, since the verifier checks the alignment of the length only.
      to.resize(from->size());
      std::memcpy(to.data(), from->Data(), from->size() * sizeof(int64_t));
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
    return each(root.required_features(), [&](const fb::String *feature) -> Status {
      if (isKnownFeature({feature->c_str(), feature->size()})) {
        return {};
      }
      return Status::unsupported("the file needs the feature '" + feature->str() +
                                 "', which this build does not have; load it with a newer "
                                 "libtracert");
    });
  }

  Status readSignature(const schema::ProgramDef &root) {
    TRACERT_TRY(each(root.symbols(), [&](const schema::SymbolDef *def) -> Status {
      TRACERT_TRY(take(def->name()->size()));
      program.symbols.push_back({def->name()->str(), def->min(), def->max()});
      return {};
    }));
    TRACERT_TRY(each(root.values(), [&](const schema::TensorTypeDef *def) -> Status {
      ValueDef value;
      TRACERT_TRY(dtype(def->dtype(), value.dtype));
      TRACERT_TRY(dims(def->dims(), value.dims));
      program.values.push_back(std::move(value));
      return {};
    }));
    TRACERT_TRY(each(root.inputs(), [&](const schema::InputDef *def) -> Status {
      TRACERT_TRY(take(def->name()->size()));
      InputDef input;
      input.name = def->name()->str();
      input.value = def->value();
      TRACERT_TRY(numbers(def->dim_symbols(), input.dimSymbols));
      input.isState = def->is_state();
      input.initialConstant = def->initial_constant();
      program.inputs.push_back(std::move(input));
      return {};
    }));
    TRACERT_TRY(each(root.outputs(), [&](const schema::OutputDef *def) -> Status {
      TRACERT_TRY(take(def->name()->size()));
      program.outputs.push_back({def->name()->str(), def->value(), def->state_input()});
      return {};
    }));
    return each(root.constants(), [&](const schema::ConstantDef *def) -> Status {
      ConstantDef constant;
      constant.value = def->value();
      TRACERT_TRY(readTensor(*def->tensor(), container.find(SegmentKind::Weights), constant.type,
                             constant.data));
      program.constants.push_back(std::move(constant));
      return {};
    });
  }

  Status readTensor(const schema::StoredTensorDef &def, int segment, TensorType &type,
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
    std::span<const uint8_t> content;
    if (segment >= 0) {
      content = container.segment(static_cast<size_t>(segment));
    }
    if (def.offset() % kTensorAlignment != 0 ||
        !isRangeInside(def.offset(), static_cast<uint64_t>(bytes), content.size())) {
      return corrupt("a stored tensor lies outside its segment");
    }
    data = content.data() + def.offset();
    return {};
  }

  Status readAttr(const schema::AttrDef &def, AttrList &attrs) {
    switch (static_cast<AttrKind>(def.kind())) {
    case AttrKind::Int:
      attrs.push_back(AttrValue::integer(def.integer()));
      return {};
    case AttrKind::Bool:
      attrs.push_back(AttrValue::boolean(def.integer() != 0));
      return {};
    case AttrKind::DType: {
      DType value;
      TRACERT_TRY(dtype(def.dtype(), value));
      attrs.push_back(AttrValue::dtype(value));
      return {};
    }
    case AttrKind::Ints: {
      Dims values;
      TRACERT_TRY(dims(def.ints(), values));
      attrs.push_back(AttrValue::ints(std::move(values)));
      return {};
    }
    case AttrKind::Scalar: {
      Scalar value;
      TRACERT_TRY(dtype(def.dtype(), value.dtype));
      value.bits = def.bits();
      attrs.push_back(AttrValue::scalar(value));
      return {};
    }
    case AttrKind::Index:
      return readIndex(def, attrs);
    }
    return corrupt("an attribute has an unknown kind");
  }

  Status readIndex(const schema::AttrDef &def, AttrList &attrs) {
    auto index = std::make_shared<IndexItems>();
    index->advancedFirst = def.advanced_first();
    TRACERT_TRY(each(def.items(), [&](const schema::IndexItemDef *from) -> Status {
      if (from->kind() > static_cast<uint8_t>(IndexItemKind::Mask) || from->step() == 0) {
        return corrupt("an index item is malformed");
      }
      IndexItem item;
      item.kind = static_cast<IndexItemKind>(from->kind());
      item.hasBegin = from->has_begin();
      item.hasEnd = from->has_end();
      item.beginIsOperand = from->begin_is_operand();
      item.endIsOperand = from->end_is_operand();
      item.maskRank = from->mask_rank();
      item.begin = from->begin();
      item.end = from->end();
      item.step = from->step();
      index->items.push_back(item);
      return {};
    }));
    attrs.push_back(AttrValue::index(std::move(index)));
    return {};
  }

  Status readOp(const schema::OpDef &def) {
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
    OpDef op;
    op.call.kind = *kind;
    TRACERT_TRY(each(def.attrs(),
                     [&](const schema::AttrDef *attr) { return readAttr(*attr, op.call.attrs); }));
    TRACERT_TRY(numbers(def.operands(), op.operands));
    TRACERT_TRY(numbers(def.results(), op.results));
    TRACERT_TRY(numbers(def.source_ops(), op.sourceOps));
    op.loc = def.loc();
    op.indexMode = static_cast<IndexMode>(def.index_mode());
    op.inPlace = def.in_place();
    program.ops.push_back(std::move(op));
    return {};
  }

  Status readVector(const schema::TestVectorDef &def) {
    TestVector vector;
    int segment = container.find(SegmentKind::Vectors);
    auto readAll = [&](const fb::Vector<fb::Offset<schema::StoredTensorDef>> *list,
                       std::vector<TestTensor> &tensors) {
      return each(list, [&](const schema::StoredTensorDef *stored) -> Status {
        TestTensor tensor;
        TRACERT_TRY(readTensor(*stored, segment, tensor.type, tensor.data));
        tensors.push_back(std::move(tensor));
        return {};
      });
    };
    TRACERT_TRY(readAll(def.inputs(), vector.inputs));
    TRACERT_TRY(readAll(def.outputs(), vector.outputs));
    vector.origin = text(def.origin());
    TRACERT_TRY(take(vector.origin.size()));
    program.testVectors.push_back(std::move(vector));
    return {};
  }

  /// Without the segment every op's location is absent.
  Status readLocs() {
    int segment = container.find(SegmentKind::Locs);
    std::span<const uint8_t> bytes;
    if (segment >= 0) {
      bytes = container.segment(static_cast<size_t>(segment));
    }
    if (bytes.empty()) {
      for (OpDef &op : program.ops) {
        op.loc = kNoIndex;
      }
      return {};
    }
    TRACERT_TRY(verifyBuffer<schema::LocsDef>(bytes, nullptr, "source location"));
    budget += bytes.size();
    const auto *root = fb::GetRoot<schema::LocsDef>(bytes.data());
    size_t count = root->lines() ? root->lines()->size() : 0;
    size_t indexCount = root->file_indices() ? root->file_indices()->size() : 0;
    size_t fileCount = root->files() ? root->files()->size() : 0;
    if (count != indexCount) {
      return corrupt("the source locations are damaged");
    }
    for (size_t i = 0; i < count; ++i) {
      uint32_t file = root->file_indices()->Get(static_cast<fb::uoffset_t>(i));
      if (file >= fileCount) {
        return corrupt("the source locations are damaged");
      }
      program.locs.push_back(
          {root->files()->Get(file)->str(), root->lines()->Get(static_cast<fb::uoffset_t>(i))});
    }
    return {};
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
    TRACERT_TRY(each(def.blocks(), [&](const schema::BlockDef *from) -> Status {
      Block block;
      TRACERT_TRY(each(from->instructions(), [&](const schema::InstructionDef *step) -> Status {
        block.instructions.push_back({static_cast<InstructionKind>(step->kind()), step->index(),
                                      step->first_covered(), step->covered_count()});
        return {};
      }));
      section.blocks.push_back(std::move(block));
      return {};
    }));
    TRACERT_TRY(each(def.kernels(),
                     [&](const schema::KernelDef *from) { return readKernel(*from, section); }));
    TRACERT_TRY(numbers(def.covered_ops(), section.coveredOps));
    TRACERT_TRY(readCode(def.code_segment(), section));
    program.sections.push_back(std::move(section));
    return {};
  }

  Status readKernel(const schema::KernelDef &def, NativeSection &section) {
    KernelDef kernel;
    TRACERT_TRY(take(def.name()->size()));
    kernel.name = def.name()->str();
    kernel.codeOffset = def.code_offset();
    kernel.domainValue = def.domain_value();
    kernel.isFlat = def.is_flat();
    kernel.domainRank = def.domain_rank();
    TRACERT_TRY(dims(def.reduced_axes(), kernel.reducedAxes));
    kernel.split = static_cast<KernelSplit>(def.split());
    kernel.countValue = def.count_value();
    kernel.nanosecondsPerElement = def.nanoseconds_per_element();
    TRACERT_TRY(each(def.accesses(), [&](const schema::KernelAccessDef *from) -> Status {
      kernel.accesses.push_back({static_cast<AccessKind>(from->kind()), from->value(), from->op(),
                                 from->indexed_axis(),
                                 static_cast<InnerStride>(from->inner_stride())});
      return {};
    }));
    section.kernels.push_back(std::move(kernel));
    return {};
  }

  /// Copied first, then hashed, so that a file that changes meanwhile is found. The executor hashes
  /// the copy that it makes executable again.
  Status readCode(uint32_t index, NativeSection &section) {
    if (!container.isKind(index, SegmentKind::Code)) {
      return corrupt("a section's native code is missing");
    }
    std::span<const uint8_t> code = container.segment(index);
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
  uint64_t budget;
};

} // namespace

Status readTables(const Container &container, const LoadOptions &options, HashCheck hashes,
                  Program &program) {
  return TableReader(container, options, hashes, program).run();
}

} // namespace tracert
