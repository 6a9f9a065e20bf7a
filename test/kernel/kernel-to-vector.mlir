// RUN: tracec-opt %s -split-input-file -kernel-to-vector | FileCheck %s --check-prefixes=CHECK,W16
// RUN: tracec-opt %s -split-input-file -kernel-to-vector="lanes=8 masked-tail=false" | FileCheck %s --check-prefixes=CHECK,W8

/// A full-vector loop, then one masked iteration (16 lanes) or a loop of single lanes (8); a value
/// that repeats along the vector axis is loaded before the loop.
// CHECK-LABEL: llvm.func @map_contiguous_and_zero_f32
kernel.func @map_contiguous_and_zero_f32 domain 1
    (%x: !kernel.access<load f32 contiguous>, %y: !kernel.access<load f32 zero>,
     %o: !kernel.access<store f32 contiguous>) {
  %0 = kernel.load %x : !kernel.access<load f32 contiguous>
  %1 = kernel.load %y : !kernel.access<load f32 zero>
  %2 = kernel.apply "add"(%0, %1) : (f32, f32) -> f32
  kernel.store %2 to %o : !kernel.access<store f32 contiguous>
  // CHECK: llvm.load %{{.+}} : !llvm.ptr -> f32
  // W16: scf.for
  // W16: llvm.load %{{.+}} : !llvm.ptr -> vector<16xf32>
  // W16-NOT: llvm.load
  // W16: llvm.call @tcs_add_f32_v16
  // W16: llvm.store
  // W16: scf.if
  // W16: llvm.intr.masked.load
  // W16: llvm.call @tcs_add_f32_v16
  // W16: llvm.intr.masked.store
  // W8: scf.for
  // W8: llvm.load %{{.+}} : !llvm.ptr -> vector<8xf32>
  // W8: llvm.call @tcs_add_f32_v8
  // W8: scf.for
  // W8: llvm.call @tcs_add_f32_v1(
  // W8-NOT: masked
}

// -----

/// Any other stride becomes one address per lane.
// CHECK-LABEL: llvm.func @map_any_stride_f64
kernel.func @map_any_stride_f64 domain 1
    (%x: !kernel.access<load f64 any>, %o: !kernel.access<store f64 contiguous>) {
  %0 = kernel.load %x : !kernel.access<load f64 any>
  kernel.store %0 to %o : !kernel.access<store f64 contiguous>
  // W16: llvm.intr.masked.gather{{.+}} -> vector<16xf64>
  // W8: llvm.intr.masked.gather{{.+}} -> vector<8xf64>
}

// -----

/// Sizes are arguments: the only constants of a kernel's loops are lane counts.
// CHECK-LABEL: llvm.func @outer_loop_over_split_axis
kernel.func @outer_loop_over_split_axis domain 2 split outer_axis
    (%x: !kernel.access<load i32 contiguous>, %o: !kernel.access<store i32 contiguous>) {
  %0 = kernel.load %x : !kernel.access<load i32 contiguous>
  kernel.store %0 to %o : !kernel.access<store i32 contiguous>
  // CHECK: %[[BEGIN_AT:.+]] = llvm.getelementptr %arg0[32]
  // CHECK: %[[BEGIN:.+]] = llvm.load %[[BEGIN_AT]]
  // CHECK: %[[END_AT:.+]] = llvm.getelementptr %arg0[40]
  // CHECK: %[[END:.+]] = llvm.load %[[END_AT]]
  // CHECK: scf.for %{{.+}} = %[[BEGIN]] to %[[END]]
}

// -----

/// An inner-order float sum goes through the block buffer; the order is in the support functions.
// CHECK-LABEL: llvm.func @sum_inner_f32
kernel.func @sum_inner_f32 domain 2 reduced [1]
    (%x: !kernel.access<load f32 contiguous>, %s: !kernel.access<reduce_store f32 zero>) {
  %0 = kernel.load %x : !kernel.access<load f32 contiguous>
  kernel.reduce "sum"(%0) to %s : !kernel.access<reduce_store f32 zero>, f32
  // CHECK: scf.for
  // CHECK: llvm.call @tck_sequence_begin_sum_f32
  // CHECK: scf.for {{.+}} iter_args
  // W16: llvm.call @tck_sequence_append_sum_f32_v16
  // W8: llvm.call @tck_sequence_append_sum_f32_v8
  // W16: llvm.call @tck_sequence_append_where_sum_f32_v16
  // W8: llvm.call @tck_sequence_append_sum_f32_v1
  // CHECK: llvm.call @tck_sequence_finish_sum_f32
}

// -----

/// An outer-order sum has one chain per lane, and the loop over rows inside that over columns.
// CHECK-LABEL: llvm.func @sum_outer_f32
kernel.func @sum_outer_f32 domain 2 reduced [0]
    (%x: !kernel.access<load f32 contiguous>, %s: !kernel.access<reduce_store f32 contiguous>) {
  %0 = kernel.load %x : !kernel.access<load f32 contiguous>
  kernel.reduce "sum"(%0) to %s : !kernel.access<reduce_store f32 contiguous>, f32
  // CHECK: scf.for
  // W16: llvm.call @tck_columns_begin_sum_f32_v16
  // W8: llvm.call @tck_columns_begin_sum_f32_v8
  // W16: scf.for {{.+}} -> (vector<16xf32>, i64)
  // W8: scf.for {{.+}} -> (vector<8xf32>, i64)
  // W16: llvm.call @tcs_add_f32_v16
  // W8: llvm.call @tcs_add_f32_v8
  // W16: llvm.call @tck_columns_finish_sum_f32_v16
  // W8: llvm.call @tck_columns_finish_sum_f32_v8
}

// -----

/// The order of integer sums and of max has no effect: registers, no buffer.
// CHECK-LABEL: llvm.func @sum_and_max_i32
kernel.func @sum_and_max_i32 domain 1 reduced [0]
    (%x: !kernel.access<load i32 contiguous>, %s: !kernel.access<reduce_store i64 zero>,
     %m: !kernel.access<reduce_store i32 zero>) {
  %0 = kernel.load %x : !kernel.access<load i32 contiguous>
  kernel.reduce "sum"(%0) to %s : !kernel.access<reduce_store i64 zero>, i32
  kernel.reduce "max"(%0) to %m : !kernel.access<reduce_store i32 zero>, i32
  // CHECK-NOT: tck_
  // W16: scf.for {{.+}} -> (vector<16xi64>, vector<16xi32>)
  // W8: scf.for {{.+}} -> (vector<8xi64>, vector<8xi32>)
  // CHECK-NOT: llvm.call @tck_
}

// -----

/// A masked sum is one loop: the body on all lanes, packing into the block buffer, no other memory.
// CHECK-LABEL: llvm.func @masked_sum_f32
kernel.func @masked_sum_f32 domain 1 reduced [0]
    (%x: !kernel.access<load f32 contiguous>, %m: !kernel.access<load i1 contiguous>,
     %s: !kernel.access<reduce_store f32 zero>) {
  %0 = kernel.load %x : !kernel.access<load f32 contiguous>
  %1 = kernel.load %m : !kernel.access<load i1 contiguous>
  %2 = kernel.apply "exp"(%0) : (f32) -> f32
  kernel.reduce "sum"(%2) where %1 to %s : !kernel.access<reduce_store f32 zero>, f32
  // W16: llvm.call @tcs_exp_f32_v16
  // W16: llvm.call @tck_sequence_append_where_sum_f32_v16
  // W8: llvm.call @tcs_exp_f32_v8
  // W8: llvm.call @tck_sequence_append_where_sum_f32_v8
  // CHECK: llvm.intr.ctpop
  // CHECK: llvm.call @tck_sequence_finish_sum_f32
  /// The count is KernelFrame::count.
  // CHECK: llvm.getelementptr %arg0[56]
}

// -----

/// Packed stores advance by the number of selected points.
// CHECK-LABEL: llvm.func @compact_f16
kernel.func @compact_f16 domain 1
    (%x: !kernel.access<load f16 contiguous>, %m: !kernel.access<load i1 contiguous>,
     %o: !kernel.access<compact_store f16 contiguous>) {
  %0 = kernel.load %x : !kernel.access<load f16 contiguous>
  %1 = kernel.load %m : !kernel.access<load i1 contiguous>
  kernel.compact %0 where %1 to %o : !kernel.access<compact_store f16 contiguous>
  // W16: llvm.call @tck_pack_b2_v16
  // W8: llvm.call @tck_pack_b2_v8
  // CHECK: llvm.intr.ctpop
}

// -----

/// Indices are checked before they are used; what fails is noted, not read.
// CHECK-LABEL: llvm.func @gather_checked_f32
kernel.func @gather_checked_f32 domain 1
    (%t: !kernel.access<gather f32 zero axes 1>, %i: !kernel.access<index i32 contiguous>,
     %o: !kernel.access<store f32 contiguous>) {
  %0 = kernel.load %i : !kernel.access<index i32 contiguous>
  %1 = kernel.gather %t[%0] : !kernel.access<gather f32 zero axes 1>, i32
  kernel.store %1 to %o : !kernel.access<store f32 contiguous>
  // CHECK: llvm.call @tck_errors_begin
  // CHECK: arith.cmpi ult
  // CHECK: scf.if
  // CHECK: llvm.call @tck_errors_note
  // CHECK: llvm.intr.masked.gather
  // CHECK: %[[CODE:.+]] = llvm.call @tck_errors_finish
  // CHECK: llvm.return %[[CODE]]
}

// -----

/// Unchecked indices are clamped and no error is kept.
// CHECK-LABEL: llvm.func @negative_gather_unchecked_f32
kernel.func @negative_gather_unchecked_f32 domain 1
    (%t: !kernel.access<gather f32 zero axes 1>, %i: !kernel.access<index i64 contiguous>,
     %o: !kernel.access<store f32 contiguous>) {
  %0 = kernel.load %i : !kernel.access<index i64 contiguous>
  %1 = kernel.gather %t[%0] unchecked : !kernel.access<gather f32 zero axes 1>, i64
  kernel.store %1 to %o : !kernel.access<store f32 contiguous>
  // CHECK-NOT: tck_errors
  // CHECK: arith.minsi
  // CHECK: arith.maxsi
  // CHECK-NOT: tck_errors
  // CHECK: llvm.return
}
