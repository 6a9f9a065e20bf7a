#include "TraceBuilder.h"

#include <cstdio>
#include <cstdlib>

namespace tracec {

using namespace tracert;

VarId TraceBuilder::addVar(TensorType type, Dims dims) {
  graph.vars.push_back({std::move(type), std::move(dims)});
  return static_cast<VarId>(graph.vars.size() - 1);
}

VarId TraceBuilder::input(const TensorType &recorded, const Dims &dims) {
  VarId var = addVar(recorded, dims.empty() ? recorded.shape : dims);
  graph.inputs.push_back(var);
  graph.inputNames.push_back("x" + std::to_string(graph.inputs.size() - 1));
  return var;
}

VarId TraceBuilder::op(OpKind kind, AttrList attrs, std::vector<VarId> operands) {
  OpCall call{kind, std::move(attrs)};
  std::vector<OperandInfo> recorded, symbolic;
  for (VarId var : operands) {
    recorded.push_back({graph.vars[var].type});
    symbolic.push_back({{graph.vars[var].type.dtype, graph.vars[var].dims}});
  }
  auto types = inferTypes(call, recorded);
  auto dims = inferTypes(call, symbolic);
  if (!types.ok() || !dims.ok()) {
    std::fprintf(stderr, "%s\n", (types.ok() ? dims : types).status().message().c_str());
    std::abort();
  }
  TraceOp op;
  op.operands = std::move(operands);
  for (size_t i = 0; i < types->size(); ++i) {
    op.results.push_back(addVar((*types)[i], (*dims)[i].shape));
  }
  op.call = std::move(call);
  op.id = static_cast<uint32_t>(graph.ops.size());
  op.loc = {"model.py", static_cast<int32_t>(op.id) + 10};
  graph.ops.push_back(op);
  return op.results[0];
}

VarId TraceBuilder::index(OpKind kind, std::vector<IndexItem> items, std::vector<VarId> operands) {
  auto shared = std::make_shared<IndexItems>();
  shared->items = std::move(items);
  return op(kind, {AttrValue::index(shared)}, std::move(operands));
}

void TraceBuilder::output(VarId var) {
  graph.outputs.push_back(var);
  graph.outputNames.push_back("y" + std::to_string(graph.outputs.size() - 1));
}

IndexItem fullSlice() { return IndexItem(); }

IndexItem mask(int rank) { return test::maskItem(static_cast<uint8_t>(rank)); }

IndexItem intArray() { return test::arrayItem(); }

} // namespace tracec
