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

// -----

/// Unused, but a count decides whether the op is an error.
// CHECK-LABEL: @negative_checks_of_a_count_stay
// CHECK: %[[S:.+]] = trace.indexing_multi_axis_vec
// CHECK-NEXT: trace.add %[[S]], %arg2
// CHECK-NEXT: trace.max %[[S]]
// CHECK-NEXT: trace.reshape %[[S]]
func.func @negative_checks_of_a_count_stay(%x: tensor<4xf32>, %m: tensor<4xi1>, %y: tensor<2xf32>) {
  %s = trace.indexing_multi_axis_vec %x<[mask(1)]>(%m) : (tensor<4xf32>, tensor<4xi1>) -> tensor<?xf32>
  %0 = trace.add %s, %y : (tensor<?xf32>, tensor<2xf32>) -> tensor<2xf32>
  %1 = trace.max %s axes [0] keepdims false : (tensor<?xf32>) -> tensor<f32>
  %2 = trace.reshape %s shape [2, -1] : (tensor<?xf32>) -> tensor<2x?xf32>
  return
}

// -----

/// Sizes of the inputs that the program's door does not compare.
// CHECK-LABEL: @negative_checks_of_sizes_stay
// CHECK: trace.reshape
// CHECK: trace.max
// CHECK: trace.max
// CHECK: trace.add
// CHECK: trace.set_subtensor
func.func @negative_checks_of_sizes_stay(%x: tensor<?xf32>, %y: tensor<?xf32>, %z: tensor<?x?xf32>) {
  %0 = trace.reshape %x shape [2, -1] : (tensor<?xf32>) -> tensor<2x?xf32>
  %1 = trace.max %x axes [0] keepdims false : (tensor<?xf32>) -> tensor<f32>
  %5 = trace.max %z axes [0] keepdims true : (tensor<?x?xf32>) -> tensor<1x?xf32>
  %2 = trace.subtensor %x<[1:]> : (tensor<?xf32>) -> tensor<?xf32>
  %3 = trace.add %2, %y : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  %4 = trace.set_subtensor %x<[2:]> = %y : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  return
}

// -----

/// Right for all sizes: by one symbol, by one count, or because the rule has nothing to refuse.
// CHECK-LABEL: @right_for_every_size
// CHECK-NEXT: return
func.func @right_for_every_size(%x: tensor<?x?xf32>, %m: tensor<?x?xi1> {trace.symbols = array<i64: 0, 1>}, %z: tensor<?x?xf32> {trace.symbols = array<i64: 0, 1>}) {
  %0 = trace.sum %x axes [0] keepdims false : (tensor<?x?xf32>) -> tensor<?xf32>
  %1 = trace.sub %x, %0 : (tensor<?x?xf32>, tensor<?xf32>) -> tensor<?x?xf32>
  %2 = trace.reshape %1 shape [-1] : (tensor<?x?xf32>) -> tensor<?xf32>
  %3 = trace.indexing_multi_axis_vec %z<[mask(2)]>(%m) : (tensor<?x?xf32>, tensor<?x?xi1>) -> tensor<?xf32>
  %4 = trace.square %3 : (tensor<?xf32>) -> tensor<?xf32>
  %5 = trace.mul %3, %4 : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  %6 = trace.concat %3, %4 axis 0 : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  return
}

// -----

/// What a record took for granted is checked, though nobody reads the result.
// CHECK-LABEL: @negative_guards
func.func @negative_guards(%x: tensor<?x4xf32>, %n: tensor<i64>) {
  // CHECK: trace.guard_one
  %0 = trace.guard_one %x axis 0 is_one false : (tensor<?x4xf32>) -> tensor<i64>
  // CHECK: trace.guard_fits
  %1 = trace.guard_fits %n in ui8 : (tensor<i64>) -> tensor<i64>
  return
}
