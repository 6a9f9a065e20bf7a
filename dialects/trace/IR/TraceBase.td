// The trace dialect and the classes that op families are made of.
//
// TraceOps.td is the only list of ops. mlir-tblgen makes the MLIR classes from it; tools/gen-ops
// reads the same records (llvm-tblgen --dump-json) and makes everything that must know the list
// without LLVM: runtime/generated/*, the Python functions and the op reference.

#ifndef TRACEC_TRACE_BASE_TD
#define TRACEC_TRACE_BASE_TD

include "dialects/DTypes.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/BuiltinTypeInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Trace_Dialect : Dialect {
  let name = "trace";
  let cppNamespace = "::tracec::trace";
  let summary = "one op per recorded op of an eager program";
  let description = [{
    Pure ops on immutable tensor values. Every op carries `op_ids`, its number in the trace, and the
    user's Python line as its location. Dynamic dims stand for sizes that may change between calls.
    An op merged from several recorded ops carries all their numbers.
  }];
  let usePropertiesForAttributes = 1;
  let useDefaultAttributePrinterParser = 1;
  let extraClassDeclaration = [{
    /// Of an op of the list; nullopt for structure (constants, groups). Passes ask it of every op
    /// many times, so it is a lookup by type id and not by name.
    std::optional<::tracert::OpKind> kindOf(::mlir::OperationName name) const {
      auto found = kinds.find(name.getTypeID());
      return found == kinds.end() ? std::nullopt : std::optional(found->second);
    }

  private:
    ::llvm::DenseMap<::mlir::TypeID, ::tracert::OpKind> kinds;

  public:
  }];
}

//===----------------------------------------------------------------------===//
// What an op says about itself beyond ODS (read by tools/gen-ops)
//===----------------------------------------------------------------------===//

// The items of an index and NumPy's placement bit. Custom syntax, e.g.
// #trace.index<[1:, newaxis, array, mask(2), 3, :], advanced_first>.
def Trace_IndexItemsAttr : AttrDef<Trace_Dialect, "IndexItems"> {
  let mnemonic = "index";
  let summary = "normalised index items (tracert::IndexItems)";
  // Each item is flattened to kFieldsPerItem integers, so that the attribute is uniqued by value.
  let parameters = (ins ArrayRefParameter<"int64_t">:$flat, "bool":$advancedFirst);
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    static IndexItemsAttr get(::mlir::MLIRContext *context, const ::tracert::IndexItems &items);
    ::tracert::IndexItems toItems() const;
  }];
}

// One attribute of an op: kind is a tracert::AttrKind, ods its MLIR form. Attributes are read by
// name, so ops that share a name share its kind.
class OpAttr<string attrName, string attrKind, Attr odsAttr, string attrDoc,
             string attrDefault = ""> {
  string name = attrName;
  string kind = attrKind;
  Attr ods = odsAttr;
  string doc = attrDoc;
  // Python default; empty: the argument is required. Also what a file without the attribute means,
  // unless it is None, which the front end replaces.
  string default = attrDefault;
  // Ints: an entry may be kFromOperand.
  bit isShape = 0;
  // String: the values that it may have; empty: any.
  list<string> values = [];
}
class IntAttr<string name, string doc, string default = "">
    : OpAttr<name, "Int", I64Attr, doc, default>;
class FloatAttr<string name, string doc, string default = "">
    : OpAttr<name, "Float", F64Attr, doc, default>;
class TextAttr<string name, string doc, string default = "">
    : OpAttr<name, "String", StrAttr, doc, default>;
class ChoiceAttr<string name, list<string> names, string doc, string default = "">
    : OpAttr<name, "String", StrAttr, doc, default> {
  let values = names;
}
class FlagAttr<string name, string doc, string default = "">
    : OpAttr<name, "Bool", BoolAttr, doc, default>;
class DTypeAttr<string name, string doc, string default = "">
    : OpAttr<name, "DType", TypeAttr, doc, default>;
class IntsAttr<string name, string doc, string default = "">
    : OpAttr<name, "Ints", DenseI64ArrayAttr, doc, default>;
// Sizes of a result; an entry kFromOperand is the next size operand.
class ShapeAttr<string name, string doc>
    : OpAttr<name, "Ints", DenseI64ArrayAttr, doc> {
  let isShape = 1;
}
class ScalarAttr<string name, string doc, string default = "">
    : OpAttr<name, "Scalar", TypedAttrInterface, doc, default>;
class IndexAttr<string name, string doc> : OpAttr<name, "Index", Trace_IndexItemsAttr, doc>;

// What the ops of one family share: a type rule in runtime/ops and a library kernel in
// runtime/kernels, both found by the family.
class OpFamily<string familyName, string rule, string kernelFunction, string ruleFile,
               string familyDoc> {
  string name = familyName;
  // Functions of namespaces tracert::rules and tracert::kernels.
  string typeRule = rule;
  string kernel = kernelFunction;
  // Name of their files: runtime/ops/rules/<file>.h and runtime/kernels/<file>.cpp.
  string file = ruleFile;
  string doc = familyDoc;
}
def Family_Elementwise : OpFamily<"Elementwise", "pointwiseTypes", "runPointwise", "Elementwise",
    "same dtype in and out, operands broadcast">;
def Family_Compare : OpFamily<"Compare", "pointwiseTypes", "runPointwise", "Elementwise",
    "same dtype in, bool out, operands broadcast">;
def Family_Logical : OpFamily<"Logical", "pointwiseTypes", "runPointwise", "Elementwise",
    "bool in and out, operands broadcast">;
def Family_Select : OpFamily<"Select", "pointwiseTypes", "runPointwise", "Elementwise",
    "where: bool, T, T -> T">;
def Family_Cast : OpFamily<"Cast", "castTypes", "runPointwise", "Elementwise",
    "another dtype, the same shape">;
def Family_Reduce : OpFamily<"Reduce", "reduceTypes", "runReduce", "Reduce",
    "one element for all along some axes">;
def Family_Shape : OpFamily<"Shape", "shapeTypes", "runView", "Shape",
    "views: reshape permute broadcast_to">;
def Family_Join : OpFamily<"Join", "joinTypes", "runJoin", "Join", "tensors side by side">;
def Family_Create : OpFamily<"Create", "createTypes", "runCreate", "Create",
    "tensors of sizes and numbers">;
def Family_Matmul : OpFamily<"Matmul", "matmulTypes", "runMatmul", "Matmul", "products">;
def Family_Indexing : OpFamily<"Indexing", "indexingTypes", "runIndexing", "Indexing",
    "reads and sets of what index items select">;
def Family_Compress : OpFamily<"Compress", "compressTypes", "runCompress", "Compress",
    "the elements that a mask selects, in order">;
def Family_Size : OpFamily<"Size", "sizeTypes", "runSize", "Reduce",
    "a rank-0 int64 known as soon as types are">;
def Family_Guard : OpFamily<"Guard", "guardTypes", "runGuard", "Guard",
    "refuse a call whose sizes or strides would take another way than the record">;

// The dtype of a result: a tracert::ResultRule.
class ResultDType<string ruleName> {
  string rule = ruleName;
}
// Of operand 0, 1.
def SameAs0 : ResultDType<"SameAs0">;
def SameAs1 : ResultDType<"SameAs1">;
def AlwaysBool : ResultDType<"Bool">;
def AlwaysInt64 : ResultDType<"Int64">;
// In which a sum of operand 0 is accumulated and given: integers in 64 bits, floats as they are.
def Widened : ResultDType<"Widened">;
// Of a quotient of operand 0: floats as they are, 64-bit integers in float64, others in float32.
def Averaged : ResultDType<"Averaged">;
// The attribute `dtype`; the dtype of the attribute `value`; of `start`.
def FromDTypeAttr : ResultDType<"FromDType">;
def FromValueAttr : ResultDType<"FromValue">;
def FromStartAttr : ResultDType<"FromStart">;

// How a reduction combines elements; eager cores, joins of partials, the kernel dialect and its
// lowering are made from it.
class Combiner<string scalarOp, string startName, bit isOrdered, string emptyName,
               bit isIndexed = 0> {
  // The pointwise op that joins two elements of the accumulator.
  string op = scalarOp;
  // A tracert::ReductionStart: the accumulator that leaves every other unchanged.
  string start = startName;
  // Rounding makes the order count: the order of Numbers.md. Else any order gives the same bits.
  bit ordered = isOrdered;
  // A tracert::EmptyReduction: what no elements give.
  string empty = emptyName;
  // The result is the position of the element, not its value; `op` compares two elements.
  bit indexed = isIndexed;
}
def NoCombiner : Combiner<"", "", 0, "">;

// What the elements of an operand must be; an op with one is MayFail and is never fused.
class ElementCheck<int operandNumber, string ruleName> {
  int operand = operandNumber;
  // A tracert::ElementRule; the message is its own.
  string rule = ruleName;
}
def NoElementCheck : ElementCheck<0, "None">;

// What a gradient of the op is made of.
class Gradient<string gradientKind, string why = ""> {
  // "rule", "decomposition" or "none".
  string kind = gradientKind;
  // Of "none".
  string reason = why;
}
def GradientRule : Gradient<"rule">;
def GradientOfParts : Gradient<"decomposition">;
class NoGradient<string why> : Gradient<"none", why>;

// Largest error of a pointwise op on floats, in units of the spacing of the dtype at the correctly
// rounded result: of 16-bit floats, float32, float64. tools/measure-ulp checks them.
class ErrorBound<string ofHalf, string ofSingle, string ofDouble> {
  string of16 = ofHalf;
  string of32 = ofSingle;
  string of64 = ofDouble;
}
def ExactResult : ErrorBound<"0", "0", "0">;
def RoundedOnce : ErrorBound<"0.5", "0.5", "0.5">;

// How the result is compared with NumPy in the op matrix.
class Oracle<string numpyName, int maxUlp = 0> {
  // A function of the numpy module, or empty when the matrix has its own reference.
  string numpy = numpyName;
  // Largest accepted difference in units in the last place of the result dtype.
  int ulp = maxUlp;
}

def Trace_Tensor : RankedTensorOf<ElementTypes.types>;

class Trace_Op<string mnemonic, string opFamily, list<Trait> traits = []>
    : Op<Trace_Dialect, mnemonic, traits> {
  string family = opFamily;
  // Names of tracert::OpTrait without the prefix: "Pointwise", "View", ...
  list<string> runtimeTraits = [];
  DTypeSet dtypes = AllDTypes;
  // A set per fixed operand; empty: `dtypes` for each.
  list<DTypeSet> operandDTypes = [];
  // A rule per result.
  list<ResultDType> resultDTypes = [SameAs0];
  list<OpAttr> opAttrs = [];
  // Only of reductions.
  Combiner combiner = NoCombiner;
  ElementCheck elementCheck = NoElementCheck;
  // Only of sets: the pointwise op that makes the new element from the old one and the value, for
  // each selected position in C order; empty: the value replaces the element.
  string update = "";
  // Of sets with an update: the method of tensors that does it in place.
  string updateMethod = "";
  // Of pointwise ops on integers that sizes are computed with: the operation of the rules' math
  // (runtime/ops/DimMath.h) that means the same.
  string sizeMath = "";
  Gradient gradient = GradientRule;
  Oracle oracle = Oracle<"">;
  ErrorBound errorBound = ExactResult;
  // Version of the op's meaning, stored in files.
  int version = 1;
  // Python parameters for the tensor operands; "*xs" is a sequence.
  list<string> pythonOperands = ["x"];
  // Spelling of the Python function when it differs from the mnemonic; "-" when there is none.
  string pythonName = mnemonic;
  // Reductions: also a method of tensors.
  bit pythonMethod = 0;

  // Why the op alone is never a compiled kernel; empty: it is, and the op matrix asserts that.
  string noKernel = "";

  // MLIR attributes beside those of the op's call: how it is executed, not what it means.
  dag executionArgs = (ins);

  // Fixed operands; size and index operands follow as $extras where a family has them.
  dag operandDag = (ins Trace_Tensor:$x);
  let arguments = !con(operandDag,
                       !dag(ins, !foreach(a, opAttrs, a.ods), !foreach(a, opAttrs, a.name)),
                       executionArgs, (ins OptionalAttr<DenseI64ArrayAttr>:$op_ids));
  let results = (outs Trace_Tensor:$result);
  let hasVerifier = 1;
  // One rule for all ops: tracert::inferTypes on the operand types and attributes.
  let extraClassDefinition = [{
    ::llvm::LogicalResult $cppClass::verify() { return ::tracec::trace::verifyTypeRule(*this); }
  }];
}

#endif
