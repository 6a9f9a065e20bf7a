// The trace dialect and the classes that op families are made of.
//
// TraceOps.td is the only list of ops. mlir-tblgen makes the MLIR classes from it; tools/gen-ops
// reads the same records (llvm-tblgen --dump-json) and makes everything that must know the list
// without LLVM: runtime/generated/*, the Python functions and the op reference.

#ifndef TRACEC_TRACE_BASE_TD
#define TRACEC_TRACE_BASE_TD

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
}

//===----------------------------------------------------------------------===//
// What an op says about itself beyond ODS (read by tools/gen-ops)
//===----------------------------------------------------------------------===//

// A set of element types, by the names used in tracert::DType.
class DTypeSet<list<string> dtypeNames> {
  list<string> names = dtypeNames;
}
def AllDTypes : DTypeSet<["bool", "uint8", "int32", "int64", "float16", "float32", "float64"]>;
def NumericDTypes : DTypeSet<["uint8", "int32", "int64", "float16", "float32", "float64"]>;
def IntegerDTypes : DTypeSet<["uint8", "int32", "int64"]>;
def FloatDTypes : DTypeSet<["float16", "float32", "float64"]>;
def BoolDType : DTypeSet<["bool"]>;

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

// One attribute of an op, in storage order: kind is a tracert::AttrKind, ods its MLIR form.
class OpAttr<string attrName, string attrKind, Attr odsAttr, string attrDoc,
             string attrDefault = ""> {
  string name = attrName;
  string kind = attrKind;
  Attr ods = odsAttr;
  string doc = attrDoc;
  // Python default; empty: the argument is required.
  string default = attrDefault;
}
class IntAttr<string name, string doc, string default = "">
    : OpAttr<name, "Int", I64Attr, doc, default>;
class FlagAttr<string name, string doc, string default = "">
    : OpAttr<name, "Bool", BoolAttr, doc, default>;
class DTypeAttr<string name, string doc, string default = "">
    : OpAttr<name, "DType", TypeAttr, doc, default>;
class IntsAttr<string name, string doc, string default = "">
    : OpAttr<name, "Ints", DenseI64ArrayAttr, doc, default>;
class ScalarAttr<string name, string doc, string default = "">
    : OpAttr<name, "Scalar", TypedAttrInterface, doc, default>;
class IndexAttr<string name, string doc> : OpAttr<name, "Index", Trace_IndexItemsAttr, doc>;

// How the result is compared with NumPy in the op matrix.
class Oracle<string numpyName, int maxUlp = 0> {
  // A function of the numpy module, or empty when the matrix has its own reference.
  string numpy = numpyName;
  // Largest accepted difference in units in the last place of the result dtype.
  int ulp = maxUlp;
}

def Trace_Tensor : RankedTensorOf<[I1, I8, UI8, I32, I64, F16, F32, F64]>;

class Trace_Op<string mnemonic, string opFamily, list<Trait> traits = []>
    : Op<Trace_Dialect, mnemonic, traits> {
  string family = opFamily;
  // Names of tracert::OpTrait without the prefix: "Pointwise", "View", ...
  list<string> runtimeTraits = [];
  DTypeSet dtypes = AllDTypes;
  list<OpAttr> opAttrs = [];
  Oracle oracle = Oracle<"">;
  // Version of the op's meaning, stored in files.
  int version = 1;
  // Python parameters for the tensor operands; "*xs" is a sequence.
  list<string> pythonOperands = ["x"];
  // Spelling of the Python function when it differs from the mnemonic; "-" when there is none.
  string pythonName = mnemonic;

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
