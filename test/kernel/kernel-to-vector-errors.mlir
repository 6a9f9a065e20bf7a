// RUN: tracec-opt %s -split-input-file -verify-diagnostics -kernel-to-vector

// expected-error @below {{'kernel.func' op has 9 ordered reductions, scratch holds 8}}
kernel.func @nine_ordered_sums domain 1 reduced [0] (%x: !kernel.access<load f32 contiguous>,
    %a: !kernel.access<reduce_store f32 zero>, %b: !kernel.access<reduce_store f32 zero>,
    %c: !kernel.access<reduce_store f32 zero>, %d: !kernel.access<reduce_store f32 zero>,
    %e: !kernel.access<reduce_store f32 zero>, %f: !kernel.access<reduce_store f32 zero>,
    %g: !kernel.access<reduce_store f32 zero>, %h: !kernel.access<reduce_store f32 zero>,
    %i: !kernel.access<reduce_store f32 zero>) {
  %0 = kernel.load %x : !kernel.access<load f32 contiguous>
  kernel.reduce "sum"(%0) to %a : !kernel.access<reduce_store f32 zero>, f32
  kernel.reduce "sum"(%0) to %b : !kernel.access<reduce_store f32 zero>, f32
  kernel.reduce "sum"(%0) to %c : !kernel.access<reduce_store f32 zero>, f32
  kernel.reduce "sum"(%0) to %d : !kernel.access<reduce_store f32 zero>, f32
  kernel.reduce "sum"(%0) to %e : !kernel.access<reduce_store f32 zero>, f32
  kernel.reduce "sum"(%0) to %f : !kernel.access<reduce_store f32 zero>, f32
  kernel.reduce "sum"(%0) to %g : !kernel.access<reduce_store f32 zero>, f32
  kernel.reduce "sum"(%0) to %h : !kernel.access<reduce_store f32 zero>, f32
  kernel.reduce "sum"(%0) to %i : !kernel.access<reduce_store f32 zero>, f32
}
