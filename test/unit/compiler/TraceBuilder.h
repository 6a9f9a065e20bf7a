/// Builds TraceGraphs for tests the way the recorder does: types by the type rules, sizes dynamic
/// where the test says so.
///
///   TraceBuilder b; auto x = b.input({DType::Float32, {100}}, {kUnknownDim});
///   auto y = b.op(OpKind::exp, {}, {x}); b.output(y);
#pragma once

#include "../IndexItemKit.h"
#include "tracec/TraceGraph.h"
#include "tracert/OpRules.h"

namespace tracec {

class TraceBuilder {
public:
  TraceGraph graph;

  VarId input(const tracert::TensorType &recorded, const tracert::Dims &dims = {});
  template <class T>
  VarId constant(tracert::DType dtype, tracert::Dims shape, std::vector<T> data) {
    auto owner = std::make_shared<std::vector<T>>(std::move(data));
    VarId var = addVar({dtype, shape}, shape);
    graph.constants.push_back({var, owner->data(), owner});
    return var;
  }
  VarId constantF32(float value) { return constant<float>(tracert::DType::Float32, {}, {value}); }
  /// Adds an op with result types from the type rule; `line` is its Python line.
  VarId op(tracert::OpKind kind, tracert::AttrList attrs, std::vector<VarId> operands);
  VarId index(tracert::OpKind kind, std::vector<tracert::IndexItem> items,
              std::vector<VarId> operands);
  void output(VarId var);

private:
  VarId addVar(tracert::TensorType type, tracert::Dims dims);
};

using tracert::test::slice;
tracert::IndexItem fullSlice();
tracert::IndexItem mask(int rank);
tracert::IndexItem intArray();

} // namespace tracec
