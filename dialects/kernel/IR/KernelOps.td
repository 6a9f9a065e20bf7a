// Ops of the kernel dialect.

#ifndef TRACEC_KERNEL_OPS_TD
#define TRACEC_KERNEL_OPS_TD

include "kernel/IR/KernelBase.td"

class Kernel_Op<string mnemonic, list<Trait> traits = []>
    : Op<Kernel_Dialect, mnemonic, traits>;

class Kernel_ElementOf<string access, string value>
    : TypesMatchWith<"type of $" # value # " is the element type of $" # access, access, value,
                     "::llvm::cast<::tracec::kernel::AccessType>($_self).getElementType()">;

def Kernel_FuncOp : Kernel_Op<"func", [IsolatedFromAbove, Symbol, SingleBlock, NoTerminator]> {
  let summary = "a loop nest over a domain, with what happens at one point of it";
  let description = [{
    The domain has `domain_rank` axes. `unit_axes` are those whose size is 1 whenever the kernel runs;
    the innermost other axis is the vector axis, which accesses' stride classes speak of. `flat` says
    that the only axis is what was a domain of any rank.

    The reductions of a kernel all reduce `reduced_axes`. Their order follows the number contract
    (runtime/scalar/Numbers.md): inner when the vector axis is reduced, else outer. A mask (`where`
    operands, one value for the whole kernel) selects points: `compact` and masked reductions
    take the selected ones in C order, and the kernel counts them.

    `split` says what a call's begin and end divide. `source_ops` are the recorded ops that the
    kernel covers.

    ```mlir
    kernel.func @row_sums domain 2 reduced [1] split outer_axis ops [3, 4]
        (%x: !kernel.access<load f32 contiguous>, %out: !kernel.access<reduce_store f32 zero>) {
      %0 = kernel.load %x : !kernel.access<load f32 contiguous>
      %1 = kernel.apply "exp"(%0) : (f32) -> f32
      kernel.reduce "sum"(%1) to %out : !kernel.access<reduce_store f32 zero>, f32
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, I64Attr:$domain_rank,
                       DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$reduced_axes,
                       DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$unit_axes,
                       UnitAttr:$flat,
                       DefaultValuedAttr<Kernel_Split, "::tracec::kernel::Split::None">:$split,
                       DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$source_ops);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let skipDefaultBuilders = 1;
  let builders = [OpBuilder<(ins "::llvm::StringRef":$name, "int64_t":$domainRank)>];
  let extraClassDeclaration = [{
    /// Appends an access; bodies may be filled before all accesses are known.
    ::mlir::BlockArgument addAccess(AccessType type, ::mlir::Location loc);
    AccessType accessType(unsigned index) {
      return ::llvm::cast<AccessType>(getBody().getArgument(index).getType());
    }
    bool isUnitAxis(int64_t axis) { return ::llvm::is_contained(getUnitAxes(), axis); }
    bool isReducedAxis(int64_t axis) { return ::llvm::is_contained(getReducedAxes(), axis); }
    /// The innermost axis that is not a unit axis; -1 if there is none.
    int64_t vectorAxis();
    /// The value that selects points, or null.
    ::mlir::Value mask();
    bool hasReduction();
  }];
}

def Kernel_LoadOp : Kernel_Op<"load", [NoMemoryEffect, Kernel_ElementOf<"access", "result">]> {
  let summary = "element of an access at the current point";
  let arguments = (ins Kernel_AccessType:$access);
  let results = (outs Kernel_Element:$result);
  let assemblyFormat = "$access attr-dict `:` type($access)";
  let hasVerifier = 1;
}

def Kernel_GatherOp
    : Kernel_Op<"gather", [AttrSizedOperandSegments, Kernel_ElementOf<"access", "result">]> {
  let summary = "element of the indexed operand at computed positions along its indexed axes";
  let description = [{
    Negative indices count from the end. Out of range is an error of the kernel, unless `unchecked`:
    then the index is clamped. With `where`, points that are not selected are neither checked nor read.

    ```mlir
    %v = kernel.gather %table[%i] where %m : !kernel.access<gather f32 zero axes 1>, i64
    ```
  }];
  let arguments = (ins Kernel_AccessType:$access, Variadic<Kernel_IndexElement>:$indices,
                       Optional<I1>:$mask, UnitAttr:$unchecked);
  let results = (outs Kernel_Element:$result);
  let assemblyFormat = [{
    $access `[` $indices `]` (`where` $mask^)? (`unchecked` $unchecked^)? attr-dict `:`
    type($access) `,` type($indices)
  }];
  let hasVerifier = 1;
}

def Kernel_ApplyOp : Kernel_Op<"apply", [Pure]> {
  let summary = "a pointwise op applied to elements";
  let description = [{
    The op is named; what it computes is in the scalar library under that name and the type of its
    last operand, so lowering knows no op.
  }];
  let arguments = (ins StrAttr:$callee, Variadic<Kernel_Element>:$inputs);
  let results = (outs Kernel_Element:$result);
  let assemblyFormat = [{
    $callee `(` $inputs `)` attr-dict `:` functional-type($inputs, $result)
  }];
  let hasVerifier = 1;
}

def Kernel_CastOp : Kernel_Op<"cast", [Pure]> {
  let summary = "an element converted to another element type by the rules of the number contract";
  let arguments = (ins Kernel_Element:$input);
  let results = (outs Kernel_Element:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `to` type($result)";
}

def Kernel_ConstOp : Kernel_Op<"const", [Pure, AllTypesMatch<["value", "result"]>]> {
  let summary = "the same element at every point";
  let arguments = (ins TypedAttrInterface:$value);
  let results = (outs Kernel_Element:$result);
  let assemblyFormat = "attr-dict $value";
}

def Kernel_PositionOp : Kernel_Op<"position", [Pure]> {
  let summary = "number of the current point, in C order of the domain";
  let results = (outs I64:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

def Kernel_StoreOp : Kernel_Op<"store", [Kernel_ElementOf<"access", "value">]> {
  let summary = "writes an element at the current point, of a result or of a set's view";
  let arguments = (ins Kernel_Element:$value, Kernel_AccessType:$access);
  let assemblyFormat = "$value `to` $access attr-dict `:` type($access)";
  let hasVerifier = 1;
}

def Kernel_CompactOp : Kernel_Op<"compact", [Kernel_ElementOf<"access", "value">]> {
  let summary = "writes the elements of the selected points, packed, in C order";
  let arguments = (ins Kernel_Element:$value, I1:$mask, Kernel_AccessType:$access);
  let assemblyFormat = "$value `where` $mask `to` $access attr-dict `:` type($access)";
  let hasVerifier = 1;
}

def Kernel_ReduceOp : Kernel_Op<"reduce"> {
  let summary = "combines elements over the reduced axes in the order of the number contract";
  let description = [{
    The reduction is named as the op is; its record says how it combines, where it starts, whether
    the order counts and of what type the result is. With `split sequence_blocks` the access is an
    array of one partial per block, in the accumulating type.
  }];
  let arguments = (ins StrAttr:$reduction, Kernel_Element:$value, Optional<I1>:$mask,
                       Kernel_AccessType:$access);
  let assemblyFormat = [{
    $reduction `(` $value `)` (`where` $mask^)? `to` $access attr-dict `:` type($access) `,` type($value)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The combiner of the op of that name; the verifier makes sure that there is one.
    const ::tracert::ReductionInfo &info();
  }];
}

#endif
