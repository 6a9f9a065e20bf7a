// `tracec inspect --json`: all that is in the file; tensors as nested arrays.
#include "Inspect.h"
#include "ProgramView.h"

#include "Verbs/Json.h"
#include "tracert/LoadedFile.h"

#include <cinttypes>

namespace cli {

using namespace tracert;

namespace {

class JsonInspector {
public:
  JsonInspector(const LoadedFile &file, const InspectOptions &options)
      : file(file), program(*file.program), view(program), options(options) {}

  void print() {
    json.beginObject();
    json.field("file", options.file);
    json.field("file_bytes", static_cast<uint64_t>(file.bytes.size()));
    json.field("format_version", file.formatVersion);
    json.field("producer", program.producer);
    add(options.signature, &JsonInspector::addSignature);
    add(options.ops, &JsonInspector::addOps);
    add(options.constants, &JsonInspector::addConstants);
    add(options.kernels, &JsonInspector::addKernels);
    add(options.vectors, &JsonInspector::addVectors);
    add(options.locs, &JsonInspector::addLocs);
    add(options.sizes || options.segments, &JsonInspector::addSegments);
    json.endObject();
    json.finish();
  }

private:
  void add(bool isWanted, void (JsonInspector::*part)()) {
    if (isWanted) {
      (this->*part)();
    }
  }

  template <class List, class Add> void list(const char *name, const List &items, Add addItem) {
    json.key(name);
    json.beginArray();
    for (const auto &item : items) {
      addItem(item);
    }
    json.endArray();
  }

  /// Sizes: a number, the name of a size, or null when it hangs on data.
  void addType(ValueId value) {
    const ValueDef &def = program.values[value];
    json.field("dtype", std::string(dtypeName(def.dtype)));
    json.key("shape");
    json.beginArray();
    for (size_t axis = 0; axis < def.dims.size(); ++axis) {
      std::string text = view.sizeText(value, axis);
      if (def.dims[axis] != kUnknownDim) {
        json.value(def.dims[axis]);
      } else if (text == "?") {
        json.null();
      } else {
        json.value(text);
      }
    }
    json.endArray();
    json.field("type", view.typeText(value));
  }

  void addTensor(const TensorType &type, const void *data) {
    json.field("dtype", std::string(dtypeName(type.dtype)));
    json.key("shape");
    json.beginArray();
    for (int64_t size : type.shape) {
      json.value(size);
    }
    json.endArray();
    json.field("offset", file.offsetOf(data));
    json.field("bytes", type.byteCount());
    json.key("values");
    addElements(json, tensorOf(type, data));
  }

  void addSignature() {
    json.key("user_info");
    if (program.userInfo.empty()) {
      json.null();
    } else if (isJson(program.userInfo)) {
      json.literal(program.userInfo);
    } else {
      json.value(program.userInfo);
    }
    list("inputs", program.inputs, [&](const InputDef &input) {
      json.beginObject();
      json.field("name", input.name);
      json.field("value", input.value);
      addType(input.value);
      json.field("state", input.isState);
      if (input.initialConstant != kNoIndex) {
        json.field("initial_constant", input.initialConstant);
      }
      json.endObject();
    });
    list("outputs", program.outputs, [&](const OutputDef &output) {
      json.beginObject();
      json.field("name", output.name);
      json.field("value", output.value);
      addType(output.value);
      json.key("state_input");
      output.stateInput == kNoIndex ? json.null()
                                    : json.value(program.inputs[output.stateInput].name);
      json.endObject();
    });
    list("sizes", program.symbols, [&](const SymbolDef &symbol) {
      json.beginObject();
      json.field("name", symbol.name);
      json.field("min", symbol.min);
      json.key("max");
      symbol.max == INT64_MAX ? json.null() : json.value(symbol.max);
      json.endObject();
    });
    json.key("sections");
    json.beginArray();
    json.value("portable");
    for (const NativeSection &section : program.sections) {
      json.value(std::string(targetName(section.target)));
    }
    json.endArray();
    list("ledger", program.ledger, [&](const std::string &line) { json.value(line); });
    json.field("test_vector_count", static_cast<uint64_t>(program.testVectors.size()));
  }

  void addAttribute(const AttrValue &attribute) {
    switch (attribute.kind()) {
    case AttrKind::Int:
      return json.value(attribute.asInt());
    case AttrKind::Bool:
      return json.value(attribute.asBool());
    case AttrKind::DType:
      return json.value(std::string(dtypeName(attribute.asDType())));
    case AttrKind::Float:
      return json.value(attribute.asNumber());
    case AttrKind::String:
      return json.value(attribute.asText());
    case AttrKind::Scalar:
      return json.value(scalarText(attribute.asScalar()));
    case AttrKind::Ints:
      json.beginArray();
      for (int64_t entry : attribute.asInts()) {
        entry == kFromOperand ? json.value("operand") : json.value(entry);
      }
      return json.endArray();
    case AttrKind::Index:
      // The items are in the op's text.
      return json.null();
    }
  }

  template <class Ids> void addIds(const char *name, const Ids &ids) {
    list(name, ids, [&](uint32_t id) { json.value(id); });
  }

  void addOps() {
    list("values", program.values, [&](const ValueDef &value) {
      auto id = static_cast<ValueId>(&value - program.values.data());
      json.beginObject();
      json.field("name", view.valueName(id));
      addType(id);
      json.endObject();
    });
    OpIndex index = 0;
    list("ops", program.ops, [&](const OpDef &op) { addOp(index++, op); });
  }

  void addOp(OpIndex index, const OpDef &op) {
    json.beginObject();
    json.field("op", std::string(op.call.info().name));
    json.field("text", view.expression(op));
    json.key("attributes");
    json.beginObject();
    for (size_t i = 0; i < op.call.attrs.size() && i < op.call.info().attrCount; ++i) {
      json.key(std::string(op.call.info().attrs[i].name));
      addAttribute(op.call.attrs[i]);
    }
    json.endObject();
    addIds("operands", op.operands);
    addIds("results", op.results);
    list("types", op.results, [&](ValueId result) { json.value(view.typeText(result)); });
    addIds("source_ops", op.sourceOps);
    json.field("in_place", op.inPlace);
    json.key("file");
    op.loc == kNoIndex ? json.null()
                       : json.value(static_cast<const std::string &>(program.locs[op.loc].file));
    json.key("line");
    op.loc == kNoIndex ? json.null() : json.value(program.locs[op.loc].line);
    json.key("kernels");
    json.beginObject();
    for (size_t s = 0; s < program.sections.size(); ++s) {
      const NativeSection &section = program.sections[s];
      int kernel = view.kernelOf(s, index);
      json.key(std::string(targetName(section.target)));
      kernel < 0 ? json.null() : json.value(section.kernels[static_cast<size_t>(kernel)].name);
    }
    json.endObject();
    json.endObject();
  }

  void addConstants() {
    list("constants", program.constants, [&](const ConstantDef &constant) {
      json.beginObject();
      json.field("name", view.valueName(constant.value));
      json.field("value", constant.value);
      addTensor(constant.type, constant.data);
      json.endObject();
    });
  }

  void addKernels() {
    json.key("kernels");
    json.beginArray();
    for (size_t s = 0; s < program.sections.size(); ++s) {
      for (size_t k = 0; k < program.sections[s].kernels.size(); ++k) {
        addKernel(s, k);
      }
    }
    json.endArray();
  }

  void addKernel(size_t s, size_t k) {
    const KernelDef &kernel = program.sections[s].kernels[k];
    json.beginObject();
    json.field("section", std::string(targetName(program.sections[s].target)));
    json.field("name", kernel.name);
    json.field("code_offset", kernel.codeOffset);
    addIds("ops", view.coveredBy(s, k));
    json.key("domain_value");
    kernel.domainValue == kNoIndex ? json.null() : json.value(kernel.domainValue);
    json.field("flat", kernel.isFlat);
    list("reduced_axes", kernel.reducedAxes, [&](int64_t axis) { json.value(axis); });
    json.field("split", splitName(kernel.split));
    json.field("nanoseconds_per_element", static_cast<double>(kernel.nanosecondsPerElement));
    list("accesses", kernel.accesses, [&](const KernelAccess &access) {
      json.beginObject();
      json.field("kind", accessName(access.kind));
      json.field("value", access.value);
      json.field("inner_stride", strideName(access.innerStride));
      json.endObject();
    });
    json.endObject();
  }

  void addVectors() {
    list("test_vectors", program.testVectors, [&](const TestVector &vector) {
      json.beginObject();
      json.field("origin", vector.origin);
      addTestTensors("inputs", vector.inputs, program.inputs);
      addTestTensors("outputs", vector.outputs, program.outputs);
      json.endObject();
    });
  }

  template <class Defs>
  void addTestTensors(const char *name, const std::vector<TestTensor> &tensors, const Defs &defs) {
    size_t index = 0;
    list(name, tensors, [&](const TestTensor &tensor) {
      json.beginObject();
      json.field("name", defs[index++].name);
      addTensor(tensor.type, tensor.data);
      json.endObject();
    });
  }

  void addLocs() {
    list("locs", program.locs, [&](const SourceLoc &loc) {
      json.beginObject();
      const std::string &name = loc.file;
      json.field("file", name);
      json.field("line", loc.line);
      json.endObject();
    });
  }

  void addSegments() {
    list("segments", file.segments, [&](const FileSegment &segment) {
      char hash[20];
      std::snprintf(hash, sizeof hash, "%016" PRIx64, segment.hash);
      json.beginObject();
      json.field("kind", segment.kind);
      json.field("offset", segment.offset);
      json.field("bytes", segment.length);
      json.field("hash", std::string(hash));
      json.endObject();
    });
  }

  const LoadedFile &file;
  const Program &program;
  ProgramView view;
  const InspectOptions &options;
  JsonWriter json;
};

} // namespace

void inspectJson(const LoadedFile &file, const InspectOptions &options) {
  JsonInspector(file, options).print();
}

} // namespace cli
