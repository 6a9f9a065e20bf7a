// `tracec inspect` for people: one fact a line, in columns.
#include "Inspect.h"
#include "ProgramView.h"

#include "Verbs/Text.h"
#include "tracert/LoadedFile.h"

#include <algorithm>
#include <cinttypes>

namespace cli {

using namespace tracert;

namespace {

/// Elements of one tensor in the text; JSON has all.
constexpr int64_t kShownElements = 12;
/// Wider cells do not push the other rows' columns away.
constexpr size_t kMaxCellWidth = 56;

using Row = std::vector<std::string>;

/// Columns as wide as their cells, cells made printable first.
void printTable(std::vector<Row> rows) {
  std::vector<size_t> widths;
  for (Row &row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t i = 0; i < row.size(); ++i) {
      row[i] = printable(row[i]);
      widths[i] = std::max(widths[i], std::min(row[i].size(), kMaxCellWidth));
    }
  }
  for (const Row &row : rows) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      if (widths[i] == 0) {
        continue;
      }
      line += row[i] + std::string(widths[i] - std::min(row[i].size(), widths[i]) + 2, ' ');
    }
    line.erase(line.find_last_not_of(' ') + 1);
    printRaw("  " + line + "\n");
  }
}

std::string bytesText(uint64_t bytes) { return grouped(bytes) + (bytes == 1 ? " byte" : " bytes"); }

std::string countText(size_t count, const std::string &what) {
  return grouped(count) + " " + what + (count == 1 ? "" : "s");
}

class TextInspector {
public:
  TextInspector(const LoadedFile &file, const InspectOptions &options)
      : file(file), program(*file.program), view(program), options(options) {}

  void print() {
    if (options.signature) {
      printSignature();
    }
    if (options.ops) {
      printOps();
    }
    if (options.constants) {
      printConstants();
    }
    if (options.kernels) {
      printKernels();
    }
    if (options.vectors) {
      printVectors();
    }
    if (options.locs) {
      printLocs();
    }
    if (options.sizes) {
      printLine("sizes: " + countText(program.ops.size(), "op") + ", " +
                countText(program.values.size(), "value") + ", " +
                countText(program.constants.size(), "constant") + ", file " +
                bytesText(file.bytes.size()));
    }
    if (options.sizes || options.segments) {
      printSegments();
    }
  }

private:
  void printSignature() {
    printLine("file " + options.file + ": " + bytesText(file.bytes.size()) + ", format " +
              file.formatVersion + ", written by " +
              (program.producer.empty() ? "an unknown program" : program.producer));
    for (const InputDef &input : program.inputs) {
      std::string line =
          (input.isState ? "state " : "input ") + input.name + ": " + view.typeText(input.value);
      if (input.isState && input.initialConstant != kNoIndex) {
        line += ", starts as " + constantText(program.constants[input.initialConstant]);
      }
      printLine(line);
    }
    for (const OutputDef &output : program.outputs) {
      bool isState = output.stateInput != kNoIndex;
      printLine("output " + output.name + ": " + view.typeText(output.value) +
                (isState ? ", the new " + program.inputs[output.stateInput].name : ""));
    }
    for (const SymbolDef &symbol : program.symbols) {
      printLine("size " + symbol.name + ": " + std::to_string(symbol.min) +
                (symbol.max == INT64_MAX ? " or more" : " to " + std::to_string(symbol.max)));
    }
    printSections();
    printContents();
  }

  void printSections() {
    printLine("section portable: " + countText(program.ops.size(), "op"));
    for (size_t s = 0; s < program.sections.size(); ++s) {
      const NativeSection &section = program.sections[s];
      printLine("section " + std::string(targetName(section.target)) + ": " +
                countText(section.kernels.size(), "kernel") + " for " +
                std::to_string(view.coveredCount(s)) + " of " +
                countText(program.ops.size(), "op") + ", " + bytesText(section.code.size()) +
                " of code" + (supports(section.target) ? "" : ", not for this machine"));
    }
  }

  void printContents() {
    uint64_t weights = 0;
    for (const ConstantDef &constant : program.constants) {
      weights += static_cast<uint64_t>(constant.type.byteCount());
    }
    printLine("constants: " + grouped(program.constants.size()) + ", " + bytesText(weights));
    if (program.testVectors.empty()) {
      printLine("test vectors: none");
    }
    for (const TestVector &vector : program.testVectors) {
      printLine("test vector: " + vector.origin);
    }
    if (!program.userInfo.empty()) {
      printLine("user info: " + program.userInfo);
    }
    for (const std::string &line : program.ledger) {
      printLine("frozen: " + line);
    }
  }

  static std::string constantText(const ConstantDef &constant) {
    return valuesText(tensorOf(constant.type, constant.data), kShownElements);
  }

  void printOps() {
    std::vector<Row> rows;
    for (OpIndex i = 0; i < program.ops.size(); ++i) {
      const OpDef &op = program.ops[i];
      std::string results, types, outputs;
      for (ValueId result : op.results) {
        results += (results.empty() ? "" : ", ") + view.valueName(result);
        types += (types.empty() ? "" : ", ") + view.typeText(result);
        std::string named = view.outputsOf(result);
        outputs += named.empty() ? "" : (outputs.empty() ? "-> " : ", ") + named;
      }
      std::string sources;
      for (uint32_t source : op.sourceOps) {
        sources += (sources.empty() ? "#" : ",#") + std::to_string(source);
      }
      rows.push_back({results + " = " + view.expression(op), types, view.kernelText(i),
                      op.inPlace ? "in place" : "", outputs, sources, view.locText(op)});
    }
    printLine("ops: result, type, where it runs, recorded ops, line");
    printTable(std::move(rows));
  }

  void printConstants() {
    printLine("constants: type, place in the file, values");
    std::vector<Row> rows;
    for (const ConstantDef &constant : program.constants) {
      rows.push_back({view.valueName(constant.value), constant.type.str(),
                      "at " + grouped(file.offsetOf(constant.data)),
                      bytesText(static_cast<uint64_t>(constant.type.byteCount())),
                      constantText(constant)});
    }
    printTable(std::move(rows));
  }

  void printKernels() {
    for (size_t s = 0; s < program.sections.size(); ++s) {
      const NativeSection &section = program.sections[s];
      for (size_t k = 0; k < section.kernels.size(); ++k) {
        printKernel(s, k);
      }
    }
    if (program.sections.empty()) {
      printLine("kernels: none, the file has only the portable section");
    }
  }

  void printKernel(size_t s, size_t k) {
    const KernelDef &kernel = program.sections[s].kernels[k];
    std::string domain =
        kernel.domainValue == kNoIndex
            ? "the elements that are set"
            : view.typeText(kernel.domainValue) + " of " + view.valueName(kernel.domainValue);
    char cost[32];
    std::snprintf(cost, sizeof cost, "%.3g", static_cast<double>(kernel.nanosecondsPerElement));
    printLine("kernel " + kernel.name + " (" + std::string(targetName(program.sections[s].target)) +
              "): code at " + grouped(kernel.codeOffset) + ", over " + domain +
              (kernel.isFlat ? " as one axis" : "") + ", split " + splitName(kernel.split) + ", " +
              cost + " ns per element");
    std::vector<Row> rows;
    for (OpIndex op : view.coveredBy(s, k)) {
      rows.push_back(
          {"covers",
           view.valueName(program.ops[op].results[0]) + " = " + view.expression(program.ops[op]),
           view.locText(program.ops[op])});
    }
    for (const KernelAccess &access : kernel.accesses) {
      rows.push_back({accessName(access.kind),
                      view.operandText(access.value) + ": " + view.typeText(access.value),
                      std::string(strideName(access.innerStride)) + " stride"});
    }
    printTable(std::move(rows));
  }

  void printVectors() {
    for (size_t v = 0; v < program.testVectors.size(); ++v) {
      const TestVector &vector = program.testVectors[v];
      printLine("test vector " + std::to_string(v) + ": " + vector.origin);
      std::vector<Row> rows;
      for (size_t i = 0; i < vector.inputs.size(); ++i) {
        rows.push_back(tensorRow("input", program.inputs[i].name, vector.inputs[i]));
      }
      for (size_t i = 0; i < vector.outputs.size(); ++i) {
        rows.push_back(tensorRow("output", program.outputs[i].name, vector.outputs[i]));
      }
      printTable(std::move(rows));
    }
    if (program.testVectors.empty()) {
      printLine("test vectors: none");
    }
  }

  static Row tensorRow(const char *what, const std::string &name, const TestTensor &tensor) {
    return {what, name, tensor.type.str(),
            valuesText(tensorOf(tensor.type, tensor.data), kShownElements)};
  }

  void printLocs() {
    printLine("lines: ops recorded there");
    std::vector<Row> rows;
    std::vector<std::string> ops(program.locs.size());
    for (const OpDef &op : program.ops) {
      if (op.loc != kNoIndex) {
        ops[op.loc] += (ops[op.loc].empty() ? "" : " ") + std::string(op.call.info().name);
      }
    }
    for (uint32_t i = 0; i < program.locs.size(); ++i) {
      const std::string &name = program.locs[i].file;
      rows.push_back({name + ":" + std::to_string(program.locs[i].line), ops[i]});
    }
    printTable(std::move(rows));
  }

  void printSegments() {
    printLine("segments: place in the file, bytes, hash");
    std::vector<Row> rows;
    for (const FileSegment &segment : file.segments) {
      char hash[20];
      std::snprintf(hash, sizeof hash, "%016" PRIx64, segment.hash);
      rows.push_back({segment.kind, "at " + grouped(segment.offset), bytesText(segment.length),
                      segment.length == 0 ? "" : hash});
    }
    printTable(std::move(rows));
  }

  const LoadedFile &file;
  const Program &program;
  ProgramView view;
  const InspectOptions &options;
};

} // namespace

void inspectText(const LoadedFile &file, const InspectOptions &options) {
  TextInspector(file, options).print();
}

} // namespace cli
