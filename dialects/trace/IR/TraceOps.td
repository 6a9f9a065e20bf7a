// The only list of ops. Families are classes; a record says what is particular to the op.

#ifndef TRACEC_TRACE_OPS_TD
#define TRACEC_TRACE_OPS_TD

include "dialects/trace/IR/TraceBase.td"

//===----------------------------------------------------------------------===//
// Pointwise families: operands broadcast; scalar meaning in runtime/scalar under the op's name
//===----------------------------------------------------------------------===//

class Trace_PointwiseOp<string mnemonic, string family, string doc, DTypeSet allowed,
                        Oracle reference, list<string> more = []>
    : Trace_Op<mnemonic, family, [Pure]> {
  let summary = doc;
  let dtypes = allowed;
  let oracle = reference;
  let runtimeTraits = !listconcat(["Pointwise"], more);
}
class Trace_UnaryOp<string mnemonic, string doc, DTypeSet allowed, Oracle reference,
                    string family = "Elementwise">
    : Trace_PointwiseOp<mnemonic, family, doc, allowed, reference> {
  let assemblyFormat = "$x attr-dict `:` functional-type(operands, results)";
}
class Trace_BinaryOp<string mnemonic, string doc, DTypeSet allowed, Oracle reference,
                     list<string> more = [], string family = "Elementwise">
    : Trace_PointwiseOp<mnemonic, family, doc, allowed, reference, more> {
  let pythonOperands = ["x", "y"];
  let operandDag = (ins Trace_Tensor:$x, Trace_Tensor:$y);
  let assemblyFormat = "$x `,` $y attr-dict `:` functional-type(operands, results)";
}
class Trace_CompareOp<string mnemonic, string doc, Oracle reference, list<string> more = []>
    : Trace_BinaryOp<mnemonic, doc, AllDTypes, reference, more, "Compare"> {
  let resultDTypes = [AlwaysBool];
  let gradient = NoGradient<"a bool">;
}

def Trace_AddOp
    : Trace_BinaryOp<"add", "sum of two tensors, elementwise; logical or of bools", AllDTypes, Oracle<"add">, ["Commutative"]> {
  let errorBound = RoundedOnce;
  let sizeMath = "sum";
}
def Trace_SubOp
    : Trace_BinaryOp<"sub", "difference of two tensors, elementwise", NumericDTypes, Oracle<"subtract">> {
  let errorBound = RoundedOnce;
  let sizeMath = "difference";
}
def Trace_MulOp
    : Trace_BinaryOp<"mul", "product of two tensors, elementwise; logical and of bools", AllDTypes, Oracle<"multiply">, ["Commutative"]> {
  let errorBound = RoundedOnce;
  let sizeMath = "times";
}
def Trace_DivOp
    : Trace_BinaryOp<"div", "true quotient of two tensors, elementwise", FloatDTypes, Oracle<"divide">> {
  let errorBound = RoundedOnce;
}
def Trace_MinimumOp
    : Trace_BinaryOp<"minimum", "smaller of two elements; NaN wins, -0.0 is below +0.0", AllDTypes, Oracle<"minimum">, ["Commutative"]> {
  let sizeMath = "smaller";
}
def Trace_MaximumOp
    : Trace_BinaryOp<"maximum", "larger of two elements; NaN wins, -0.0 is below +0.0", AllDTypes, Oracle<"maximum">, ["Commutative"]> {
  let sizeMath = "larger";
}
def Trace_ExpOp
    : Trace_UnaryOp<"exp", "e to the power of each element", FloatDTypes, Oracle<"exp", 1>> {
  let errorBound = ErrorBound<"0.501", "0.99", "1.02">;
}
def Trace_LogOp
    : Trace_UnaryOp<"log", "natural logarithm of each element; -inf of zeros, NaN below", FloatDTypes, Oracle<"log", 1>> {
  let errorBound = ErrorBound<"0.501", "0.84", "0.9">;
}
def Trace_TanhOp
    : Trace_UnaryOp<"tanh", "hyperbolic tangent of each element", FloatDTypes, Oracle<"tanh", 1>> {
  let errorBound = ErrorBound<"0.501", "0.76", "0.85">;
}
def Trace_SqrtOp
    : Trace_UnaryOp<"sqrt", "square root of each element, correctly rounded", FloatDTypes, Oracle<"sqrt">> {
  let errorBound = RoundedOnce;
}
def Trace_SquareOp : Trace_UnaryOp<"square", "each element times itself", NumericDTypes, Oracle<"square">> {
  let errorBound = RoundedOnce;
}

def Trace_EqOp
    : Trace_CompareOp<"eq", "whether elements are equal", Oracle<"equal">, ["Commutative"]>;
def Trace_NeOp
    : Trace_CompareOp<"ne", "whether elements differ", Oracle<"not_equal">, ["Commutative"]>;
def Trace_LtOp
    : Trace_CompareOp<"lt", "whether the first element is less than the second", Oracle<"less">>;
def Trace_LeOp
    : Trace_CompareOp<"le", "whether the first element is at most the second", Oracle<"less_equal">>;
def Trace_GtOp
    : Trace_CompareOp<"gt", "whether the first element is greater than the second", Oracle<"greater">>;
def Trace_GeOp
    : Trace_CompareOp<"ge", "whether the first element is at least the second", Oracle<"greater_equal">>;

def Trace_LogicalAndOp
    : Trace_BinaryOp<"logical_and", "whether both elements are true", BoolDType, Oracle<"logical_and">, ["Commutative"], "Logical"> {
  let gradient = NoGradient<"a bool">;
}
def Trace_LogicalOrOp
    : Trace_BinaryOp<"logical_or", "whether either element is true", BoolDType, Oracle<"logical_or">, ["Commutative"], "Logical"> {
  let gradient = NoGradient<"a bool">;
}
def Trace_LogicalNotOp
    : Trace_UnaryOp<"logical_not", "whether the element is false", BoolDType, Oracle<"logical_not">, "Logical"> {
  let gradient = NoGradient<"a bool">;
}

def Trace_WhereOp : Trace_Op<"where", "Select", [Pure]> {
  let summary = "elements of x where the condition is true, of y elsewhere";
  let runtimeTraits = ["Pointwise"];
  let operandDTypes = [BoolDType, AllDTypes, AllDTypes];
  let resultDTypes = [SameAs1];
  let pythonOperands = ["condition", "x", "y"];
  let operandDag = (ins Trace_Tensor:$condition, Trace_Tensor:$x, Trace_Tensor:$y);
  let assemblyFormat = "$condition `,` $x `,` $y attr-dict `:` functional-type(operands, results)";
  let oracle = Oracle<"where">;
}

def Trace_CastOp : Trace_Op<"cast", "Cast", [Pure]> {
  let summary = "elements converted to another dtype; float to int truncates and saturates";
  let runtimeTraits = ["Pointwise"];
  let opAttrs = [DTypeAttr<"dtype", "the result's dtype">];
  let resultDTypes = [FromDTypeAttr];
  let assemblyFormat = "$x `to` $dtype attr-dict `:` functional-type(operands, results)";
}

//===----------------------------------------------------------------------===//
// Reductions: fixed order, see runtime/scalar/Numbers.md
//===----------------------------------------------------------------------===//

class Trace_ReduceOp<string mnemonic, Combiner how = NoCombiner>
    : Trace_Op<mnemonic, "Reduce", [Pure]> {
  let combiner = how;
  let pythonMethod = 1;
  let opAttrs = [IntsAttr<"axes", "reduced axes, non-negative, ascending", "None">,
                 FlagAttr<"keepdims", "keep reduced axes with size 1", "False">];
  let assemblyFormat = [{
    $x `axes` $axes `keepdims` $keepdims attr-dict `:` functional-type(operands, results)
  }];
}
def Trace_SumOp : Trace_ReduceOp<"sum", Combiner<"add", "Zero", 1, "Zero">> {
  let summary = "sum of elements along the given axes; bool and signed integers sum in int64, unsigned ones in uint64";
  let resultDTypes = [Widened];
  let oracle = Oracle<"sum", 64>;
}
def Trace_MeanOp : Trace_ReduceOp<"mean"> {
  let summary = "mean of elements along the given axes; of integers in float32 (of 64 bits: float64)";
  let runtimeTraits = ["Composite"];
  let resultDTypes = [Averaged];
  let gradient = GradientOfParts;
  let oracle = Oracle<"mean", 64>;
}
def Trace_MaxOp : Trace_ReduceOp<"max", Combiner<"maximum", "Lowest", 0, "Error">> {
  let summary = "largest element along the given axes; NaN wins; an empty axis is an error";
  let oracle = Oracle<"max">;
}

def Trace_MinOp : Trace_ReduceOp<"min", Combiner<"minimum", "Highest", 0, "Error">> {
  let summary = "smallest element along the given axes; NaN wins; an empty axis is an error";
  let oracle = Oracle<"min">;
}

// Positions count the elements of the reduced axes in C order.
class Trace_ArgReduceOp<string mnemonic, string comparison>
    : Trace_ReduceOp<mnemonic, Combiner<comparison, "First", 0, "Error", 1>> {
  let resultDTypes = [AlwaysInt64];
  let gradient = NoGradient<"a position">;
  let noKernel = "a kernel's reductions carry one value, and this one a value and its position";
}
def Trace_ArgmaxOp : Trace_ArgReduceOp<"argmax", "gt"> {
  let summary = "position of the first largest element along the given axes; of the first NaN if there is one";
  let oracle = Oracle<"argmax">;
}

def Trace_AxisSizeOp : Trace_Op<"axis_size", "Size", [Pure]> {
  let summary = "product of the sizes of the given axes, an int64 of rank 0";
  let runtimeTraits = ["SizeOnly"];
  let resultDTypes = [AlwaysInt64];
  let gradient = NoGradient<"a size">;
  let opAttrs = [IntsAttr<"axes", "axes whose sizes are multiplied, non-negative, ascending">];
  let pythonName = "-";
  let noKernel = "a size: computed while planning";
  let assemblyFormat = "$x `axes` $axes attr-dict `:` functional-type(operands, results)";
}

//===----------------------------------------------------------------------===//
// Guards: what a record took for granted about sizes and strides
//===----------------------------------------------------------------------===//

// No data and no use of the result, a 0: the op is there to refuse a call that eager code would
// take another way. The effect keeps it from being removed.
class Trace_GuardOp<string mnemonic, list<string> traitNames = ["SizeOnly", "MayFail"]>
    : Trace_Op<mnemonic, "Guard", [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let runtimeTraits = traitNames;
  let resultDTypes = [AlwaysInt64];
  let gradient = NoGradient<"a check">;
  let pythonName = "-";
  let noKernel = "a check of sizes: made while planning";
  let extraClassDefinition = [{
    ::llvm::LogicalResult $cppClass::verify() { return ::tracec::trace::verifyTypeRule(*this); }
    void $cppClass::getEffects(
        ::llvm::SmallVectorImpl<::mlir::MemoryEffects::EffectInstance> &effects) {
      ::tracec::trace::addCheckEffects(*this, effects);
    }
  }];
}
def Trace_GuardOneOp : Trace_GuardOp<"guard_one"> {
  let summary = "an error unless the size of an axis is 1, or is not 1, as it was when recorded";
  let opAttrs = [IntAttr<"axis", "the axis, non-negative">,
                 FlagAttr<"is_one", "whether the size was 1">];
  let assemblyFormat = [{
    $x `axis` $axis `is_one` $is_one attr-dict `:` functional-type(operands, results)
  }];
}
def Trace_GuardSameShapeOp : Trace_GuardOp<"guard_same_shape"> {
  let summary = "an error unless an operator in place kept the shape of x in its result y";
  let pythonOperands = ["x", "y"];
  let operandDag = (ins Trace_Tensor:$x, Trace_Tensor:$y);
  let assemblyFormat = "$x `,` $y attr-dict `:` functional-type(operands, results)";
}
def Trace_GuardViewOp : Trace_GuardOp<"guard_view"> {
  let summary = "an error unless the last reshape of a chain of views is a view, or a copy, as it was when recorded";
  let description = [{
    `xs` are the value that the chain starts from, the result of each step, and the result of the
    reshape. Only their shapes matter. Entries of `layout`, per step: 0 for a reshape; 1 and then,
    per result axis, the operand's axis (or -1) and the step; 2 for a broadcast.
  }];
  let pythonOperands = ["*xs"];
  let operandDag = (ins Variadic<Trace_Tensor>:$xs);
  let opAttrs = [IntsAttr<"layout", "how each value lies in the one before it">,
                 FlagAttr<"of_input", "the first value has the strides that the caller gave; else it lies in order">,
                 FlagAttr<"is_view", "whether the reshape was a view">];
  let assemblyFormat = [{
    $xs `layout` $layout `of_input` $of_input `is_view` $is_view attr-dict `:`
    functional-type(operands, results)
  }];
}
def Trace_GuardFitsOp : Trace_GuardOp<"guard_fits", ["MayFail"]> {
  let summary = "an error unless a size fits the integer dtype in which it is stored";
  let dtypes = IntegerDTypes;
  let opAttrs = [DTypeAttr<"dtype", "an integer dtype">];
  let elementCheck = ElementCheck<0, "FitsDType">;
  let noKernel = "a check of one number: less than a launch";
  let assemblyFormat = "$x `in` $dtype attr-dict `:` functional-type(operands, results)";
}

//===----------------------------------------------------------------------===//
// Shape ops: views wherever strides allow
//===----------------------------------------------------------------------===//

class Trace_ShapeOp<string mnemonic, list<string> more = []>
    : Trace_Op<mnemonic, "Shape", [Pure]> {
  let noKernel = "a view: index arithmetic without a loop";
  let runtimeTraits = !listconcat(["View"], more);
}
class Trace_SizedShapeOp<string mnemonic, list<string> more = []>
    : Trace_ShapeOp<mnemonic, more> {
  let operandDag = (ins Trace_Tensor:$x, Variadic<Trace_Tensor>:$extras);
  let assemblyFormat = [{
    $x (`sizes` `(` $extras^ `)`)? `shape` $shape attr-dict `:` functional-type(operands, results)
  }];
}
def Trace_ReshapeOp : Trace_SizedShapeOp<"reshape", ["MayCopy", "KeepsOrder"]> {
  let summary = "the same elements in row-major order under another shape";
  let opAttrs = [ShapeAttr<"shape", "new sizes; one may be -1; kFromOperand takes a size operand">];
  let oracle = Oracle<"reshape">;
}
def Trace_BroadcastToOp : Trace_SizedShapeOp<"broadcast_to", ["Repeats"]> {
  let summary = "the tensor repeated along new axes and axes of size 1";
  let opAttrs = [ShapeAttr<"shape", "result sizes; kFromOperand takes a size operand">];
  let oracle = Oracle<"broadcast_to">;
}
def Trace_PermuteOp : Trace_ShapeOp<"permute", ["Permutes"]> {
  let summary = "the tensor with its axes reordered";
  let opAttrs = [IntsAttr<"axes", "result axis i is operand axis axes[i], all non-negative">];
  let assemblyFormat = "$x `axes` $axes attr-dict `:` functional-type(operands, results)";
  let oracle = Oracle<"transpose">;
}

def Trace_ConcatOp : Trace_Op<"concat", "Join", [Pure]> {
  let summary = "tensors joined along an existing axis";
  let pythonOperands = ["*xs"];
  let operandDag = (ins Variadic<Trace_Tensor>:$xs);
  let opAttrs = [IntAttr<"axis", "the axis that grows, non-negative", "0">];
  let noKernel = "a loop per operand; a kernel has one domain";
  let assemblyFormat = "$xs `axis` $axis attr-dict `:` functional-type(operands, results)";
  let oracle = Oracle<"concatenate">;
}

//===----------------------------------------------------------------------===//
// Creation
//===----------------------------------------------------------------------===//

def Trace_FullOp : Trace_Op<"full", "Create", [Pure]> {
  let summary = "a tensor filled with one value";
  let runtimeTraits = ["Fill"];
  let pythonOperands = [];
  let resultDTypes = [FromValueAttr];
  let gradient = NoGradient<"no operand">;
  let operandDag = (ins Variadic<Trace_Tensor>:$extras);
  let opAttrs = [ShapeAttr<"shape", "sizes; kFromOperand takes a size operand">,
                 ScalarAttr<"value", "the value; its dtype is the result's">];
  let noKernel = "a fill that only one kernel reads is part of that kernel; others are stored by the library";
  let assemblyFormat = [{
    (`sizes` `(` $extras^ `)`)? `shape` $shape `value` $value attr-dict `:`
    functional-type(operands, results)
  }];
  let oracle = Oracle<"full">;
}
def Trace_ArangeOp : Trace_Op<"arange", "Create", [Pure]> {
  let summary = "start + i * step for i from 0 to count - 1";
  let dtypes = NumericDTypes;
  let pythonOperands = [];
  let resultDTypes = [FromStartAttr];
  let gradient = NoGradient<"no operand">;
  let operandDag = (ins Variadic<Trace_Tensor>:$extras);
  let opAttrs = [ShapeAttr<"shape", "one size, the count; kFromOperand takes a size operand">,
                 ScalarAttr<"start", "first value; its dtype is the result's">,
                 ScalarAttr<"step", "distance between values, of the same dtype">];
  let noKernel = "the kernel dialect has no value for the position in the domain";
  let assemblyFormat = [{
    (`sizes` `(` $extras^ `)`)? `shape` $shape `start` $start `step` $step attr-dict `:`
    functional-type(operands, results)
  }];
  let oracle = Oracle<"arange">;
}

def Trace_MatmulOp : Trace_Op<"matmul", "Matmul", [Pure]> {
  let summary = "matrix product over the last two axes, leading axes broadcast";
  let pythonOperands = ["x", "y"];
  let operandDag = (ins Trace_Tensor:$x, Trace_Tensor:$y);
  let assemblyFormat = "$x `,` $y attr-dict `:` functional-type(operands, results)";
  let noKernel = "tiled and packed by its library kernel; the kernel dialect has no tiles";
  let oracle = Oracle<"matmul", 256>;
}

//===----------------------------------------------------------------------===//
// Indexing
//===----------------------------------------------------------------------===//

// Generic dead-code and common-subexpression removal must keep index checks, so an op that can fail
// has an effect on a resource of its own; slices alone never fail.
class Trace_IndexOp<string mnemonic, list<string> traitNames, dag execution = (ins)>
    : Trace_Op<mnemonic, "Indexing", [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let runtimeTraits = traitNames;
  let opAttrs = [IndexAttr<"items", "normalised index items; their operands follow in item order">];
  let executionArgs = !con(execution, (ins UnitAttr:$unchecked));
  let pythonName = "-";
  let extraClassDefinition = [{
    ::llvm::LogicalResult $cppClass::verify() { return ::tracec::trace::verifyTypeRule(*this); }
    void $cppClass::getEffects(
        ::llvm::SmallVectorImpl<::mlir::MemoryEffects::EffectInstance> &effects) {
      ::tracec::trace::addCheckEffects(*this, effects);
    }
  }];
}
class Trace_IndexReadOp<string mnemonic, list<string> traitNames>
    : Trace_IndexOp<mnemonic, traitNames> {
  let operandDag = (ins Trace_Tensor:$x, Variadic<Trace_Tensor>:$extras);
  let assemblyFormat = [{
    $x `` $items (`(` $extras^ `)`)? attr-dict `:` functional-type(operands, results)
  }];
}
// in_place: nothing later reads the memory of the old value.
class Trace_IndexSetOp<string mnemonic, list<string> more = []>
    : Trace_IndexOp<mnemonic, !listconcat(["Set", "MayFail"], more), (ins UnitAttr:$in_place)> {
  let operandDag = (ins Trace_Tensor:$x, Trace_Tensor:$value, Variadic<Trace_Tensor>:$extras);
  let pythonOperands = ["x", "value"];
  let noKernel = "assignments are not compiled yet";
  let assemblyFormat = [{
    $x `` $items (`(` $extras^ `)`)? `=` $value (`in_place` $in_place^)? attr-dict `:`
    functional-type(operands, results)
  }];
}
def Trace_SubtensorOp : Trace_IndexReadOp<"subtensor", ["View", "MayFail", "BasicIndex"]> {
  let summary = "basic indexing: slices, ints, new axes; a view";
  let noKernel = "a view: index arithmetic without a loop";
}
def Trace_SetSubtensorOp : Trace_IndexSetOp<"set_subtensor", ["BasicIndex"]> {
  let summary = "the tensor with the part that basic indexing selects replaced by a value";
}
def Trace_IndexingMultiAxisVecOp
    : Trace_IndexReadOp<"indexing_multi_axis_vec", ["DataDependentShape", "MayFail"]> {
  let summary = "advanced indexing with integer arrays and masks, mixed with basic items; a copy";
}
def Trace_SetIndexingMultiAxisVecOp : Trace_IndexSetOp<"set_indexing_multi_axis_vec"> {
  let summary = "the tensor with the positions of an advanced index replaced; the last one wins";
}
def Trace_IncrSubtensorOp : Trace_IndexSetOp<"incr_subtensor"> {
  let summary = "the tensor with a value added at the positions of any index, once for each time that it names one; integers wrap, bools are or-ed";
  let update = "add";
  let updateMethod = "incr";
  let pythonName = "incr_subtensor";
}

def Trace_CondTakeOp : Trace_Op<"cond_take", "Compress", [Pure]> {
  let summary = "elements of x where the mask is true, and their int64 flat positions";
  let runtimeTraits = ["DataDependentShape"];
  let pythonOperands = ["mask", "x"];
  let operandDTypes = [BoolDType, AllDTypes];
  let resultDTypes = [SameAs1, AlwaysInt64];
  let noKernel = "a compaction with positions is not compiled yet";
  let operandDag = (ins Trace_Tensor:$mask, Trace_Tensor:$x);
  let results = (outs Trace_Tensor:$values, Trace_Tensor:$positions);
  let assemblyFormat = "$mask `,` $x attr-dict `:` functional-type(operands, results)";
}

#endif
