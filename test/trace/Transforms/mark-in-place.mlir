// RUN: tracec-opt %s -split-input-file -trace-mark-in-place | FileCheck %s

// CHECK-LABEL: @old_value_dead
func.func @old_value_dead(%x: tensor<4xf32>, %v: tensor<f32>) -> tensor<4xf32> {
  %0 = trace.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: trace.set_subtensor %{{.+}}<[1:]> = %{{.+}} in_place
  %1 = trace.set_subtensor %0<[1:]> = %v : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  // CHECK: trace.set_subtensor %{{.+}}<[:2]> = %{{.+}} in_place
  %2 = trace.set_subtensor %1<[:2]> = %v : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}

// -----

/// The value read from the same memory is an operand of the set itself; kernels cope with overlap.
// CHECK-LABEL: @own_operand_aliases
func.func @own_operand_aliases(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = trace.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = trace.subtensor %0<[:-1]> : (tensor<4xf32>) -> tensor<3xf32>
  // CHECK: trace.set_subtensor %{{.+}}<[1:]> = %{{.+}} in_place
  %2 = trace.set_subtensor %0<[1:]> = %1 : (tensor<4xf32>, tensor<3xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}

// -----

// CHECK-LABEL: @negative_old_value_returned
// CHECK-NOT: in_place
// CHECK: return
func.func @negative_old_value_returned(%x: tensor<4xf32>, %v: tensor<f32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = trace.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = trace.set_subtensor %0<[1:]> = %v : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// -----

// CHECK-LABEL: @negative_view_read_later
// CHECK-NOT: in_place
// CHECK: return
func.func @negative_view_read_later(%x: tensor<4xf32>, %v: tensor<f32>) -> (tensor<4xf32>, tensor<2xf32>) {
  %0 = trace.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = trace.subtensor %0<[2:]> : (tensor<4xf32>) -> tensor<2xf32>
  %2 = trace.set_subtensor %0<[1:]> = %v : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %3 = trace.tanh %1 : (tensor<2xf32>) -> tensor<2xf32>
  return %2, %3 : tensor<4xf32>, tensor<2xf32>
}

// -----

/// One memory for two elements.
// CHECK-LABEL: @negative_set_of_a_view
// CHECK-NOT: in_place
// CHECK: return
func.func @negative_set_of_a_view(%x: tensor<1xf32>, %v: tensor<f32>) -> tensor<2xf32> {
  %0 = trace.broadcast_to %x shape [2] : (tensor<1xf32>) -> tensor<2xf32>
  %1 = trace.set_subtensor %0<[1:]> = %v : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  return %1 : tensor<2xf32>
}

// -----

/// Sizes are no memory.
// CHECK-LABEL: @sizes_read_later
func.func @sizes_read_later(%x: tensor<?xf32>, %v: tensor<f32>) -> tensor<?xf32> {
  %0 = trace.exp %x : (tensor<?xf32>) -> tensor<?xf32>
  // CHECK: trace.set_subtensor %{{.+}}<[1:]> = %{{.+}} in_place
  %1 = trace.set_subtensor %0<[1:]> = %v : (tensor<?xf32>, tensor<f32>) -> tensor<?xf32>
  %2 = trace.guard_one %0 axis 0 is_one false : (tensor<?xf32>) -> tensor<i64>
  return %1 : tensor<?xf32>
}
