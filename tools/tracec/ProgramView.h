/// What a reader wants to know of a program: names of values, operands in words, which kernel
/// covers an op.
///
///   ProgramView view(*file.program);
///   view.expression(op)   // "mul(%x, 0.25)"
///   view.kernelText(3)    // "map_0", "library", "view"
#pragma once

#include "Verbs/Tensors.h"
#include "tracert/Program.h"

namespace cli {

class ProgramView {
public:
  explicit ProgramView(const tracert::Program &program);

  /// "%x" for an input, "%w0" for a weight, "%7" for what an op computes.
  const std::string &valueName(tracert::ValueId value) const { return names[value]; }
  /// The value of a small constant, else valueName.
  std::string operandText(tracert::ValueId value) const;
  /// "float32[n,4]"; "?" for sizes that hang on data.
  std::string typeText(tracert::ValueId value) const;
  /// Of one axis: a number, the name of a size, or "?".
  std::string sizeText(tracert::ValueId value, size_t axis) const;
  /// The op with its operands and attributes.
  std::string expression(const tracert::OpDef &op) const;
  /// "a, b" of the outputs that are this value; "" for none.
  const std::string &outputsOf(tracert::ValueId value) const { return outputs[value]; }

  /// The kernel of section `section` that covers an op, or -1.
  int kernelOf(size_t section, tracert::OpIndex op) const { return coverage[section][op]; }
  /// Where an op runs, over all native sections; "" when there are none.
  std::string kernelText(tracert::OpIndex op) const;
  /// Ops that a kernel covers, in order.
  const std::vector<tracert::OpIndex> &coveredBy(size_t section, size_t kernel) const {
    return covered[section][kernel];
  }
  size_t coveredCount(size_t section) const;

  /// "model.py:12", or with the whole path; "" without a location.
  std::string locText(const tracert::OpDef &op, bool isWholePath = false) const;

  const tracert::Program &program;

private:
  std::vector<std::string> names;
  /// By value: index into program.constants, or -1.
  std::vector<int> constantOf;
  /// By value: input with that value, or -1.
  std::vector<int> inputOf;
  /// By value.
  std::vector<std::string> outputs;
  /// By section and op: a kernel or -1; by section and kernel: ops.
  std::vector<std::vector<int>> coverage;
  std::vector<std::vector<std::vector<tracert::OpIndex>>> covered;
};

/// A tensor of the program as the C API has it; points into `type`.
trt_tensor tensorOf(const tracert::TensorType &type, const void *data);
/// "0.25", "[1, 2, 3]", "[[1, 2], [3, 4]]"; at most `limit` elements, then "...".
std::string valuesText(const trt_tensor &tensor, int64_t limit);
std::string scalarText(const tracert::Scalar &scalar);

const char *accessName(tracert::AccessKind kind);
const char *strideName(tracert::InnerStride stride);
const char *splitName(tracert::KernelSplit split);

} // namespace cli
