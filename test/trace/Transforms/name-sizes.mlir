// RUN: tracec-opt %s -split-input-file -trace-name-sizes | FileCheck %s

// CHECK-LABEL: @broadcast_makes_equal
// CHECK-SAME: %{{.+}}: tensor<?x3xf32> {trace.symbols = array<i64: 0, -1>}
// CHECK-SAME: %{{.+}}: tensor<?xf32> {trace.symbols = array<i64: 1>}
// CHECK-SAME: %{{.+}}: tensor<?x1xf32> {trace.symbols = array<i64: 0, -1>}
func.func @broadcast_makes_equal(%x: tensor<?x3xf32>, %z: tensor<?xf32>, %y: tensor<?x1xf32>) -> tensor<?x3xf32> {
  %0 = trace.add %x, %y : (tensor<?x3xf32>, tensor<?x1xf32>) -> tensor<?x3xf32>
  return %0 : tensor<?x3xf32>
}

// -----

// CHECK-LABEL: @meets_static
// CHECK-SAME: trace.symbols = array<i64: 0>
// CHECK-SAME: trace.fixed_sizes = array<i64: 7>
func.func @meets_static(%x: tensor<?xf32>, %y: tensor<7xf32>) -> tensor<7xf32> {
  %0 = trace.add %x, %y : (tensor<?xf32>, tensor<7xf32>) -> tensor<7xf32>
  return %0 : tensor<7xf32>
}

// -----

/// Slices that differ meet: nothing about whole sizes follows that could be checked at the door.
// CHECK-LABEL: @negative_slices
// CHECK-SAME: trace.symbols = array<i64: 0>
// CHECK-SAME: trace.symbols = array<i64: 1>
func.func @negative_slices(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %0 = trace.subtensor %x<[1:]> : (tensor<?xf32>) -> tensor<?xf32>
  %1 = trace.subtensor %y<[2:]> : (tensor<?xf32>) -> tensor<?xf32>
  %2 = trace.add %0, %1 : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  return %2 : tensor<?xf32>
}

// -----

/// The door of a file compares what has one name; what only meets may also be 1.
// CHECK-LABEL: @given_symbols
// CHECK-SAME: %arg0: tensor<?xf32> {trace.symbols = array<i64: 0>}
// CHECK-SAME: %arg1: tensor<?xf32> {trace.symbols = array<i64: 1>}
// CHECK-SAME: %arg2: tensor<?xf32> {trace.symbols = array<i64: 0>}
func.func @given_symbols(%x: tensor<?xf32> {trace.symbols = array<i64: 5>}, %y: tensor<?xf32> {trace.symbols = array<i64: 7>}, %z: tensor<?xf32> {trace.symbols = array<i64: 5>}) attributes {trace.symbols_given} {
  %0 = trace.add %x, %y : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  %1 = trace.add %x, %z : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  return
}
