// The kernel dialect, its enums and its one type.

#ifndef TRACEC_KERNEL_BASE_TD
#define TRACEC_KERNEL_BASE_TD

include "dialects/DTypes.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Kernel_Dialect : Dialect {
  let name = "kernel";
  let cppNamespace = "::tracec::kernel";
  let summary = "one fused loop nest, on scalars";
  let description = [{
    A `kernel.func` is one loop nest over a domain, as the executor calls it (tracert/KernelAbi.h).
    Its arguments are accesses: memory read or written at each point of the domain, by strides that
    the executor passes in. Its body computes on the elements at one point. Nothing in it depends on
    sizes, on an instruction set or on what an op means.
  }];
  let useDefaultTypePrinterParser = 1;
  let usePropertiesForAttributes = 1;
}

// Numbers are those of tracert::AccessKind.
def Kernel_AccessKind : I32EnumAttr<"AccessKind", "what an access does", [
    I32EnumAttrCase<"Load", 0, "load">,
    I32EnumAttrCase<"Gather", 1, "gather">,
    I32EnumAttrCase<"Index", 2, "index">,
    I32EnumAttrCase<"Store", 3, "store">,
    I32EnumAttrCase<"CompactStore", 4, "compact_store">,
    I32EnumAttrCase<"ReduceStore", 5, "reduce_store">,
    I32EnumAttrCase<"SetStore", 6, "set_store">]> {
  let cppNamespace = "::tracec::kernel";
}

// Numbers are those of tracert::InnerStride.
def Kernel_InnerStride : I32EnumAttr<"InnerStride", "stride along the vector axis", [
    I32EnumAttrCase<"Zero", 0, "zero">,
    I32EnumAttrCase<"Contiguous", 1, "contiguous">,
    I32EnumAttrCase<"Any", 2, "any">]> {
  let cppNamespace = "::tracec::kernel";
}

// Numbers are those of tracert::KernelSplit.
def Kernel_Split : I32EnumAttr<"Split", "what begin and end of a call divide", [
    I32EnumAttrCase<"None", 0, "none">,
    I32EnumAttrCase<"OuterAxis", 1, "outer_axis">,
    I32EnumAttrCase<"SequenceBlocks", 2, "sequence_blocks">]> {
  let cppNamespace = "::tracec::kernel";
}

def Kernel_AccessType : TypeDef<Kernel_Dialect, "Access"> {
  let mnemonic = "access";
  let summary = "memory visited along the domain";
  let description = [{
    `!kernel.access<load f32 contiguous>`: kind, element type, and what is assumed of the stride along
    the vector axis. A gather names how many axes of its operand are indexed:
    `!kernel.access<gather f32 any axes 2>`. bool is `i1` and lies in memory as a byte.
  }];
  let parameters = (ins EnumParameter<Kernel_AccessKind>:$kind, "::mlir::Type":$elementType,
                        EnumParameter<Kernel_InnerStride>:$stride,
                        DefaultValuedParameter<"int64_t", "0">:$indexedAxes);
  let assemblyFormat = "`<` $kind $elementType $stride (`axes` $indexedAxes^)? `>`";
  let genVerifyDecl = 1;
}

def Kernel_Element : AnyTypeOf<ElementTypes.types, "element of a tensor">;
def Kernel_IndexElement : AnyTypeOf<IntegerElementTypes.types, "integer element of a tensor">;

#endif
