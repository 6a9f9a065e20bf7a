// Ops of the trace dialect that are not ops of the program: constants and fusion groups. They have
// no row in the list of ops (TraceOps.td), no kernel and no type rule.

#ifndef TRACEC_TRACE_STRUCTURE_TD
#define TRACEC_TRACE_STRUCTURE_TD

include "dialects/trace/IR/TraceBase.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"

def Trace_ConstantOp : Op<Trace_Dialect, "constant", [Pure]> {
  let summary = "a weight or another value fixed when the trace was recorded";
  let description = [{
    The value is either written out, or `external`: number `index` in the table of constants that
    travels beside the module, so that weights are never copied into attributes.

    ```mlir
    %two = trace.constant dense<2.0> : tensor<f32>
    %weights = trace.constant external 0 : tensor<768x768xf32>
    ```
  }];
  let arguments = (ins OptionalAttr<ElementsAttr>:$value, OptionalAttr<I64Attr>:$index);
  let results = (outs Trace_Tensor:$result);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def Trace_GroupOp : Op<Trace_Dialect, "group",
                       [SingleBlockImplicitTerminator<"YieldOp">, NoRegionArguments,
                        RecursiveMemoryEffects]> {
  let summary = "ops that become one kernel";
  let description = [{
    Made by trace-fuse. The body reads values of the function directly; results are the values that
    are used outside. Results of ops that count elements of a mask are compacted where they are
    stored or reduced, never before.
  }];
  let results = (outs Variadic<Trace_Tensor>:$outputs);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$body attr-dict (`:` type($outputs)^)?";
  let hasVerifier = 1;
}

def Trace_YieldOp : Op<Trace_Dialect, "yield", [Pure, Terminator, ParentOneOf<["GroupOp"]>]> {
  let summary = "the results of a group";
  let arguments = (ins Variadic<Trace_Tensor>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
  let builders = [OpBuilder<(ins), [{ build($_builder, $_state, ::mlir::ValueRange()); }]>];
}

#endif
