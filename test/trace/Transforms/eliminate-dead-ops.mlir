// RUN: tracec-opt %s -split-input-file -trace-eliminate-dead-ops | FileCheck %s

// CHECK-LABEL: @dead_chain
// CHECK-NEXT: return
func.func @dead_chain(%x: tensor<4xf32>, %v: tensor<2xf32>) {
  %c = trace.constant dense<1.0> : tensor<f32>
  %0 = trace.add %x, %c : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %1 = trace.set_subtensor %0<[2:]> = %v : (tensor<4xf32>, tensor<2xf32>) -> tensor<4xf32>
  return
}

// -----

/// Unused, but an index may be out of range: the error must come.
// CHECK-LABEL: @negative_checks_stay
// CHECK: trace.indexing_multi_axis_vec
// CHECK: trace.set_indexing_multi_axis_vec
// CHECK: trace.subtensor
func.func @negative_checks_stay(%x: tensor<4xf32>, %i: tensor<2xi64>, %v: tensor<f32>, %n: tensor<?xf32>) {
  %0 = trace.indexing_multi_axis_vec %x<[array]>(%i) : (tensor<4xf32>, tensor<2xi64>) -> tensor<2xf32>
  %1 = trace.set_indexing_multi_axis_vec %x<[array]>(%i) = %v : (tensor<4xf32>, tensor<f32>, tensor<2xi64>) -> tensor<4xf32>
  %2 = trace.subtensor %n<[5]> : (tensor<?xf32>) -> tensor<f32>
  return
}
