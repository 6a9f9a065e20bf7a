#ifndef TRACEC_TRACE_PASSES_TD
#define TRACEC_TRACE_PASSES_TD

include "mlir/Pass/PassBase.td"

def NameSizesPass : Pass<"trace-name-sizes", "::mlir::func::FuncOp"> {
  let summary = "give each dynamic size of an input a symbol; sizes that meet get the same one";
  let description = [{
    Writes `trace.symbols` on arguments, and `trace.fixed_sizes` on the function (by symbol, -1 for
    free ones) where a symbol meets a static size. The program checks them at its door, so later
    passes may rely on them. Runs first, while every broadcast of the recorded program is there. With
    `trace.symbols_given` only sizes that came with one symbol are equal.
    Example: test/trace/Transforms/name-sizes.mlir.
  }];
}

def DecomposePass : Pass<"trace-decompose", "::mlir::func::FuncOp"> {
  let summary = "replace composite ops by the ops they are made of";
  let description = [{
    The parts carry the composite's line and op number. Does nothing to ops that are not composite.
    Example: test/trace/Transforms/decompose.mlir.
  }];
  let dependentDialects = ["::tracec::trace::TraceDialect"];
}

def FoldPass : Pass<"trace-fold", "::mlir::func::FuncOp"> {
  let summary = "remove ops that change nothing and compute small constants";
  let description = [{
    Casts to the same dtype, identity views, views of views, sets of everything. An op on constants
    is run with its library kernel when its result is small, so the bits are eager's. An op that can
    fail on data is left alone. Example: test/trace/Transforms/fold.mlir.
  }];
  let dependentDialects = ["::tracec::trace::TraceDialect"];
}

def ComposeIndexingPass : Pass<"trace-compose-indexing", "::mlir::func::FuncOp"> {
  let summary = "merge chains of index ops and move views towards their source";
  let description = [{
    1. A subtensor of a subtensor becomes one, where bounds compose for every size.
    2. Slices of the axes that a gather keeps are taken before the gather.
    3. A view of a pointwise result with no other use is applied to the operands instead.
    4. A read of exactly what was just set becomes the value.
    5. A masked set of a value that does not span the count becomes where.
    Index checks are kept, in their order and with the axes and sizes that the user would see. Does
    nothing where that cannot be guaranteed. Example: test/trace/Transforms/compose-indexing.mlir.
  }];
  let dependentDialects = ["::tracec::trace::TraceDialect"];
}

def EliminateCommonOpsPass : Pass<"trace-eliminate-common-ops", "::mlir::func::FuncOp"> {
  let summary = "keep one of several equal ops";
  let description = [{
    The one that is kept carries the op numbers of all. Operands of commutative ops compare in any
    order. Example: test/trace/Transforms/eliminate-common-ops.mlir.
  }];
  let dependentDialects = ["::tracec::trace::TraceDialect"];
}

def EliminateDeadOpsPass : Pass<"trace-eliminate-dead-ops", "::mlir::func::FuncOp"> {
  let summary = "remove ops whose results are unused and that cannot fail";
  let description = [{
    An op whose error hangs on data, on a count or on sizes that nothing proves to fit stays for its
    check; what it computes is not needed. Example: test/trace/Transforms/eliminate-dead-ops.mlir.
  }];
  let dependentDialects = ["::tracec::trace::TraceDialect"];
}

def MarkInPlacePass : Pass<"trace-mark-in-place", "::mlir::func::FuncOp"> {
  let summary = "mark sets whose old value is dead";
  let description = [{
    A set is marked `in_place` when nothing after it reads the memory of its old value, directly or
    through a view. Sets of a view are not marked. Example: test/trace/Transforms/mark-in-place.mlir.
  }];
  let dependentDialects = ["::tracec::trace::TraceDialect"];
}

def FusePass : Pass<"trace-fuse", "::mlir::func::FuncOp"> {
  let summary = "cut the graph into groups that become one kernel each";
  let description = [{
    One walk in program order; an op joins the group of an operand when the iteration domains agree
    and the cut stays free of cycles, also through memory that a set overwrites. Ops are reordered
    only as far as the groups ask. Example: test/trace/Transforms/fuse.mlir.
  }];
  let options = [
    Option<"groupEachOp", "group-each-op", "bool", "false", "one group per op, no fusion">
  ];
  let dependentDialects = ["::tracec::trace::TraceDialect"];
}

#endif
