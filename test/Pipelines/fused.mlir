// RUN: tracec-opt %s -split-input-file -tracec-fused | FileCheck %s

/// Stencil of shifted slices, written back: reads are views, the arithmetic one kernel, the set in
/// place.
// CHECK-LABEL: @stencil
func.func @stencil(%x: tensor<?x?xf32> {trace.recorded_shape = array<i64: 50, 60>}) -> tensor<?x?xf32> {
  // CHECK-DAG: %[[UP:.+]] = trace.subtensor %arg0<[:-2, 1:-1]>
  // CHECK-DAG: %[[DOWN:.+]] = trace.subtensor %arg0<[2:, 1:-1]>
  // CHECK: %[[NEW:.+]] = trace.group {
  // CHECK-NOT: trace.subtensor
  // CHECK: }
  // CHECK: trace.set_subtensor %{{.+}}<[1:-1, 1:-1]> = %[[NEW]] in_place
  %half = trace.full shape [] value 0.5 : f32 : () -> tensor<f32>
  %base = trace.mul %x, %half : (tensor<?x?xf32>, tensor<f32>) -> tensor<?x?xf32>
  %rows = trace.subtensor %x<[:, 1:-1]> : (tensor<?x?xf32>) -> tensor<?x?xf32>
  %up = trace.subtensor %rows<[:-2, :]> : (tensor<?x?xf32>) -> tensor<?x?xf32>
  %down = trace.subtensor %rows<[2:, :]> : (tensor<?x?xf32>) -> tensor<?x?xf32>
  %sum = trace.add %up, %down : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  %new = trace.mul %sum, %half : (tensor<?x?xf32>, tensor<f32>) -> tensor<?x?xf32>
  %out = trace.set_subtensor %base<[1:-1, 1:-1]> = %new : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  return %out : tensor<?x?xf32>
}

// -----

/// mean of what a mask selects: one kernel, nothing of the mask's count is stored.
// CHECK-LABEL: @masked_mean
// CHECK: trace.group {
// CHECK-NEXT: trace.gt
// CHECK-NEXT: trace.indexing_multi_axis_vec
// CHECK-NEXT: trace.sum
// CHECK: }
// CHECK-NOT: trace.group
// CHECK: trace.axis_size
// CHECK: trace.div
func.func @masked_mean(%x: tensor<?xf32>, %t: tensor<f32>) -> tensor<f32> {
  %m = trace.gt %x, %t : (tensor<?xf32>, tensor<f32>) -> tensor<?xi1>
  %s = trace.indexing_multi_axis_vec %x<[mask(1)]>(%m) : (tensor<?xf32>, tensor<?xi1>) -> tensor<?xf32>
  %r = trace.mean %s axes [0] keepdims false : (tensor<?xf32>) -> tensor<f32>
  return %r : tensor<f32>
}
