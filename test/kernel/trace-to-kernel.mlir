// RUN: tracec-opt %s -split-input-file -trace-to-kernel | FileCheck %s

/// Inputs become loads, what is used outside a store; an operand of rank 0 repeats.
// CHECK-LABEL: kernel.func @map_kernel domain 1 split outer_axis ops [3, 5]
// CHECK-SAME: (%[[X:.+]]: !kernel.access<load f32 contiguous>, %[[Y:.+]]: !kernel.access<load f32 zero>, %[[OUT:.+]]: !kernel.access<store f32 contiguous>)
// CHECK-NEXT: %[[A:.+]] = kernel.load %[[X]]
// CHECK-NEXT: %[[B:.+]] = kernel.load %[[Y]]
// CHECK-NEXT: %[[S:.+]] = kernel.apply "add"(%[[A]], %[[B]]) : (f32, f32) -> f32
// CHECK-NEXT: %[[T:.+]] = kernel.apply "tanh"(%[[S]]) : (f32) -> f32
// CHECK-NEXT: kernel.store %[[T]] to %[[OUT]]
func.func @map(%x: tensor<?xf32>, %y: tensor<f32>) -> tensor<?xf32> {
  %copy = trace.exp %x : (tensor<?xf32>) -> tensor<?xf32>
  %0 = trace.group {
    %1 = trace.add %copy, %y {op_ids = array<i64: 3>} : (tensor<?xf32>, tensor<f32>) -> tensor<?xf32>
    %2 = trace.tanh %1 {op_ids = array<i64: 5>} : (tensor<?xf32>) -> tensor<?xf32>
    trace.yield %2 : tensor<?xf32>
  } : tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

/// A value loaded twice is one access; a cast has both types.
// CHECK-LABEL: kernel.func @cast_and_square_kernel
// CHECK-COUNT-1: kernel.load
// CHECK-NEXT: kernel.apply "mul"
// CHECK-NEXT: kernel.cast %{{.+}} : f32 to ui8
// CHECK-NEXT: kernel.store
func.func @cast_and_square(%x: tensor<?xf32>) -> tensor<?xui8> {
  %0 = trace.group {
    %1 = trace.mul %x, %x : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
    %2 = trace.cast %1 to ui8 : (tensor<?xf32>) -> tensor<?xui8>
    trace.yield %2 : tensor<?xui8>
  } : tensor<?xui8>
  return %0 : tensor<?xui8>
}

// -----

/// Dims that are statically 1 are unit axes.
// CHECK-LABEL: kernel.func @unit_axis_kernel domain 2 reduced [0] unit [1]
// CHECK: kernel.reduce "sum"(%{{.+}}) to %{{.+}} : <reduce_store f32 zero>, f32
func.func @unit_axis(%x: tensor<?x1xf32>) -> tensor<1xf32> {
  %0 = trace.group {
    %1 = trace.exp %x : (tensor<?x1xf32>) -> tensor<?x1xf32>
    %2 = trace.max %1 axes [0] keepdims false : (tensor<?x1xf32>) -> tensor<1xf32>
    %3 = trace.sum %1 axes [0] keepdims false : (tensor<?x1xf32>) -> tensor<1xf32>
    trace.yield %3 : tensor<1xf32>
  } : tensor<1xf32>
  return %0 : tensor<1xf32>
}

// -----

/// Kept last axis: outer order, the result is contiguous along the vector axis.
// CHECK-LABEL: kernel.func @column_sum_kernel domain 2 reduced [0]
// CHECK-NOT: split
// CHECK: kernel.reduce "sum"(%{{.+}}) to %{{.+}} : <reduce_store f32 contiguous>, f32
func.func @column_sum(%x: tensor<?x?xf32>) -> tensor<?xf32> {
  %0 = trace.group {
    %1 = trace.sum %x axes [0] keepdims false : (tensor<?x?xf32>) -> tensor<?xf32>
    trace.yield %1 : tensor<?xf32>
  } : tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

/// One element is no work to split.
// CHECK-LABEL: kernel.func @unit_sum_kernel domain 1 reduced [0] unit [0]
// CHECK-NOT: split
// CHECK: kernel.reduce "sum"
func.func @unit_sum(%x: tensor<1xf32>) -> tensor<f32> {
  %0 = trace.group {
    %1 = trace.sum %x axes [0] keepdims false : (tensor<1xf32>) -> tensor<f32>
    trace.yield %1 : tensor<f32>
  } : tensor<f32>
  return %0 : tensor<f32>
}

// -----

/// A sum of everything leaves one partial per block, of float16 in float32.
// CHECK-LABEL: kernel.func @full_sum_kernel domain 1 reduced [0] split sequence_blocks
// CHECK: kernel.reduce "sum"(%{{.+}}) to %{{.+}} : <reduce_store f32 zero>, f16
func.func @full_sum(%x: tensor<?xf16>) -> tensor<f16> {
  %0 = trace.group {
    %1 = trace.sum %x axes [0] keepdims false : (tensor<?xf16>) -> tensor<f16>
    trace.yield %1 : tensor<f16>
  } : tensor<f16>
  return %0 : tensor<f16>
}

// -----

/// A mask is a condition at the sinks: values are computed for all points and nothing is stored between.
// CHECK-LABEL: kernel.func @masked_sum_kernel domain 1 reduced [0]
// CHECK: %[[M:.+]] = kernel.apply "gt"
// CHECK: %[[V:.+]] = kernel.apply "mul"
// CHECK-NEXT: kernel.reduce "sum"(%[[V]]) where %[[M]]
// CHECK-NOT: kernel.compact
// CHECK: func.func
func.func @masked_sum(%x: tensor<?xf32>, %t: tensor<f32>) -> tensor<f32> {
  %0 = trace.group {
    %1 = trace.gt %x, %t : (tensor<?xf32>, tensor<f32>) -> tensor<?xi1>
    %2 = trace.indexing_multi_axis_vec %x<[mask(1)]>(%1) : (tensor<?xf32>, tensor<?xi1>) -> tensor<?xf32>
    %3 = trace.mul %2, %t : (tensor<?xf32>, tensor<f32>) -> tensor<?xf32>
    %4 = trace.sum %3 axes [0] keepdims false : (tensor<?xf32>) -> tensor<f32>
    trace.yield %4 : tensor<f32>
  } : tensor<f32>
  return %0 : tensor<f32>
}

// -----

/// What the mask selected is packed where it is used outside.
// CHECK-LABEL: kernel.func @compact_kernel domain 1
// CHECK: kernel.compact %{{.+}} where %{{.+}} to %{{.+}} : <compact_store f32 contiguous>
func.func @compact(%x: tensor<?xf32>, %m: tensor<?xi1>) -> tensor<?xf32> {
  %0 = trace.group {
    %1 = trace.indexing_multi_axis_vec %x<[mask(1)]>(%m) : (tensor<?xf32>, tensor<?xi1>) -> tensor<?xf32>
    %2 = trace.exp %1 : (tensor<?xf32>) -> tensor<?xf32>
    trace.yield %2 : tensor<?xf32>
  } : tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

/// An index array from outside is an access; one from inside is a value.
// CHECK-LABEL: kernel.func @gathers_kernel
// CHECK: %[[T:.+]]: !kernel.access<gather f32 zero axes 1>
// CHECK: %[[POS:.+]] = kernel.load %{{.+}} : <index i64 contiguous>
// CHECK: kernel.gather %{{.+}}[%[[POS]]] : <gather f32 zero axes 1>, i64
// CHECK: %[[CAST:.+]] = kernel.cast %{{.+}} : ui8 to i64
// CHECK: kernel.gather %{{.+}}[%[[CAST]]] : <gather f32 zero axes 1>, i64
func.func @gathers(%t: tensor<256xf32>, %i: tensor<?xi64>, %b: tensor<?xui8>) -> tensor<?xf32> {
  %i0 = trace.add %i, %i : (tensor<?xi64>, tensor<?xi64>) -> tensor<?xi64>
  %0 = trace.group {
    %1 = trace.indexing_multi_axis_vec %t<[array]>(%i0) : (tensor<256xf32>, tensor<?xi64>) -> tensor<?xf32>
    %2 = trace.cast %b to i64 : (tensor<?xui8>) -> tensor<?xi64>
    %3 = trace.indexing_multi_axis_vec %t<[array]>(%2) : (tensor<256xf32>, tensor<?xi64>) -> tensor<?xf32>
    %4 = trace.add %1, %3 : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
    trace.yield %4 : tensor<?xf32>
  } : tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

/// Nobody reads the elements, but their count comes from storing them.
// CHECK-LABEL: kernel.func @count_kernel domain 1
// CHECK: kernel.compact
func.func @count(%x: tensor<?xf32>, %m: tensor<?xi1>) -> tensor<i64> {
  %0 = trace.group {
    %1 = trace.logical_not %m : (tensor<?xi1>) -> tensor<?xi1>
    %2 = trace.indexing_multi_axis_vec %x<[mask(1)]>(%1) : (tensor<?xf32>, tensor<?xi1>) -> tensor<?xf32>
    trace.yield %2 : tensor<?xf32>
  } : tensor<?xf32>
  %3 = trace.axis_size %0 axes [0] : (tensor<?xf32>) -> tensor<i64>
  return %3 : tensor<i64>
}
