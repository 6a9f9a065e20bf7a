// RUN: tracec-opt %s -split-input-file -trace-decompose | FileCheck %s

// CHECK-LABEL: @mean_f16
// CHECK-SAME: %[[X:.+]]: tensor<?x4xf16>
func.func @mean_f16(%x: tensor<?x4xf16>) -> tensor<4xf16> {
  // CHECK: %[[WIDE:.+]] = trace.cast %[[X]] to f32 {op_ids = array<i64: 5>}
  // CHECK: %[[SUM:.+]] = trace.sum %[[WIDE]] axes [0] keepdims false {op_ids = array<i64: 5>}
  // CHECK: %[[SIZE:.+]] = trace.axis_size %[[X]] axes [0]
  // CHECK: %[[COUNT:.+]] = trace.cast %[[SIZE]] to f32
  // CHECK: %[[MEAN:.+]] = trace.div %[[SUM]], %[[COUNT]]
  // CHECK: trace.cast %[[MEAN]] to f16
  %0 = trace.mean %x axes [0] keepdims false {op_ids = array<i64: 5>} : (tensor<?x4xf16>) -> tensor<4xf16>
  return %0 : tensor<4xf16>
}

// -----

// CHECK-LABEL: @negative_sum
// CHECK-NEXT: trace.sum
// CHECK-NEXT: return
func.func @negative_sum(%x: tensor<4xf32>) -> tensor<f32> {
  %0 = trace.sum %x axes [0] keepdims false : (tensor<4xf32>) -> tensor<f32>
  return %0 : tensor<f32>
}
