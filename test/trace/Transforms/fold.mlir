// RUN: tracec-opt %s -split-input-file -trace-fold | FileCheck %s

// CHECK-LABEL: @no_op_chain
// CHECK-SAME: %[[X:.+]]: tensor<4x5xf32>
// CHECK-NEXT: return %[[X]]
func.func @no_op_chain(%x: tensor<4x5xf32>) -> tensor<4x5xf32> {
  %0 = trace.cast %x to f32 : (tensor<4x5xf32>) -> tensor<4x5xf32>
  %1 = trace.permute %0 axes [0, 1] : (tensor<4x5xf32>) -> tensor<4x5xf32>
  %2 = trace.reshape %1 shape [4, 5] : (tensor<4x5xf32>) -> tensor<4x5xf32>
  %3 = trace.subtensor %2<[:, :]> : (tensor<4x5xf32>) -> tensor<4x5xf32>
  return %3 : tensor<4x5xf32>
}

// -----

/// A copy written as an assignment of everything.
// CHECK-LABEL: @dead_copy_vanishes
// CHECK-SAME: %{{.+}}: tensor<4xf32>, %[[V:.+]]: tensor<4xf32>
// CHECK-NEXT: return %[[V]]
func.func @dead_copy_vanishes(%x: tensor<4xf32>, %v: tensor<4xf32>) -> tensor<4xf32> {
  %0 = trace.set_subtensor %x<[:]> = %v : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// CHECK-LABEL: @permute_of_permute
func.func @permute_of_permute(%x: tensor<2x3x4xf32>) -> tensor<3x4x2xf32> {
  // CHECK: trace.permute %arg0 axes [1, 2, 0] {op_ids = array<i64: 1, 2>}
  %0 = trace.permute %x axes [2, 0, 1] {op_ids = array<i64: 1>} : (tensor<2x3x4xf32>) -> tensor<4x2x3xf32>
  %1 = trace.permute %0 axes [2, 0, 1] {op_ids = array<i64: 2>} : (tensor<4x2x3xf32>) -> tensor<3x4x2xf32>
  return %1 : tensor<3x4x2xf32>
}

// -----

// CHECK-LABEL: @constants
func.func @constants(%x: tensor<6xf32>) -> (tensor<f32>, tensor<f32>) {
  // CHECK: trace.constant dense<6.000000e+00> : tensor<f32>
  %0 = trace.axis_size %x axes [0] : (tensor<6xf32>) -> tensor<i64>
  %1 = trace.cast %0 to f32 : (tensor<i64>) -> tensor<f32>
  // CHECK: trace.constant dense<3.000000e+00> : tensor<f32>
  %2 = trace.full shape [] value 3.0 : f32 : () -> tensor<f32>
  return %1, %2 : tensor<f32>, tensor<f32>
}

// -----

/// A set of everything by a value that broadcasts, a size that may change, a set of a part.
// CHECK-LABEL: @negative_not_a_copy
// CHECK-NEXT: trace.set_subtensor
// CHECK-NEXT: trace.set_subtensor
// CHECK-NEXT: trace.full
// CHECK-NEXT: return
func.func @negative_not_a_copy(%x: tensor<4xf32>, %v: tensor<f32>, %w: tensor<3xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<2xf32>) {
  %0 = trace.set_subtensor %x<[:]> = %v : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %1 = trace.set_subtensor %x<[1:]> = %w : (tensor<4xf32>, tensor<3xf32>) -> tensor<4xf32>
  %2 = trace.full shape [2] value 3.0 : f32 : () -> tensor<2xf32>
  return %0, %1, %2 : tensor<4xf32>, tensor<4xf32>, tensor<2xf32>
}

// -----

/// An error must name the shape that the user's reshape met; the second cannot fail after the first.
// CHECK-LABEL: @negative_reshape_of_reshape_that_can_fail
// CHECK: trace.reshape %arg0 shape [2, 2]
// CHECK: trace.reshape %arg0 shape [4]
// CHECK: trace.reshape %arg0 shape [-1]
// CHECK: trace.reshape %{{.+}} shape [3, -1]
func.func @negative_reshape_of_reshape_that_can_fail(%x: tensor<?xf32>) -> (tensor<4xf32>, tensor<3x?xf32>) {
  %0 = trace.reshape %x shape [2, 2] : (tensor<?xf32>) -> tensor<2x2xf32>
  %1 = trace.reshape %0 shape [4] : (tensor<2x2xf32>) -> tensor<4xf32>
  %2 = trace.reshape %x shape [-1] : (tensor<?xf32>) -> tensor<?xf32>
  %3 = trace.reshape %2 shape [3, -1] : (tensor<?xf32>) -> tensor<3x?xf32>
  return %1, %3 : tensor<4xf32>, tensor<3x?xf32>
}
