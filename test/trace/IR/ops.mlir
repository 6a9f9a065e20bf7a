// RUN: tracec-opt %s -split-input-file | tracec-opt -split-input-file | FileCheck %s
// RUN: tracec-opt %s -split-input-file -mlir-print-op-generic | tracec-opt -split-input-file | FileCheck %s

// CHECK-LABEL: @pointwise
func.func @pointwise(%x: tensor<?x3xf32>, %y: tensor<3xf32>, %m: tensor<?x3xi1>) -> tensor<?x3xi32> {
  // CHECK: trace.add %{{.+}}, %{{.+}} {op_ids = array<i64: 4>} : (tensor<?x3xf32>, tensor<3xf32>) -> tensor<?x3xf32>
  %0 = trace.add %x, %y {op_ids = array<i64: 4>} : (tensor<?x3xf32>, tensor<3xf32>) -> tensor<?x3xf32>
  %1 = trace.tanh %0 : (tensor<?x3xf32>) -> tensor<?x3xf32>
  %2 = trace.where %m, %1, %y : (tensor<?x3xi1>, tensor<?x3xf32>, tensor<3xf32>) -> tensor<?x3xf32>
  // CHECK: trace.cast %{{.+}} to i32
  %3 = trace.cast %2 to i32 : (tensor<?x3xf32>) -> tensor<?x3xi32>
  return %3 : tensor<?x3xi32>
}

// -----

// CHECK-LABEL: @dtypes
func.func @dtypes(%u: tensor<4xui8>, %b: tensor<4xi1>, %h: tensor<4xf16>) {
  // CHECK: trace.cast %{{.+}} to ui8 : (tensor<4xf16>) -> tensor<4xui8>
  %0 = trace.cast %h to ui8 : (tensor<4xf16>) -> tensor<4xui8>
  %1 = trace.eq %u, %0 : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xi1>
  %2 = trace.logical_and %1, %b : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  return
}

// -----

// CHECK-LABEL: @reduce_and_shape
func.func @reduce_and_shape(%x: tensor<?x4xf32>, %n: tensor<i64>) {
  // CHECK: trace.sum %{{.+}} axes [0] keepdims false
  %0 = trace.sum %x axes [0] keepdims false : (tensor<?x4xf32>) -> tensor<4xf32>
  // CHECK: trace.permute %{{.+}} axes [1, 0]
  %1 = trace.permute %x axes [1, 0] : (tensor<?x4xf32>) -> tensor<4x?xf32>
  // CHECK: trace.axis_size %{{.+}} axes [0]
  %2 = trace.axis_size %x axes [0] : (tensor<?x4xf32>) -> tensor<i64>
  // CHECK: trace.broadcast_to %{{.+}} sizes(%{{.+}}) shape [-9223372036854775808, 4]
  %3 = trace.broadcast_to %0 sizes(%n) shape [-9223372036854775808, 4] : (tensor<4xf32>, tensor<i64>) -> tensor<?x4xf32>
  // CHECK: trace.concat %{{.+}}, %{{.+}} axis 0
  %4 = trace.concat %x, %x axis 0 : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  return
}

// -----

// CHECK-LABEL: @create
func.func @create() {
  // CHECK: trace.full shape [2, 3] value 1.500000e+00 : f32
  %0 = trace.full shape [2, 3] value 1.5 : f32 : () -> tensor<2x3xf32>
  // CHECK: trace.arange shape [5] start 0 : i64 step 2 : i64
  %1 = trace.arange shape [5] start 0 : i64 step 2 : i64 : () -> tensor<5xi64>
  // CHECK: trace.constant dense<[1, 2]> : tensor<2xi32>
  %2 = trace.constant dense<[1, 2]> : tensor<2xi32>
  // CHECK: trace.constant external 3 : tensor<512x512xf32>
  %3 = trace.constant external 3 : tensor<512x512xf32>
  return
}

// -----

// CHECK-LABEL: @indexing
func.func @indexing(%x: tensor<8x9xf32>, %i: tensor<4xi64>, %m: tensor<8xi1>, %v: tensor<f32>, %b: tensor<i64>) {
  // CHECK: trace.subtensor %{{.+}}<[1:-1, newaxis, ::-2]>
  %0 = trace.subtensor %x<[1:-1, newaxis, ::-2]> : (tensor<8x9xf32>) -> tensor<6x1x5xf32>
  // CHECK: trace.subtensor %{{.+}}<[-1, :]>
  %1 = trace.subtensor %x<[-1, :]> : (tensor<8x9xf32>) -> tensor<9xf32>
  // CHECK: trace.subtensor %{{.+}}<[?:, :]>(%{{.+}})
  %2 = trace.subtensor %x<[?:, :]>(%b) : (tensor<8x9xf32>, tensor<i64>) -> tensor<?x9xf32>
  // CHECK: trace.set_subtensor %{{.+}}<[:, 0]> = %{{.+}} in_place
  %3 = trace.set_subtensor %x<[:, 0]> = %v in_place : (tensor<8x9xf32>, tensor<f32>) -> tensor<8x9xf32>
  // CHECK: trace.indexing_multi_axis_vec %{{.+}}<[:, array]>(%{{.+}})
  %4 = trace.indexing_multi_axis_vec %x<[:, array]>(%i) : (tensor<8x9xf32>, tensor<4xi64>) -> tensor<8x4xf32>
  // CHECK: trace.indexing_multi_axis_vec %{{.+}}<[mask(1), :]>(%{{.+}}) {unchecked}
  %5 = trace.indexing_multi_axis_vec %x<[mask(1), :]>(%m) {unchecked} : (tensor<8x9xf32>, tensor<8xi1>) -> tensor<?x9xf32>
  // CHECK: trace.indexing_multi_axis_vec %{{.+}}<[array, newaxis, array], advanced_first>
  %6 = trace.indexing_multi_axis_vec %x<[array, newaxis, array], advanced_first>(%i, %i) : (tensor<8x9xf32>, tensor<4xi64>, tensor<4xi64>) -> tensor<4x1xf32>
  // CHECK: trace.set_indexing_multi_axis_vec %{{.+}}<[mask(1), :]>(%{{.+}}) = %{{.+}}
  %7 = trace.set_indexing_multi_axis_vec %x<[mask(1), :]>(%m) = %v : (tensor<8x9xf32>, tensor<f32>, tensor<8xi1>) -> tensor<8x9xf32>
  return
}

// -----

// CHECK-LABEL: @group
func.func @group(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: %[[R:.+]] = trace.group {
  // CHECK: trace.yield %{{.+}} : tensor<4xf32>
  // CHECK: } : tensor<4xf32>
  %0 = trace.group {
    %1 = trace.exp %x : (tensor<4xf32>) -> tensor<4xf32>
    %2 = trace.tanh %1 : (tensor<4xf32>) -> tensor<4xf32>
    trace.yield %2 : tensor<4xf32>
  } : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// CHECK-LABEL: @guards
func.func @guards(%x: tensor<?x4xf32>, %y: tensor<?x3xf32>, %z: tensor<?xf32>, %n: tensor<i64>) {
  // CHECK: trace.guard_one %{{.+}} axis 0 is_one false
  %0 = trace.guard_one %x axis 0 is_one false : (tensor<?x4xf32>) -> tensor<i64>
  // CHECK: trace.guard_same_shape %{{.+}}, %{{.+}} :
  %1 = trace.guard_same_shape %x, %x : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<i64>
  // CHECK: trace.guard_view %{{.+}}, %{{.+}}, %{{.+}} layout [1, 0, 1, 1, 1, 0] of_input false is_view true
  %2 = trace.guard_view %x, %y, %z layout [1, 0, 1, 1, 1, 0] of_input false is_view true : (tensor<?x4xf32>, tensor<?x3xf32>, tensor<?xf32>) -> tensor<i64>
  // CHECK: trace.guard_fits %{{.+}} in ui8
  %3 = trace.guard_fits %n in ui8 : (tensor<i64>) -> tensor<i64>
  return
}
