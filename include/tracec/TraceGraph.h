/// TraceGraph: what the recorder recorded, in plain C++. The compiler library imports it into the
/// trace dialect; `tracec compile` builds the same thing from .mlir text.
///
/// Variables are numbered in definition order. Sizes: `type` is what was seen while recording;
/// `dims` says which sizes the compiled program may rely on (kUnknownDim: it may change from call
/// to call; a size of 1 is always static).
#pragma once

#include "tracert/Program.h"

#include <memory>
#include <string>
#include <vector>

namespace tracec {

using VarId = uint32_t;

/// Strides of an input: all elements in a row, elements of the last axis in a row, or anything.
enum class InputStrides : uint8_t { Contiguous = 0, InnerContiguous = 1, Any = 2 };

struct TraceVar {
  tracert::TensorType type;
  tracert::Dims dims;
  /// Of an input: what code is made for; a call with other strides runs op by op.
  InputStrides strides = InputStrides::Contiguous;
};

struct TraceConstant {
  VarId var = 0;
  /// Contiguous bytes of the var's type.
  const void *data = nullptr;
  std::shared_ptr<const void> owner;
};

struct TraceOp {
  tracert::OpCall call;
  std::vector<VarId> operands;
  std::vector<VarId> results;
  /// The user's Python line.
  tracert::SourceLoc loc;
  tracert::IndexMode indexMode = tracert::IndexMode::Checked;
  /// Number in the whole trace (a segment's graph keeps the trace's numbers).
  uint32_t id = 0;
};

struct TraceGraph {
  std::string name = "main";
  std::vector<TraceVar> vars;
  std::vector<VarId> inputs;
  std::vector<std::string> inputNames;
  /// Per input and axis a number, equal where the program's door compares the sizes (-1: static).
  /// Empty: the door compares those that meet in the program, which the compiler finds out.
  std::vector<std::vector<int64_t>> sizeNumbers;
  std::vector<TraceConstant> constants;
  std::vector<TraceOp> ops;
  std::vector<VarId> outputs;
  std::vector<std::string> outputNames;
};

} // namespace tracec
