#include "Inspect.h"

#include "Compile.h"

#include "Verbs/Json.h"
#include "tracert/Executor.h"

#include <CLI/CLI.hpp>

#include <cinttypes>
#include <cstdio>
#include <filesystem>

namespace cli {

using namespace tracert;

namespace {

std::string dimText(const Program &program, const ValueDef &value, size_t axis,
                    const std::vector<uint32_t> &symbols) {
  if (value.dims[axis] != kUnknownDim) {
    return std::to_string(value.dims[axis]);
  }
  uint32_t symbol = axis < symbols.size() ? symbols[axis] : kNoIndex;
  return symbol == kNoIndex ? "?" : program.symbols[symbol].name;
}

std::string typeOf(const Program &program, ValueId id, const std::vector<uint32_t> &symbols = {}) {
  const ValueDef &value = program.values[id];
  std::string text = std::string(dtypeName(value.dtype)) + "[";
  for (size_t axis = 0; axis < value.dims.size(); ++axis) {
    text += (axis ? "," : "") + dimText(program, value, axis, symbols);
  }
  return text + "]";
}

std::string locText(const Program &program, const OpDef &op) {
  if (op.loc == kNoIndex) {
    return "";
  }
  const SourceLoc &loc = program.locs[op.loc];
  return loc.file + ":" + std::to_string(loc.line);
}

std::string valueList(const std::vector<ValueId> &values) {
  std::string text;
  for (ValueId value : values) {
    text += (text.empty() ? "%" : ", %") + std::to_string(value);
  }
  return text;
}

std::string idList(const std::vector<uint32_t> &ids) {
  std::string text;
  for (uint32_t id : ids) {
    text += (text.empty() ? "#" : ",#") + std::to_string(id);
  }
  return text;
}

constexpr const char *accessName(AccessKind kind) {
  switch (kind) {
  case AccessKind::Load:
    return "load";
  case AccessKind::Gather:
    return "gather";
  case AccessKind::Index:
    return "index";
  case AccessKind::Store:
    return "store";
  case AccessKind::CompactStore:
    return "compact-store";
  case AccessKind::ReduceStore:
    return "reduce-store";
  case AccessKind::SetStore:
    return "set-store";
  }
  return "unknown";
}

/// The numbers of --sizes and the parts of --segments.
struct Part {
  std::string name;
  uint64_t bytes;
};

std::vector<Part> partsOf(const Program &program) {
  std::vector<Part> parts;
  uint64_t weights = 0;
  for (const ConstantDef &constant : program.constants) {
    weights += static_cast<uint64_t>(constant.type.byteCount());
  }
  parts.push_back({"weights", weights});
  for (const NativeSection &section : program.sections) {
    parts.push_back({"code " + std::string(isaName(section.isa)), section.code.size()});
  }
  uint64_t vectors = 0;
  for (const TestVector &vector : program.testVectors) {
    for (const std::vector<TestTensor> *tensors : {&vector.inputs, &vector.outputs}) {
      for (const TestTensor &tensor : *tensors) {
        vectors += static_cast<uint64_t>(tensor.type.byteCount());
      }
    }
  }
  parts.push_back({"test vectors", vectors});
  return parts;
}

class Inspector {
public:
  Inspector(const Program &program, const InspectOptions &options)
      : program(program), options(options) {}

  void print() {
    if (options.signature) {
      printSignature();
    }
    if (options.ops) {
      printOps();
    }
    if (options.kernels) {
      printKernels();
    }
    if (options.locs) {
      for (const SourceLoc &loc : program.locs) {
        std::printf("loc %s:%d\n", loc.file.c_str(), loc.line);
      }
    }
    if (options.sizes) {
      std::printf("file %" PRIu64 " bytes\nops %zu\nvalues %zu\nconstants %zu\n", fileBytes(),
                  program.ops.size(), program.values.size(), program.constants.size());
    }
    if (options.sizes || options.segments) {
      for (const Part &part : partsOf(program)) {
        std::printf("%s %" PRIu64 " bytes\n", part.name.c_str(), part.bytes);
      }
    }
  }

  std::string json() {
    JsonWriter json;
    json.beginObject();
    json.field("producer", program.producer);
    if (options.signature) {
      addSignature(json);
    }
    if (options.ops) {
      addOps(json);
    }
    if (options.kernels) {
      addKernels(json);
    }
    if (options.locs) {
      json.key("locs");
      json.beginArray();
      for (const SourceLoc &loc : program.locs) {
        json.value(loc.file + ":" + std::to_string(loc.line));
      }
      json.endArray();
    }
    if (options.sizes) {
      json.field("file_bytes", fileBytes());
    }
    if (options.sizes || options.segments) {
      json.key("segments");
      json.beginArray();
      for (const Part &part : partsOf(program)) {
        json.beginObject();
        json.field("name", part.name);
        json.field("bytes", part.bytes);
        json.endObject();
      }
      json.endArray();
    }
    json.endObject();
    return json.text();
  }

private:
  uint64_t fileBytes() const { return std::filesystem::file_size(options.file); }

  void printSignature() {
    for (const InputDef &input : program.inputs) {
      std::printf("%s %s: %s\n", input.isState ? "state" : "input", input.name.c_str(),
                  typeOf(program, input.value, input.dimSymbols).c_str());
    }
    for (const OutputDef &output : program.outputs) {
      std::printf("output %s: %s\n", output.name.c_str(), typeOf(program, output.value).c_str());
    }
    for (const SymbolDef &symbol : program.symbols) {
      std::printf("size %s: %" PRId64 "..%s\n", symbol.name.c_str(), symbol.min,
                  symbol.max == INT64_MAX ? "" : std::to_string(symbol.max).c_str());
    }
    std::printf("section portable\n");
    for (const NativeSection &section : program.sections) {
      std::printf("section %s: %zu kernels\n", std::string(isaName(section.isa)).c_str(),
                  section.kernels.size());
    }
  }

  void addSignature(JsonWriter &json) {
    json.key("inputs");
    json.beginArray();
    for (const InputDef &input : program.inputs) {
      json.beginObject();
      json.field("name", input.name);
      json.field("type", typeOf(program, input.value, input.dimSymbols));
      json.field("state", input.isState);
      json.endObject();
    }
    json.endArray();
    json.key("outputs");
    json.beginArray();
    for (const OutputDef &output : program.outputs) {
      json.beginObject();
      json.field("name", output.name);
      json.field("type", typeOf(program, output.value));
      json.endObject();
    }
    json.endArray();
    json.key("sections");
    json.beginArray();
    json.value("portable");
    for (const NativeSection &section : program.sections) {
      json.value(std::string(isaName(section.isa)));
    }
    json.endArray();
  }

  void printOps() {
    for (const OpDef &op : program.ops) {
      std::string loc = locText(program, op);
      std::printf("%s = %s(%s) : %s%s %s%s%s\n", valueList(op.results).c_str(),
                  opCallString(op.call).c_str(), valueList(op.operands).c_str(),
                  typeOf(program, op.results[0]).c_str(), op.inPlace ? " in place" : "",
                  idList(op.sourceOps).c_str(), loc.empty() ? "" : " at ", loc.c_str());
    }
  }

  void addOps(JsonWriter &json) {
    json.key("ops");
    json.beginArray();
    for (const OpDef &op : program.ops) {
      json.beginObject();
      json.field("op", opCallString(op.call));
      json.field("operands", valueList(op.operands));
      json.field("results", valueList(op.results));
      json.field("type", typeOf(program, op.results[0]));
      json.field("source_ops", idList(op.sourceOps));
      json.field("in_place", op.inPlace);
      json.field("loc", locText(program, op));
      json.endObject();
    }
    json.endArray();
  }

  /// Names of the ops that a kernel covers, in order.
  std::string coveredText(const NativeSection &section, uint32_t kernel) const {
    std::string text;
    for (const Block &block : section.blocks) {
      for (const Instruction &instruction : block.instructions) {
        if (instruction.kind != InstructionKind::Launch || instruction.index != kernel) {
          continue;
        }
        for (uint32_t i = 0; i < instruction.coveredCount; ++i) {
          OpIndex op = section.coveredOps[instruction.firstCovered + i];
          text += (text.empty() ? "" : " ") + std::string(program.ops[op].call.info().name);
        }
      }
    }
    return text;
  }

  static std::string accessText(const KernelDef &kernel) {
    std::string text;
    for (const KernelAccess &access : kernel.accesses) {
      text += std::string(text.empty() ? "" : " ") + accessName(access.kind) + "(%" +
              std::to_string(access.value) + ")";
    }
    return text;
  }

  void printKernels() {
    for (const NativeSection &section : program.sections) {
      for (uint32_t i = 0; i < section.kernels.size(); ++i) {
        const KernelDef &kernel = section.kernels[i];
        std::printf("kernel %s %s at %" PRIu64 ": %s; %s\n",
                    std::string(isaName(section.isa)).c_str(), kernel.name.c_str(),
                    kernel.codeOffset, coveredText(section, i).c_str(), accessText(kernel).c_str());
      }
    }
  }

  void addKernels(JsonWriter &json) {
    json.key("kernels");
    json.beginArray();
    for (const NativeSection &section : program.sections) {
      for (uint32_t i = 0; i < section.kernels.size(); ++i) {
        json.beginObject();
        json.field("section", std::string(isaName(section.isa)));
        json.field("name", section.kernels[i].name);
        json.field("ops", coveredText(section, i));
        json.field("accesses", accessText(section.kernels[i]));
        json.endObject();
      }
    }
    json.endArray();
  }

  const Program &program;
  const InspectOptions &options;
};

} // namespace

CLI::App *addInspectVerb(CLI::App &app, InspectOptions &options) {
  CLI::App *verb = app.add_subcommand("inspect", "show what is in a .trc file");
  verb->add_option("file", options.file, "the .trc file")->required();
  verb->add_flag("--signature", options.signature, "inputs, outputs, sizes, sections (default)");
  verb->add_flag("--ops", options.ops, "the canonical ops with their Python lines");
  verb->add_flag("--kernels", options.kernels, "compiled kernels, what they cover and access");
  verb->add_flag("--locs", options.locs, "source lines");
  verb->add_flag("--sizes", options.sizes, "bytes and counts");
  verb->add_flag("--segments", options.segments, "bytes of each part");
  verb->add_flag("--json", options.isJson, "print JSON");
  return verb;
}

int inspectVerb(const InspectOptions &given) {
  InspectOptions options = given;
  bool showsAny =
      options.ops || options.kernels || options.locs || options.sizes || options.segments;
  options.signature = options.signature || !showsAny;
  auto program = loadProgram(options.file, LoadOptions());
  check(program.status());
  Inspector inspector(**program, options);
  if (options.isJson) {
    std::printf("%s\n", inspector.json().c_str());
  } else {
    inspector.print();
  }
  return kOk;
}

} // namespace cli
