// RUN: tracec-opt %s -split-input-file -trace-compose-indexing | FileCheck %s

// CHECK-LABEL: @subtensor_of_subtensor_static
func.func @subtensor_of_subtensor_static(%x: tensor<10x8xf32>) -> tensor<3x8xf32> {
  // CHECK-NOT: [1:9:2
  // CHECK: %[[R:.+]] = trace.subtensor %arg0<[3:9:2, :]> {op_ids = array<i64: 0, 1>}
  // CHECK: return %[[R]]
  %0 = trace.subtensor %x<[1:9:2, :]> {op_ids = array<i64: 0>} : (tensor<10x8xf32>) -> tensor<4x8xf32>
  %1 = trace.subtensor %0<[1:, :]> {op_ids = array<i64: 1>} : (tensor<4x8xf32>) -> tensor<3x8xf32>
  return %1 : tensor<3x8xf32>
}

// -----

// CHECK-LABEL: @subtensor_of_subtensor_dynamic
func.func @subtensor_of_subtensor_dynamic(%x: tensor<?xf32>) -> tensor<?xf32> {
  // CHECK: trace.subtensor %arg0<[3:-2]>
  %0 = trace.subtensor %x<[1:-1]> : (tensor<?xf32>) -> tensor<?xf32>
  %1 = trace.subtensor %0<[2:-1]> : (tensor<?xf32>) -> tensor<?xf32>
  return %1 : tensor<?xf32>
}

// -----

// CHECK-LABEL: @int_and_newaxis
func.func @int_and_newaxis(%x: tensor<10x8xf32>) -> tensor<1x4xf32> {
  // CHECK: trace.subtensor %arg0<[4, newaxis, 4:]>
  %0 = trace.subtensor %x<[3:, :]> : (tensor<10x8xf32>) -> tensor<7x8xf32>
  %1 = trace.subtensor %0<[1, newaxis, 4:]> : (tensor<7x8xf32>) -> tensor<1x4xf32>
  return %1 : tensor<1x4xf32>
}

// -----

/// The end counts from the front in one and from the back in the other; a position that may be out
/// of range would name another size.
// CHECK-LABEL: @negative_not_for_every_size
// CHECK-COUNT-4: trace.subtensor
func.func @negative_not_for_every_size(%x: tensor<?xf32>) -> (tensor<?xf32>, tensor<f32>) {
  %0 = trace.subtensor %x<[:5]> : (tensor<?xf32>) -> tensor<?xf32>
  %1 = trace.subtensor %0<[:-1]> : (tensor<?xf32>) -> tensor<?xf32>
  %2 = trace.subtensor %x<[1:]> : (tensor<?xf32>) -> tensor<?xf32>
  %3 = trace.subtensor %2<[0]> : (tensor<?xf32>) -> tensor<f32>
  return %1, %3 : tensor<?xf32>, tensor<f32>
}

// -----

// CHECK-LABEL: @slice_of_gather
func.func @slice_of_gather(%x: tensor<10x8xf32>, %i: tensor<4xi64>) -> tensor<4x3xf32> {
  // CHECK: %[[V:.+]] = trace.subtensor %arg0<[:, 1:4]>
  // CHECK: trace.indexing_multi_axis_vec %[[V]]<[array, :]>(%arg1) {op_ids = array<i64: 0, 1>} : (tensor<10x3xf32>, tensor<4xi64>) -> tensor<4x3xf32>
  %0 = trace.indexing_multi_axis_vec %x<[array, :]>(%i) {op_ids = array<i64: 0>} : (tensor<10x8xf32>, tensor<4xi64>) -> tensor<4x8xf32>
  %1 = trace.subtensor %0<[:, 1:4]> {op_ids = array<i64: 1>} : (tensor<4x8xf32>) -> tensor<4x3xf32>
  return %1 : tensor<4x3xf32>
}

// -----

/// Indices outside the slice must still be checked.
// CHECK-LABEL: @negative_slice_of_indexed_axis
// CHECK: trace.indexing_multi_axis_vec %arg0
// CHECK: trace.subtensor
func.func @negative_slice_of_indexed_axis(%x: tensor<10xf32>, %i: tensor<4xi64>) -> tensor<2xf32> {
  %0 = trace.indexing_multi_axis_vec %x<[array]>(%i) : (tensor<10xf32>, tensor<4xi64>) -> tensor<4xf32>
  %1 = trace.subtensor %0<[:2]> : (tensor<4xf32>) -> tensor<2xf32>
  return %1 : tensor<2xf32>
}

// -----

// CHECK-LABEL: @view_moves_to_operands
func.func @view_moves_to_operands(%x: tensor<10x8xf32>, %y: tensor<8xf32>, %s: tensor<f32>) -> tensor<4x8xf32> {
  // CHECK-DAG: %[[X:.+]] = trace.subtensor %arg0<[2:6, :]>
  // CHECK-DAG: %[[Y:.+]] = trace.subtensor %arg1<[:]>
  // CHECK: %[[A:.+]] = trace.add %[[X]], %[[Y]]
  // CHECK: trace.mul %[[A]], %arg2
  %0 = trace.add %x, %y : (tensor<10x8xf32>, tensor<8xf32>) -> tensor<10x8xf32>
  %1 = trace.mul %0, %s : (tensor<10x8xf32>, tensor<f32>) -> tensor<10x8xf32>
  %2 = trace.subtensor %1<[2:6, :]> : (tensor<10x8xf32>) -> tensor<4x8xf32>
  return %2 : tensor<4x8xf32>
}

// -----

/// A size of 1 repeats, so its slice stays whole.
// CHECK-LABEL: @view_of_repeated_axis
func.func @view_of_repeated_axis(%x: tensor<10x8xf32>, %y: tensor<10x1xf32>) -> tensor<10xf32> {
  // CHECK-DAG: trace.subtensor %arg0<[:, 5]>
  // CHECK-DAG: trace.subtensor %arg1<[:, 0]>
  %0 = trace.add %x, %y : (tensor<10x8xf32>, tensor<10x1xf32>) -> tensor<10x8xf32>
  %1 = trace.subtensor %0<[:, 5]> : (tensor<10x8xf32>) -> tensor<10xf32>
  return %1 : tensor<10xf32>
}

// -----

// CHECK-LABEL: @transpose_moves_to_operands
// CHECK: trace.permute %arg0 axes [1, 0]
// CHECK: trace.exp
// CHECK-NEXT: return
func.func @transpose_moves_to_operands(%x: tensor<?x8xf32>) -> tensor<8x?xf32> {
  %0 = trace.exp %x : (tensor<?x8xf32>) -> tensor<?x8xf32>
  %1 = trace.permute %0 axes [1, 0] : (tensor<?x8xf32>) -> tensor<8x?xf32>
  return %1 : tensor<8x?xf32>
}

// -----

// CHECK-LABEL: @negative_second_use
// CHECK: trace.exp %arg0
// CHECK: trace.subtensor
func.func @negative_second_use(%x: tensor<10xf32>) -> (tensor<10xf32>, tensor<4xf32>) {
  %0 = trace.exp %x : (tensor<10xf32>) -> tensor<10xf32>
  %1 = trace.subtensor %0<[:4]> : (tensor<10xf32>) -> tensor<4xf32>
  return %0, %1 : tensor<10xf32>, tensor<4xf32>
}

// -----

/// The sizes need not be equal, and then the sum is an error that slices would hide.
// CHECK-LABEL: @negative_sizes_not_proven_equal
// CHECK: trace.add
// CHECK: trace.subtensor %{{.+}}<[:4]>
func.func @negative_sizes_not_proven_equal(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %0 = trace.subtensor %x<[1:]> : (tensor<?xf32>) -> tensor<?xf32>
  %1 = trace.subtensor %y<[2:]> : (tensor<?xf32>) -> tensor<?xf32>
  %2 = trace.add %0, %1 : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  %3 = trace.subtensor %2<[:4]> : (tensor<?xf32>) -> tensor<?xf32>
  return %3 : tensor<?xf32>
}

// -----

// CHECK-LABEL: @read_of_what_was_set
// CHECK: %[[SET:.+]] = trace.set_subtensor
// CHECK: return %[[SET]], %arg1
func.func @read_of_what_was_set(%x: tensor<10xf32>, %v: tensor<3xf32>) -> (tensor<10xf32>, tensor<3xf32>) {
  %0 = trace.set_subtensor %x<[4:7]> = %v : (tensor<10xf32>, tensor<3xf32>) -> tensor<10xf32>
  %1 = trace.subtensor %0<[4:7]> : (tensor<10xf32>) -> tensor<3xf32>
  return %0, %1 : tensor<10xf32>, tensor<3xf32>
}

// -----

// CHECK-LABEL: @read_of_what_was_set_broadcast
// CHECK: %[[B:.+]] = trace.broadcast_to %arg1 shape [3]
// CHECK: return %[[B]]
func.func @read_of_what_was_set_broadcast(%x: tensor<10xf32>, %v: tensor<f32>) -> tensor<3xf32> {
  %0 = trace.set_subtensor %x<[4:7]> = %v : (tensor<10xf32>, tensor<f32>) -> tensor<10xf32>
  %1 = trace.subtensor %0<[4:7]> : (tensor<10xf32>) -> tensor<3xf32>
  return %1 : tensor<3xf32>
}

// -----

// CHECK-LABEL: @negative_read_of_other_part
// CHECK: trace.subtensor %{{.+}}<[5:7]>
func.func @negative_read_of_other_part(%x: tensor<10xf32>, %v: tensor<3xf32>) -> tensor<2xf32> {
  %0 = trace.set_subtensor %x<[4:7]> = %v : (tensor<10xf32>, tensor<3xf32>) -> tensor<10xf32>
  %1 = trace.subtensor %0<[5:7]> : (tensor<10xf32>) -> tensor<2xf32>
  return %1 : tensor<2xf32>
}

// -----

// CHECK-LABEL: @masked_set_is_where
func.func @masked_set_is_where(%x: tensor<?x3xf32>, %v: tensor<f32>) -> tensor<?x3xf32> {
  // CHECK: %[[M:.+]] = trace.gt
  %m = trace.gt %x, %v : (tensor<?x3xf32>, tensor<f32>) -> tensor<?x3xi1>
  // CHECK: trace.where %[[M]], %arg1, %arg0 {op_ids = array<i64: 9>}
  %0 = trace.set_indexing_multi_axis_vec %x<[mask(2)]>(%m) = %v {op_ids = array<i64: 9>} : (tensor<?x3xf32>, tensor<f32>, tensor<?x3xi1>) -> tensor<?x3xf32>
  return %0 : tensor<?x3xf32>
}

// -----

// CHECK-LABEL: @masked_set_of_rows_is_where
func.func @masked_set_of_rows_is_where(%x: tensor<5x3xf32>, %m: tensor<5xi1>, %v: tensor<3xf32>) -> tensor<5x3xf32> {
  // CHECK: %[[M:.+]] = trace.subtensor %arg1<[:, newaxis]> : (tensor<5xi1>) -> tensor<5x1xi1>
  // CHECK: trace.where %[[M]], %arg2, %arg0
  %0 = trace.set_indexing_multi_axis_vec %x<[mask(1), :]>(%m) = %v : (tensor<5x3xf32>, tensor<3xf32>, tensor<5xi1>) -> tensor<5x3xf32>
  return %0 : tensor<5x3xf32>
}

// -----

/// One value per selected element; a mask whose size is not known to be the base's.
// CHECK-LABEL: @negative_value_spans_the_count
// CHECK-COUNT-2: trace.set_indexing_multi_axis_vec
func.func @negative_value_spans_the_count(%x: tensor<5xf32>, %y: tensor<?xf32>, %m: tensor<5xi1>, %k: tensor<?xi1>, %v: tensor<?xf32>, %s: tensor<f32>) -> (tensor<5xf32>, tensor<?xf32>) {
  %0 = trace.set_indexing_multi_axis_vec %x<[mask(1)]>(%m) = %v : (tensor<5xf32>, tensor<?xf32>, tensor<5xi1>) -> tensor<5xf32>
  %1 = trace.set_indexing_multi_axis_vec %y<[mask(1)]>(%k) = %s : (tensor<?xf32>, tensor<f32>, tensor<?xi1>) -> tensor<?xf32>
  return %0, %1 : tensor<5xf32>, tensor<?xf32>
}

// -----

/// The row may be out of range, the column may not: one error, where it was.
// CHECK-LABEL: @position_composes_where_it_can_fail
// CHECK: trace.subtensor %arg0<[3, 2]>
// CHECK-NEXT: trace.subtensor %arg0<[7, :]>
// CHECK-NEXT: return
func.func @position_composes_where_it_can_fail(%x: tensor<?x8xf32>) -> (tensor<f32>, tensor<8xf32>) {
  %0 = trace.subtensor %x<[3, :]> : (tensor<?x8xf32>) -> tensor<8xf32>
  %1 = trace.subtensor %x<[7, :]> : (tensor<?x8xf32>) -> tensor<8xf32>
  %2 = trace.subtensor %0<[2]> : (tensor<8xf32>) -> tensor<f32>
  return %2, %1 : tensor<f32>, tensor<8xf32>
}

// -----

/// In one index the error would name axis 1, and of two errors that of the lower axis would come.
// CHECK-LABEL: @negative_error_of_another_axis
// CHECK: trace.subtensor %arg0<[3, :]>
// CHECK: trace.subtensor %{{.+}}<[2]>
// CHECK: trace.subtensor %arg1<[:, 5]>
// CHECK: trace.subtensor %{{.+}}<[4]>
func.func @negative_error_of_another_axis(%x: tensor<8x?xf32>, %y: tensor<?x?xf32>) -> (tensor<f32>, tensor<f32>) {
  %0 = trace.subtensor %x<[3, :]> : (tensor<8x?xf32>) -> tensor<?xf32>
  %1 = trace.subtensor %0<[2]> : (tensor<?xf32>) -> tensor<f32>
  %2 = trace.subtensor %y<[:, 5]> : (tensor<?x?xf32>) -> tensor<?xf32>
  %3 = trace.subtensor %2<[4]> : (tensor<?xf32>) -> tensor<f32>
  return %1, %3 : tensor<f32>, tensor<f32>
}

// -----

// CHECK-LABEL: @negative_row_of_a_gather_of_columns
// CHECK: trace.indexing_multi_axis_vec %arg0<[:, array]>
// CHECK: trace.subtensor
func.func @negative_row_of_a_gather_of_columns(%x: tensor<10x8xf32>, %i: tensor<4xi64>) -> tensor<4xf32> {
  %0 = trace.indexing_multi_axis_vec %x<[:, array]>(%i) : (tensor<10x8xf32>, tensor<4xi64>) -> tensor<10x4xf32>
  %1 = trace.subtensor %0<[2, :]> : (tensor<10x4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

/// The gather stays before the op that may fail after it.
// CHECK-LABEL: @slice_of_gather_stays_in_its_place
// CHECK: trace.indexing_multi_axis_vec %{{.+}}<[array, :]>(%arg1)
// CHECK-NEXT: trace.subtensor %arg2<[9]>
func.func @slice_of_gather_stays_in_its_place(%x: tensor<10x8xf32>, %i: tensor<4xi64>, %y: tensor<?xf32>) -> (tensor<4x3xf32>, tensor<f32>) {
  %0 = trace.indexing_multi_axis_vec %x<[array, :]>(%i) : (tensor<10x8xf32>, tensor<4xi64>) -> tensor<4x8xf32>
  %1 = trace.subtensor %y<[9]> : (tensor<?xf32>) -> tensor<f32>
  %2 = trace.subtensor %0<[:, 1:4]> : (tensor<4x8xf32>) -> tensor<4x3xf32>
  return %2, %1 : tensor<4x3xf32>, tensor<f32>
}

// -----

/// The rows may not have as many elements as the value: the set must say so.
// CHECK-LABEL: @negative_value_may_not_fit_the_rows
// CHECK: trace.set_indexing_multi_axis_vec
func.func @negative_value_may_not_fit_the_rows(%x: tensor<5x?xf32>, %m: tensor<5xi1>, %v: tensor<?xf32>) -> tensor<5x?xf32> {
  %0 = trace.set_indexing_multi_axis_vec %x<[mask(1), :]>(%m) = %v : (tensor<5x?xf32>, tensor<?xf32>, tensor<5xi1>) -> tensor<5x?xf32>
  return %0 : tensor<5x?xf32>
}

// -----

/// The slice of a sum is the sum of slices when both sides have one size in every call, whatever ops
/// that size came through.
// CHECK-LABEL: @view_of_values_of_computed_sizes
// CHECK: %[[S:.+]] = trace.subtensor %{{.+}}<[1:]>
// CHECK: %[[T:.+]] = trace.subtensor %{{.+}}<[1:]>
// CHECK: trace.add %[[S]], %[[T]]
func.func @view_of_values_of_computed_sizes(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %0 = trace.concat %x, %y axis 0 : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  %1 = trace.concat %y, %x axis 0 : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  %2 = trace.add %0, %1 : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  %3 = trace.subtensor %2<[1:]> : (tensor<?xf32>) -> tensor<?xf32>
  return %3 : tensor<?xf32>
}

// -----

/// max(n - 2, 0) + 2 is not n: no size is lost in a clamp.
// CHECK-LABEL: @negative_clamped_size
// CHECK: trace.add
// CHECK: trace.subtensor %{{.+}}<[1:]>
// CHECK-NEXT: return
func.func @negative_clamped_size(%x: tensor<?xf32>, %z: tensor<2xf32>) -> tensor<?xf32> {
  %0 = trace.subtensor %x<[2:]> : (tensor<?xf32>) -> tensor<?xf32>
  %1 = trace.concat %0, %z axis 0 : (tensor<?xf32>, tensor<2xf32>) -> tensor<?xf32>
  %2 = trace.add %1, %x : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  %3 = trace.subtensor %2<[1:]> : (tensor<?xf32>) -> tensor<?xf32>
  return %3 : tensor<?xf32>
}
