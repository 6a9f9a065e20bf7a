// RUN: tracec-opt %s -split-input-file -cse -canonicalize | FileCheck %s

/// Upstream's own passes must keep index checks.
// CHECK-LABEL: @gather_is_kept
func.func @gather_is_kept(%x: tensor<8xf32>, %i: tensor<4xi64>, %n: tensor<?xf32>) {
  // CHECK: trace.indexing_multi_axis_vec
  %0 = trace.indexing_multi_axis_vec %x<[array]>(%i) : (tensor<8xf32>, tensor<4xi64>) -> tensor<4xf32>
  // CHECK: trace.subtensor %{{.+}}<[3]>
  %1 = trace.subtensor %n<[3]> : (tensor<?xf32>) -> tensor<f32>
  return
}

// -----

// CHECK-LABEL: @negative_cannot_fail
// CHECK-NOT: trace.
// CHECK: return
func.func @negative_cannot_fail(%x: tensor<8xf32>, %m: tensor<8xi1>) {
  %0 = trace.subtensor %x<[1:]> : (tensor<8xf32>) -> tensor<7xf32>
  %1 = trace.subtensor %x<[3]> : (tensor<8xf32>) -> tensor<f32>
  %2 = trace.indexing_multi_axis_vec %x<[mask(1)]>(%m) : (tensor<8xf32>, tensor<8xi1>) -> tensor<?xf32>
  %3 = trace.exp %x : (tensor<8xf32>) -> tensor<8xf32>
  return
}
