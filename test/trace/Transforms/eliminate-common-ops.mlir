// RUN: tracec-opt %s -split-input-file -trace-eliminate-common-ops | FileCheck %s

// CHECK-LABEL: @equal_ops_merge
// CHECK-NEXT: %[[SUM:.+]] = trace.add %arg0, %arg1 {op_ids = array<i64: 0, 1, 2>}
// CHECK-NEXT: return %[[SUM]], %[[SUM]], %[[SUM]]
func.func @equal_ops_merge(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %0 = trace.add %x, %y {op_ids = array<i64: 0>} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = trace.add %x, %y {op_ids = array<i64: 1>} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %2 = trace.add %y, %x {op_ids = array<i64: 2>} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0, %1, %2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// CHECK-LABEL: @negative_not_commutative
// CHECK-COUNT-2: trace.sub
// CHECK: trace.subtensor %arg0<[1:]>
// CHECK: trace.subtensor %arg0<[2:]>
func.func @negative_not_commutative(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<3xf32>, tensor<2xf32>) {
  %0 = trace.sub %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = trace.sub %y, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %2 = trace.subtensor %x<[1:]> : (tensor<4xf32>) -> tensor<3xf32>
  %3 = trace.subtensor %x<[2:]> : (tensor<4xf32>) -> tensor<2xf32>
  return %0, %1, %2, %3 : tensor<4xf32>, tensor<4xf32>, tensor<3xf32>, tensor<2xf32>
}
