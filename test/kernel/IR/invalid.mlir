// RUN: tracec-opt %s -split-input-file -verify-diagnostics

// expected-error @below {{'kernel.func' op reduced axes must ascend and lie below the domain's rank 2, got 2}}
kernel.func @reduced_axis_too_large domain 2 reduced [0, 2] () {
}

// -----

// expected-error @below {{'kernel.func' op unit axes must ascend and lie below the domain's rank 2, got 0}}
kernel.func @unit_axes_descend domain 2 unit [1, 0] () {
}

// -----

// expected-error @below {{'kernel.func' op a flat domain has rank 1, got 2}}
kernel.func @flat_rank_two domain 2 flat () {
}

// -----

// expected-error @below {{'kernel.func' op domain rank must not be negative, got -1}}
kernel.func @negative_rank domain -1 () {
}

// -----

// expected-error @below {{split outer_axis needs an axis 0 that is neither reduced nor a unit axis}}
kernel.func @split_reduced_axis domain 2 reduced [0] split outer_axis () {
}

// -----

// expected-error @below {{split sequence_blocks needs one axis, reduced; got domain rank 2}}
kernel.func @blocks_of_two_axes domain 2 reduced [0, 1] split sequence_blocks () {
}

// -----

// expected-error @below {{split sequence_blocks needs more than one element, got unit axis 0}}
kernel.func @blocks_of_one_element domain 1 reduced [0] unit [0] split sequence_blocks () {
}

// -----

// expected-error @below {{expected none, outer_axis or sequence_blocks, got rows}}
kernel.func @unknown_split domain 2 split rows () {
}

// -----

// expected-error @below {{argument #0 must be an access, got 'f32'}}
kernel.func @argument_is_no_access domain 1 (%x: f32) {
}

// -----

// expected-error @below {{written access #0 must be used exactly once}}
kernel.func @store_missing domain 1 (%x: !kernel.access<store f32 contiguous>) {
}

// -----

kernel.func @foreign_op domain 1 () {
  // expected-error @below {{is not allowed in a kernel}}
  builtin.module {
  }
}

// -----

kernel.func @two_masks domain 1 (%x: !kernel.access<load i1 contiguous>,
    %y: !kernel.access<load i1 any>, %a: !kernel.access<compact_store i1 contiguous>,
    %b: !kernel.access<compact_store i1 contiguous>) {
  %0 = kernel.load %x : !kernel.access<load i1 contiguous>
  %1 = kernel.load %y : !kernel.access<load i1 any>
  kernel.compact %0 where %0 to %a : !kernel.access<compact_store i1 contiguous>
  // expected-error @below {{has another mask than the kernel's first one}}
  kernel.compact %0 where %1 to %b : !kernel.access<compact_store i1 contiguous>
}

// -----

kernel.func @unmasked_reduction_beside_a_mask domain 2 reduced [0, 1]
    (%x: !kernel.access<load i1 contiguous>, %a: !kernel.access<compact_store i1 contiguous>,
     %s: !kernel.access<reduce_store i64 zero>) {
  %0 = kernel.load %x : !kernel.access<load i1 contiguous>
  kernel.compact %0 where %0 to %a : !kernel.access<compact_store i1 contiguous>
  // expected-error @below {{in a kernel with a mask must use it and reduce all 2 axes}}
  kernel.reduce "sum"(%0) to %s : !kernel.access<reduce_store i64 zero>, i1
}

// -----

// expected-error @below {{'kernel.func' op with a mask cannot be split}}
kernel.func @split_mask domain 1 split outer_axis
    (%x: !kernel.access<load i1 contiguous>, %a: !kernel.access<compact_store i1 contiguous>) {
  %0 = kernel.load %x : !kernel.access<load i1 contiguous>
  kernel.compact %0 where %0 to %a : !kernel.access<compact_store i1 contiguous>
}

// -----

kernel.func @reduction_without_axes domain 1 (%x: !kernel.access<load f32 contiguous>,
    %s: !kernel.access<reduce_store f32 zero>) {
  %0 = kernel.load %x : !kernel.access<load f32 contiguous>
  // expected-error @below {{needs a kernel with reduced axes}}
  kernel.reduce "max"(%0) to %s : !kernel.access<reduce_store f32 zero>, f32
}

// -----

kernel.func @load_of_a_store domain 1 (%x: !kernel.access<store f32 contiguous>) {
  // expected-error @below {{cannot use an access of kind store}}
  %0 = kernel.load %x : !kernel.access<store f32 contiguous>
}

// -----

kernel.func @gather_index_count domain 1 (%t: !kernel.access<gather f32 zero axes 2>) {
  %0 = kernel.position : i64
  // expected-error @below {{expects 2 indices, got 1}}
  %1 = kernel.gather %t[%0] : !kernel.access<gather f32 zero axes 2>, i64
}

// -----

kernel.func @sum_of_integers_is_int64 domain 1 reduced [0] (%x: !kernel.access<load i32 contiguous>,
    %s: !kernel.access<reduce_store i32 zero>) {
  %0 = kernel.load %x : !kernel.access<load i32 contiguous>
  // expected-error @below {{of 'i32' writes 'i64', got an access of 'i32'}}
  kernel.reduce "sum"(%0) to %s : !kernel.access<reduce_store i32 zero>, i32
}

// -----

kernel.func @apply_without_name domain 0 (%x: !kernel.access<load f32 zero>) {
  %0 = kernel.load %x : !kernel.access<load f32 zero>
  // expected-error @below {{needs an op name and at least one operand}}
  %1 = kernel.apply ""(%0) : (f32) -> f32
}

// -----

// expected-error @below {{index access expects an integer element type, got 'f32'}}
kernel.func @index_of_floats domain 1 (%i: !kernel.access<index f32 contiguous>) {
}

// -----

// expected-error @below {{only a gather, and every gather, has indexed axes; got 0}}
kernel.func @gather_without_axes domain 1 (%t: !kernel.access<gather f32 zero>) {
}

// -----

// expected-error @below {{expected an element type of a tensor, got 'i24'}}
kernel.func @element_type domain 1 (%x: !kernel.access<load i24 contiguous>) {
}
