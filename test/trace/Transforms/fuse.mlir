// RUN: tracec-opt %s -split-input-file -trace-fuse | FileCheck %s

// CHECK-LABEL: @chain_with_broadcast_and_reduction
func.func @chain_with_broadcast_and_reduction(%x: tensor<?x8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK-NEXT: trace.group {
  // CHECK-NEXT: trace.mul
  // CHECK-NEXT: trace.add
  // CHECK-NEXT: %[[S:.+]] = trace.sum
  // CHECK-NEXT: trace.yield %[[S]] : tensor<8xf32>
  // CHECK-NEXT: }
  // CHECK-NEXT: return
  %0 = trace.mul %x, %y : (tensor<?x8xf32>, tensor<8xf32>) -> tensor<?x8xf32>
  %1 = trace.add %0, %x : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  %2 = trace.sum %1 axes [0] keepdims false : (tensor<?x8xf32>) -> tensor<8xf32>
  return %2 : tensor<8xf32>
}

// -----

/// Two branches meet: one kernel, nothing stored between.
// CHECK-LABEL: @branches_merge
// CHECK-NEXT: trace.group {
// CHECK-COUNT-3: trace.{{exp|tanh|add}}
// CHECK: trace.yield %{{[^,]+}} : tensor<4xf32>
// CHECK-NEXT: }
// CHECK-NEXT: return
func.func @branches_merge(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %0 = trace.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = trace.tanh %y : (tensor<4xf32>) -> tensor<4xf32>
  %2 = trace.add %0, %1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}

// -----

/// Views are outside: their strides arrive with the access.
// CHECK-LABEL: @views_are_accesses
// CHECK: trace.subtensor
// CHECK: trace.subtensor
// CHECK: trace.group {
// CHECK-NOT: trace.subtensor
// CHECK: }
func.func @views_are_accesses(%x: tensor<?xf32> {trace.recorded_shape = array<i64: 100>}) -> tensor<?xf32> {
  %0 = trace.subtensor %x<[1:]> : (tensor<?xf32>) -> tensor<?xf32>
  %1 = trace.subtensor %x<[:-1]> : (tensor<?xf32>) -> tensor<?xf32>
  %2 = trace.sub %0, %1 : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  %3 = trace.mul %2, %2 : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  return %3 : tensor<?xf32>
}

// -----

// CHECK-LABEL: @gather_is_an_access
// CHECK-NEXT: trace.group {
// CHECK-NEXT: trace.cast
// CHECK-NEXT: trace.indexing_multi_axis_vec
// CHECK-NEXT: trace.mul
func.func @gather_is_an_access(%curve: tensor<256xf32>, %image: tensor<?x?xui8>, %gain: tensor<f32>) -> tensor<?x?xf32> {
  %0 = trace.cast %image to i64 : (tensor<?x?xui8>) -> tensor<?x?xi64>
  %1 = trace.indexing_multi_axis_vec %curve<[array]>(%0) : (tensor<256xf32>, tensor<?x?xi64>) -> tensor<?x?xf32>
  %2 = trace.mul %1, %gain : (tensor<?x?xf32>, tensor<f32>) -> tensor<?x?xf32>
  return %2 : tensor<?x?xf32>
}

// -----

/// x[m] is never there: one loop compacts a block and reduces it. Both reads share the mask.
// CHECK-LABEL: @masked_reductions_share_one_kernel
// CHECK: %[[R:.+]]:3 = trace.group {
// CHECK: trace.gt
// CHECK: %[[XM:.+]] = trace.indexing_multi_axis_vec
// CHECK: %[[XS:.+]] = trace.sum
// CHECK: trace.indexing_multi_axis_vec
// CHECK: trace.mul
// CHECK: %[[YS:.+]] = trace.sum
/// The size op reads the type only.
// CHECK: trace.yield %[[XM]], %[[XS]], %[[YS]]
// CHECK: }
// CHECK-NOT: trace.group
// CHECK: trace.axis_size %[[R]]#0
func.func @masked_reductions_share_one_kernel(%x: tensor<?xf32>, %y: tensor<?xf32>, %t: tensor<f32>, %two: tensor<f32>) -> (tensor<f32>, tensor<f32>, tensor<i64>) {
  %m = trace.gt %x, %t : (tensor<?xf32>, tensor<f32>) -> tensor<?xi1>
  %0 = trace.indexing_multi_axis_vec %x<[mask(1)]>(%m) : (tensor<?xf32>, tensor<?xi1>) -> tensor<?xf32>
  %1 = trace.sum %0 axes [0] keepdims false : (tensor<?xf32>) -> tensor<f32>
  %2 = trace.indexing_multi_axis_vec %y<[mask(1)]>(%m) : (tensor<?xf32>, tensor<?xi1>) -> tensor<?xf32>
  %3 = trace.mul %2, %two : (tensor<?xf32>, tensor<f32>) -> tensor<?xf32>
  %4 = trace.sum %3 axes [0] keepdims false : (tensor<?xf32>) -> tensor<f32>
  %5 = trace.axis_size %0 axes [0] : (tensor<?xf32>) -> tensor<i64>
  return %1, %4, %5 : tensor<f32>, tensor<f32>, tensor<i64>
}

// -----

/// A reader of the old memory stays before the set that overwrites it.
// CHECK-LABEL: @in_place_set_waits_for_readers
// CHECK: trace.group {
// CHECK: trace.tanh
// CHECK: trace.mul
// CHECK: }
// CHECK: trace.set_subtensor
func.func @in_place_set_waits_for_readers(%x: tensor<4xf32>, %v: tensor<f32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = trace.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = trace.tanh %0 : (tensor<4xf32>) -> tensor<4xf32>
  %2 = trace.set_subtensor %0<[1:]> = %v in_place : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %3 = trace.mul %1, %1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %2, %3 : tensor<4xf32>, tensor<4xf32>
}

// -----

/// What the library kernel needs and gives cannot be in one group.
// CHECK-LABEL: @negative_no_cycle_through_a_library_kernel
// CHECK: trace.group
// CHECK: trace.exp
// CHECK: trace.tanh
// CHECK: }
// CHECK: trace.matmul
// CHECK: trace.group
// CHECK: trace.add
// CHECK: trace.sqrt
func.func @negative_no_cycle_through_a_library_kernel(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = trace.exp %x : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = trace.tanh %0 : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = trace.matmul %1, %1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %3 = trace.add %2, %1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %4 = trace.sqrt %3 : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %4 : tensor<4x4xf32>
}

// -----

/// A reduction must be finished before its result is used, and sizes differ.
// CHECK-LABEL: @negative_reduction_result_in_own_group
// CHECK: trace.group
// CHECK: trace.exp
// CHECK: trace.sum
// CHECK: }
// CHECK: trace.div
func.func @negative_reduction_result_in_own_group(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = trace.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = trace.sum %0 axes [0] keepdims false : (tensor<4xf32>) -> tensor<f32>
  %2 = trace.div %0, %1 : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}

// -----

/// One op runs as its library kernel.
// CHECK-LABEL: @negative_single_op
// CHECK-NOT: trace.group
// CHECK: return
func.func @negative_single_op(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = trace.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

/// A number costs less than a launch.
// CHECK-LABEL: @negative_numbers
// CHECK-NOT: trace.group
// CHECK: return
func.func @negative_numbers(%x: tensor<f32>) -> tensor<f32> {
  %0 = trace.exp %x : (tensor<f32>) -> tensor<f32>
  %1 = trace.tanh %0 : (tensor<f32>) -> tensor<f32>
  return %1 : tensor<f32>
}

// -----

/// The mask is stored, so it is there before its count is needed.
// CHECK-LABEL: @stored_mask_comes_first
// CHECK: trace.group {
// CHECK-NEXT: trace.exp
// CHECK-NEXT: %[[M:.+]] = trace.gt
// CHECK: }
// CHECK: trace.group {
// CHECK-NEXT: trace.indexing_multi_axis_vec
// CHECK-NEXT: trace.sum
// CHECK: }
func.func @stored_mask_comes_first(%x: tensor<?xf32>, %t: tensor<f32>) -> (tensor<?xi1>, tensor<f32>) {
  %e = trace.exp %x : (tensor<?xf32>) -> tensor<?xf32>
  %m = trace.gt %e, %t : (tensor<?xf32>, tensor<f32>) -> tensor<?xi1>
  %s = trace.indexing_multi_axis_vec %x<[mask(1)]>(%m) : (tensor<?xf32>, tensor<?xi1>) -> tensor<?xf32>
  %r = trace.sum %s axes [0] keepdims false : (tensor<?xf32>) -> tensor<f32>
  return %m, %r : tensor<?xi1>, tensor<f32>
}

// -----

/// A guard on sizes does not keep apart the ops that it stands between.
// CHECK-LABEL: @guard_between
// CHECK: trace.group {
// CHECK-NEXT: trace.exp
// CHECK-NEXT: trace.tanh
// CHECK: }
// CHECK: trace.guard_one
func.func @guard_between(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = trace.exp %x : (tensor<?xf32>) -> tensor<?xf32>
  %1 = trace.guard_one %0 axis 0 is_one false : (tensor<?xf32>) -> tensor<i64>
  %2 = trace.tanh %0 : (tensor<?xf32>) -> tensor<?xf32>
  return %2 : tensor<?xf32>
}

// -----

/// Of one size whatever it is: no recorded sizes are needed.
// CHECK-LABEL: @slices_of_one_size
// CHECK: trace.group {
// CHECK-NEXT: trace.exp
// CHECK-NEXT: trace.tanh
// CHECK-NEXT: trace.add
// CHECK-NEXT: trace.yield
func.func @slices_of_one_size(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = trace.subtensor %x<[2:]> : (tensor<?xf32>) -> tensor<?xf32>
  %1 = trace.exp %0 : (tensor<?xf32>) -> tensor<?xf32>
  %2 = trace.subtensor %x<[:-2]> : (tensor<?xf32>) -> tensor<?xf32>
  %3 = trace.tanh %2 : (tensor<?xf32>) -> tensor<?xf32>
  %4 = trace.add %1, %3 : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  return %4 : tensor<?xf32>
}

// -----

/// A sum of sizes, in any order, and the same elements under one axis.
// CHECK-LABEL: @concat_and_reshape
// CHECK: trace.group {
// CHECK-NEXT: trace.exp
// CHECK-NEXT: trace.tanh
// CHECK-NEXT: trace.mul
// CHECK-NEXT: trace.yield
func.func @concat_and_reshape(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %0 = trace.concat %x, %y axis 0 : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  %1 = trace.exp %0 : (tensor<?xf32>) -> tensor<?xf32>
  %2 = trace.reshape %y shape [1, -1] : (tensor<?xf32>) -> tensor<1x?xf32>
  %3 = trace.reshape %2 shape [-1] : (tensor<1x?xf32>) -> tensor<?xf32>
  %4 = trace.concat %3, %x axis 0 : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  %5 = trace.tanh %4 : (tensor<?xf32>) -> tensor<?xf32>
  %6 = trace.mul %1, %5 : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  return %6 : tensor<?xf32>
}

// -----

/// The sizes of a product and of a gather are those of what they are made from.
// CHECK-LABEL: @matmul_and_gather
// CHECK: trace.matmul
// CHECK: trace.group {
// CHECK-NEXT: trace.exp
// CHECK-NEXT: trace.indexing_multi_axis_vec
// CHECK-NEXT: trace.add
// CHECK-NEXT: trace.yield
func.func @matmul_and_gather(%b: tensor<8x?xf32>, %i: tensor<?xi64> {trace.symbols = array<i64: 3>}, %t: tensor<9x?xf32> {trace.symbols = array<i64: -1, 4>}, %c: tensor<?x?xf32> {trace.symbols = array<i64: 3, 4>}) -> tensor<?x?xf32> {
  %0 = trace.matmul %c, %b : (tensor<?x?xf32>, tensor<8x?xf32>) -> tensor<?x?xf32>
  %1 = trace.matmul %0, %t : (tensor<?x?xf32>, tensor<9x?xf32>) -> tensor<?x?xf32>
  %2 = trace.exp %1 : (tensor<?x?xf32>) -> tensor<?x?xf32>
  %3 = trace.indexing_multi_axis_vec %t<[array, :]>(%i) : (tensor<9x?xf32>, tensor<?xi64>) -> tensor<?x?xf32>
  %4 = trace.add %2, %3 : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  return %4 : tensor<?x?xf32>
}

// -----

/// Sizes that were computed: reshape to n * m from operands, and back.
// CHECK-LABEL: @computed_sizes
// CHECK: trace.group {
// CHECK-NEXT: trace.exp
// CHECK-NEXT: trace.tanh
// CHECK-NEXT: trace.add
// CHECK-NEXT: trace.yield
func.func @computed_sizes(%x: tensor<?x?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %n = trace.axis_size %x axes [0] : (tensor<?x?xf32>) -> tensor<i64>
  %m = trace.axis_size %x axes [1] : (tensor<?x?xf32>) -> tensor<i64>
  %nm = trace.mul %m, %n : (tensor<i64>, tensor<i64>) -> tensor<i64>
  %0 = trace.reshape %x sizes(%nm) shape [-9223372036854775808] : (tensor<?x?xf32>, tensor<i64>) -> tensor<?xf32>
  %1 = trace.exp %0 : (tensor<?xf32>) -> tensor<?xf32>
  %2 = trace.permute %x axes [1, 0] : (tensor<?x?xf32>) -> tensor<?x?xf32>
  %3 = trace.reshape %2 shape [-1] : (tensor<?x?xf32>) -> tensor<?xf32>
  %4 = trace.tanh %3 : (tensor<?xf32>) -> tensor<?xf32>
  %5 = trace.add %1, %4 : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  return %5 : tensor<?xf32>
}

// -----

/// A count is no size that anything else has, though both were alike once.
// CHECK-LABEL: @negative_count_meets_a_size
// CHECK: trace.group {
// CHECK: trace.indexing_multi_axis_vec
// CHECK: trace.exp
// CHECK-NOT: trace.add
// CHECK: }
// CHECK: trace.add
func.func @negative_count_meets_a_size(%x: tensor<?xf32>, %m: tensor<?xi1>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %0 = trace.indexing_multi_axis_vec %x<[mask(1)]>(%m) : (tensor<?xf32>, tensor<?xi1>) -> tensor<?xf32>
  %1 = trace.exp %0 : (tensor<?xf32>) -> tensor<?xf32>
  %2 = trace.add %1, %y : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  return %2 : tensor<?xf32>
}
