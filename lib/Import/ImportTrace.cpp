#include "Import/ImportTrace.h"

#include "trace/IR/ConstantData.h"
#include "trace/Transforms/SizeAnalysis.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using tracert::Result;
using tracert::Status;

namespace tracec {

namespace {

class Importer {
public:
  Importer(const TraceGraph &graph, MLIRContext *context)
      : graph(graph), context(context), builder(context), values(graph.vars.size()) {}

  Result<OwningOpRef<ModuleOp>> run() {
    OwningOpRef<ModuleOp> module = ModuleOp::create(builder.getUnknownLoc());
    builder.setInsertionPointToEnd(module->getBody());
    auto function = func::FuncOp::create(builder, builder.getUnknownLoc(), graph.name,
                                         builder.getFunctionType({}, {}));
    Block *block = function.addEntryBlock();
    builder.setInsertionPointToStart(block);
    for (auto [index, var] : llvm::enumerate(graph.inputs)) {
      values[var] = block->addArgument(typeOf(var), builder.getUnknownLoc());
    }
    for (auto [index, constant] : llvm::enumerate(graph.constants)) {
      addConstant(index, constant);
    }
    for (const TraceOp &op : graph.ops) {
      TRACERT_TRY(addOp(op));
    }
    SmallVector<Value> outputs;
    for (VarId var : graph.outputs) {
      if (!values[var]) {
        return Status::internal("output %" + std::to_string(var) + " of the trace is not defined");
      }
      outputs.push_back(values[var]);
    }
    func::ReturnOp::create(builder, builder.getUnknownLoc(), outputs);
    function.setType(builder.getFunctionType(block->getArgumentTypes(), TypeRange(outputs)));
    nameSignature(function);
    return module;
  }

private:
  RankedTensorType typeOf(VarId var) const {
    return trace::mlirTypeOf(context, {graph.vars[var].type.dtype, graph.vars[var].dims});
  }

  void nameSignature(func::FuncOp function) {
    for (auto [index, var] : llvm::enumerate(graph.inputs)) {
      if (index < graph.inputNames.size()) {
        function.setArgAttr(index, trace::kNameAttr,
                            builder.getStringAttr(graph.inputNames[index]));
      }
      if (InputStrides strides = graph.vars[var].strides; strides != InputStrides::Contiguous) {
        bool isInner = strides == InputStrides::InnerContiguous;
        function.setArgAttr(index, trace::kStridesAttr,
                            builder.getStringAttr(isInner ? "inner" : "any"));
      }
      const tracert::Dims &shape = graph.vars[var].type.shape;
      if (!cast<RankedTensorType>(function.getArgument(index).getType()).hasStaticShape()) {
        function.setArgAttr(index, trace::kRecordedShapeAttr,
                            builder.getDenseI64ArrayAttr({shape.data(), shape.size()}));
      }
    }
    for (auto [index, numbers] : llvm::enumerate(graph.sizeNumbers)) {
      if (!cast<RankedTensorType>(function.getArgument(index).getType()).hasStaticShape()) {
        function.setArgAttr(index, trace::kSymbolsAttr, builder.getDenseI64ArrayAttr(numbers));
      }
    }
    if (!graph.sizeNumbers.empty()) {
      function->setAttr(trace::kGivenSymbolsAttr, builder.getUnitAttr());
    }
    for (auto [index, name] : llvm::enumerate(graph.outputNames)) {
      function.setResultAttr(index, trace::kNameAttr, builder.getStringAttr(name));
    }
  }

  void addConstant(size_t index, const TraceConstant &constant) {
    const tracert::TensorType &type = graph.vars[constant.var].type;
    RankedTensorType mlirType = trace::mlirTypeOf(context, type);
    size_t bytes = static_cast<size_t>(type.byteCount());
    ElementsAttr inlineValue;
    IntegerAttr externalIndex;
    if (bytes <= kLargestInlineBytes) {
      inlineValue = trace::elementsFromBytes(
          mlirType, StringRef(static_cast<const char *>(constant.data), bytes));
    } else {
      externalIndex = builder.getI64IntegerAttr(index);
    }
    values[constant.var] = trace::ConstantOp::create(builder, builder.getUnknownLoc(), mlirType,
                                                     inlineValue, externalIndex)
                               .getResult();
  }

  Location locOf(const TraceOp &op) {
    if (op.loc.file.empty()) {
      return builder.getUnknownLoc();
    }
    return FileLineColLoc::get(context, op.loc.file, std::max(op.loc.line, 0), 0);
  }

  Status addOp(const TraceOp &op) {
    SmallVector<Value> operands;
    for (VarId var : op.operands) {
      if (!values[var]) {
        return Status::internal("op #" + std::to_string(op.id) + " of the trace reads %" +
                                std::to_string(var) + " before it is defined");
      }
      operands.push_back(values[var]);
    }
    SmallVector<Type> types;
    for (VarId var : op.results) {
      types.push_back(typeOf(var));
    }
    Operation *created = trace::createOp(builder, locOf(op), op.call, operands, types,
                                         {static_cast<int64_t>(op.id)});
    if (op.indexMode == tracert::IndexMode::Unchecked && trace::indexItemsOf(created)) {
      created->setInherentAttr(builder.getStringAttr("unchecked"), builder.getUnitAttr());
    }
    for (auto [var, result] : llvm::zip(op.results, created->getResults())) {
      values[var] = result;
    }
    return {};
  }

  const TraceGraph &graph;
  MLIRContext *context;
  OpBuilder builder;
  std::vector<Value> values;
};

} // namespace

Result<OwningOpRef<ModuleOp>> importTrace(const TraceGraph &graph, MLIRContext *context) {
  return Importer(graph, context).run();
}

} // namespace tracec
