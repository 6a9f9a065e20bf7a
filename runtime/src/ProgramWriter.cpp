#include "CheckedMath.h"
#include "ContentHash.h"
#include "FileFormat.h"
#include "FileImage.h"
#include "Guard.h"
#include "TextCheck.h"
#include "tracert/schema/program_generated.h"

#include <map>

namespace tracert {
namespace {

namespace fb = flatbuffers;
template <class T> using Offsets = std::vector<fb::Offset<T>>;

/// Tensors laid out in one segment.
struct TensorSegment {
  std::vector<FileImage::Piece> pieces; // offsets from the segment's start
  uint64_t length = 0;

  uint64_t add(const TensorType &type, const void *data) {
    uint64_t offset = alignUp(length, kTensorAlignment);
    auto size = static_cast<size_t>(type.byteCount());
    pieces.push_back({offset, data, size});
    length = offset + size;
    return offset;
  }
};

class Writer {
public:
  Writer(const Program &program, const WriteOptions &options)
      : program(program), options(options) {}

  Result<FileImage> run() {
    bool hasLocs = options.keepLocs && !program.locs.empty();
    // Segment 0 is the metadata; its own number never depends on the content.
    std::vector<SegmentKind> kinds{SegmentKind::Metadata, SegmentKind::Weights,
                                   SegmentKind::Vectors, SegmentKind::Locs};
    firstCodeSegment = static_cast<uint32_t>(kinds.size());
    for (size_t i = 0; i < program.sections.size(); ++i) {
      kinds.push_back(SegmentKind::Code);
    }
    std::string metadata = writeMetadata();
    if (metadata.size() > kMaxMetadataBytes) {
      return Status::unsupported("the program's graph needs " + std::to_string(metadata.size()) +
                                 " bytes, a file holds at most 2 GB of it")
          .withAdvice("trace and dump the function in parts");
    }
    std::vector<TensorSegment> contents(kinds.size());
    contents[0] = whole(std::move(metadata));
    contents[1] = std::move(weights);
    contents[2] = std::move(vectors);
    if (hasLocs) {
      contents[3] = whole(writeLocs());
    }
    for (size_t i = 0; i < program.sections.size(); ++i) {
      const std::vector<uint8_t> &code = program.sections[i].code;
      contents[firstCodeSegment + i].pieces.push_back({0, code.data(), code.size()});
      contents[firstCodeSegment + i].length = code.size();
    }
    assemble(kinds, contents);
    return std::move(image);
  }

private:
  TensorSegment whole(std::string bytes) {
    image.owned.push_back(std::move(bytes));
    const std::string &kept = image.owned.back();
    TensorSegment segment;
    segment.pieces.push_back({0, kept.data(), kept.size()});
    segment.length = kept.size();
    return segment;
  }

  static uint64_t hashOf(const TensorSegment &segment) {
    ContentHash hash;
    uint64_t at = 0;
    for (const FileImage::Piece &piece : segment.pieces) {
      hash.addZeros(piece.offset - at);
      hash.add(piece.data, piece.size);
      at = piece.offset + piece.size;
    }
    return hash.finish();
  }

  void assemble(const std::vector<SegmentKind> &kinds, const std::vector<TensorSegment> &contents) {
    std::vector<SegmentEntry> table(kinds.size());
    uint64_t end = sizeof(Preamble) + table.size() * sizeof(SegmentEntry);
    std::vector<FileImage::Piece> pieces;
    for (size_t i = 0; i < kinds.size(); ++i) {
      bool isEmpty = contents[i].length == 0;
      uint64_t offset = isEmpty ? 0 : alignUp(end, kSegmentAlignment);
      table[i] = {static_cast<uint32_t>(kinds[i]), 0, offset, contents[i].length,
                  hashOf(contents[i])};
      for (const FileImage::Piece &piece : contents[i].pieces) {
        pieces.push_back({offset + piece.offset, piece.data, piece.size});
      }
      end = isEmpty ? end : offset + contents[i].length;
    }
    image.length = end;
    image.owned.emplace_back(reinterpret_cast<const char *>(table.data()),
                             table.size() * sizeof(SegmentEntry));
    const std::string &tableBytes = image.owned.back();

    Preamble preamble{};
    std::memcpy(preamble.magic, kFileMagic, sizeof kFileMagic);
    preamble.major = kContainerMajor;
    preamble.minor = kContainerMinor;
    preamble.headerSize = sizeof(Preamble);
    preamble.metadataOffset = table[0].offset;
    preamble.metadataLength = table[0].length;
    preamble.tableOffset = sizeof(Preamble);
    preamble.segmentCount = static_cast<uint32_t>(table.size());
    preamble.fileLength = image.length;
    preamble.tableCrc = crc32(tableBytes.data(), tableBytes.size());
    preamble.preambleCrc = crc32(&preamble, offsetof(Preamble, preambleCrc));
    image.owned.emplace_back(reinterpret_cast<const char *>(&preamble), sizeof preamble);
    const std::string &preambleBytes = image.owned.back();

    image.pieces.push_back({0, preambleBytes.data(), preambleBytes.size()});
    image.pieces.push_back({sizeof(Preamble), tableBytes.data(), tableBytes.size()});
    image.pieces.insert(image.pieces.end(), pieces.begin(), pieces.end());
  }

  fb::Offset<fb::Vector<int64_t>> dims(const Dims &shape) {
    return shape.empty() ? 0 : builder.CreateVector(shape.data(), shape.size());
  }
  template <class T> fb::Offset<fb::Vector<T>> numbers(const std::vector<T> &values) {
    return values.empty() ? 0 : builder.CreateVector(values);
  }
  fb::Offset<schema::TensorTypeDef> type(DType dtype, const Dims &shape) {
    auto shapeOffset = dims(shape);
    return schema::CreateTensorTypeDef(builder, static_cast<uint8_t>(dtype), shapeOffset);
  }
  fb::Offset<schema::StoredTensorDef> stored(TensorSegment &segment, const TensorType &tensorType,
                                             const void *data) {
    auto typeOffset = type(tensorType.dtype, tensorType.shape);
    return schema::CreateStoredTensorDef(builder, typeOffset, segment.add(tensorType, data));
  }

  fb::Offset<schema::AttrDef> attr(std::string_view name, const AttrValue &value) {
    fb::Offset<fb::Vector<int64_t>> ints = dims(value.asInts());
    fb::Offset<fb::Vector<fb::Offset<schema::IndexItemDef>>> items;
    bool advancedFirst = false;
    if (value.kind() == AttrKind::Index) {
      Offsets<schema::IndexItemDef> list;
      for (const IndexItem &item : value.asIndex().items) {
        list.push_back(schema::CreateIndexItemDef(builder, static_cast<uint8_t>(item.kind),
                                                  item.hasBegin, item.hasEnd, item.beginIsOperand,
                                                  item.endIsOperand, item.maskRank, item.begin,
                                                  item.end, item.step));
      }
      items = builder.CreateVector(list);
      advancedFirst = value.asIndex().advancedFirst;
    }
    auto nameOffset = builder.CreateSharedString(name.data(), name.size());
    bool isInteger = value.kind() == AttrKind::Int || value.kind() == AttrKind::Bool;
    bool isScalar = value.kind() == AttrKind::Scalar;
    DType dtype = isScalar ? value.asScalar().dtype : value.asDType();
    bool hasDType = isScalar || value.kind() == AttrKind::DType;
    bool hasBits = isScalar || value.kind() == AttrKind::Float;
    auto text = value.kind() == AttrKind::String ? builder.CreateString(value.asText()) : 0;
    return schema::CreateAttrDef(
        builder, static_cast<uint8_t>(value.kind()), isInteger ? value.asInt() : 0,
        hasDType ? static_cast<uint8_t>(dtype) : 0, hasBits ? value.asScalar().bits : 0, ints,
        items, advancedFirst, text, nameOffset);
  }

  fb::Offset<schema::OpDef> op(const OpDef &def) {
    const OpInfo &info = def.call.info();
    Offsets<schema::AttrDef> attrs;
    for (size_t i = 0; i < def.call.attrs.size(); ++i) {
      attrs.push_back(attr(info.attrs[i].name, def.call.attrs[i]));
    }
    auto attrsOffset = attrs.empty() ? 0 : builder.CreateVector(attrs);
    auto name = builder.CreateSharedString(info.name.data(), info.name.size());
    auto operands = numbers(def.operands);
    auto results = numbers(def.results);
    auto sources = numbers(def.sourceOps);
    return schema::CreateOpDef(builder, name, info.version, attrsOffset, operands, results, sources,
                               options.keepLocs ? def.loc : kNoIndex,
                               static_cast<uint8_t>(def.indexMode), def.inPlace);
  }

  fb::Offset<schema::KernelDef> kernel(const KernelDef &def) {
    Offsets<schema::KernelAccessDef> accesses;
    for (const KernelAccess &access : def.accesses) {
      accesses.push_back(schema::CreateKernelAccessDef(builder, static_cast<uint8_t>(access.kind),
                                                       access.value, access.op, access.indexedAxis,
                                                       static_cast<uint8_t>(access.innerStride)));
    }
    auto accessesOffset = builder.CreateVector(accesses);
    auto name = builder.CreateString(def.name);
    auto reducedAxes = dims(def.reducedAxes);
    return schema::CreateKernelDef(
        builder, name, def.codeOffset, def.domainValue, def.isFlat, def.domainRank, reducedAxes,
        accessesOffset, static_cast<uint8_t>(def.split), def.countValue, def.nanosecondsPerElement);
  }

  fb::Offset<schema::SectionDef> section(const NativeSection &def, uint32_t codeSegment) {
    Offsets<schema::BlockDef> blocks;
    for (const Block &block : def.blocks) {
      Offsets<schema::InstructionDef> instructions;
      for (const Instruction &instruction : block.instructions) {
        instructions.push_back(schema::CreateInstructionDef(
            builder, static_cast<uint8_t>(instruction.kind), instruction.index,
            instruction.firstCovered, instruction.coveredCount));
      }
      auto list = builder.CreateVector(instructions);
      blocks.push_back(schema::CreateBlockDef(builder, list));
    }
    Offsets<schema::KernelDef> kernels;
    for (const KernelDef &kernelDef : def.kernels) {
      kernels.push_back(kernel(kernelDef));
    }
    auto blocksOffset = builder.CreateVector(blocks);
    auto kernelsOffset = builder.CreateVector(kernels);
    auto target = builder.CreateString(std::string(targetName(def.target)));
    auto covered = numbers(def.coveredOps);
    return schema::CreateSectionDef(builder, target, blocksOffset, kernelsOffset, covered,
                                    codeSegment);
  }

  template <class Def, class Item, class Make>
  fb::Offset<fb::Vector<fb::Offset<Def>>> list(const std::vector<Item> &items, Make make) {
    Offsets<Def> offsets;
    offsets.reserve(items.size());
    for (const Item &item : items) {
      offsets.push_back(make(item));
    }
    return builder.CreateVector(offsets);
  }

  std::string writeMetadata() {
    auto symbols = list<schema::SymbolDef>(program.symbols, [&](const SymbolDef &def) {
      return schema::CreateSymbolDef(builder, builder.CreateString(def.name), def.min, def.max);
    });
    auto values = list<schema::TensorTypeDef>(
        program.values, [&](const ValueDef &def) { return type(def.dtype, def.dims); });
    auto inputs = list<schema::InputDef>(program.inputs, [&](const InputDef &def) {
      auto name = builder.CreateString(def.name);
      auto dimSymbols = numbers(def.dimSymbols);
      return schema::CreateInputDef(builder, name, def.value, dimSymbols, def.isState,
                                    def.initialConstant);
    });
    auto outputs = list<schema::OutputDef>(program.outputs, [&](const OutputDef &def) {
      return schema::CreateOutputDef(builder, builder.CreateString(def.name), def.value,
                                     def.stateInput);
    });
    auto constants = list<schema::ConstantDef>(program.constants, [&](const ConstantDef &def) {
      return schema::CreateConstantDef(builder, def.value, stored(weights, def.type, def.data));
    });
    auto ops = list<schema::OpDef>(program.ops, [&](const OpDef &def) { return op(def); });
    uint32_t codeSegment = firstCodeSegment;
    auto sections = list<schema::SectionDef>(
        program.sections, [&](const NativeSection &def) { return section(def, codeSegment++); });
    auto tensors = [&](const std::vector<TestTensor> &items) {
      return list<schema::StoredTensorDef>(items, [&](const TestTensor &tensor) {
        return stored(vectors, tensor.type, tensor.data);
      });
    };
    static const std::vector<TestVector> none;
    const auto &kept = options.keepTestVectors ? program.testVectors : none;
    auto testVectors = list<schema::TestVectorDef>(kept, [&](const TestVector &def) {
      auto inputTensors = tensors(def.inputs);
      auto outputTensors = tensors(def.outputs);
      auto origin = builder.CreateString(def.origin);
      return schema::CreateTestVectorDef(builder, inputTensors, outputTensors, origin);
    });
    auto producer = builder.CreateString(program.producer);
    auto userInfo = builder.CreateString(program.userInfo);
    std::vector<fb::Offset<fb::String>> ledgerLines;
    for (const std::string &line : program.ledger) {
      ledgerLines.push_back(builder.CreateString(line));
    }
    auto ledger = builder.CreateVector(ledgerLines);
    auto root = schema::CreateProgramDef(builder, 0, producer, userInfo, ledger, symbols, values,
                                         inputs, outputs, constants, ops, sections, testVectors);
    schema::FinishProgramDefBuffer(builder, root);
    return {reinterpret_cast<const char *>(builder.GetBufferPointer()), builder.GetSize()};
  }

  std::string writeLocs() const {
    fb::FlatBufferBuilder locs;
    std::map<std::string, uint32_t> numbers;
    std::vector<fb::Offset<fb::String>> files;
    std::vector<uint32_t> fileIndices;
    std::vector<int32_t> lines;
    for (const SourceLoc &loc : program.locs) {
      auto [entry, isNew] = numbers.emplace(loc.file, static_cast<uint32_t>(files.size()));
      if (isNew) {
        files.push_back(locs.CreateString(loc.file));
      }
      fileIndices.push_back(entry->second);
      lines.push_back(loc.line);
    }
    auto filesOffset = locs.CreateVector(files);
    auto indicesOffset = locs.CreateVector(fileIndices);
    auto linesOffset = locs.CreateVector(lines);
    locs.Finish(schema::CreateLocsDef(locs, filesOffset, indicesOffset, linesOffset));
    return {reinterpret_cast<const char *>(locs.GetBufferPointer()), locs.GetSize()};
  }

  const Program &program;
  const WriteOptions &options;
  fb::FlatBufferBuilder builder{64 * 1024};
  TensorSegment weights;
  TensorSegment vectors;
  uint32_t firstCodeSegment = 0;
  FileImage image;
};

} // namespace

namespace {

Status checkName(const std::string &name, const char *what) {
  return isName(name) ? Status()
                      : Status::invalidArgument(std::string("the name of ") + what +
                                                " must be UTF-8 text without NUL");
}

/// What a loader would refuse.
Status checkNames(const Program &program) {
  for (const InputDef &input : program.inputs) {
    TRACERT_TRY(checkName(input.name, "an input"));
  }
  for (const OutputDef &output : program.outputs) {
    TRACERT_TRY(checkName(output.name, "an output"));
  }
  for (const SymbolDef &symbol : program.symbols) {
    TRACERT_TRY(checkName(symbol.name, "a size"));
  }
  return {};
}

} // namespace

Result<FileImage> makeFileImage(const Program &program, const WriteOptions &options) {
  TRACERT_TRY(checkNames(program));
  TRACERT_TRY(verifyProgram(program));
  return Writer(program, options).run();
}

Result<std::string> serializeProgram(const Program &program, const WriteOptions &options) {
  return guardedCall([&]() -> Result<std::string> {
    TRACERT_ASSIGN(FileImage image, makeFileImage(program, options));
    std::string bytes(image.length, '\0');
    for (const FileImage::Piece &piece : image.pieces) {
      if (piece.size > 0) {
        std::memcpy(bytes.data() + piece.offset, piece.data, piece.size);
      }
    }
    return bytes;
  });
}

std::string writtenFormatVersion() {
  return std::to_string(kContainerMajor) + "." + std::to_string(kContainerMinor);
}

Status writeProgram(const Program &program, const std::string &path, const WriteOptions &options) {
  return guardedCall([&]() -> Status {
    TRACERT_ASSIGN(FileImage image, makeFileImage(program, options));
    return saveFileImage(image, path, options.check, options.isTrial);
  });
}

} // namespace tracert
