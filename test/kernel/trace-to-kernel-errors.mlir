// RUN: tracec-opt %s -split-input-file -verify-diagnostics -trace-to-kernel

func.func @gather_of_computed_table(%x: tensor<?xf32>, %i: tensor<?xi64>) -> tensor<?xf32> {
  // expected-remark @below {{'trace.indexing_multi_axis_vec' cannot be in a kernel: the tensor it reads is computed in the kernel}}
  %0 = trace.group {
    %1 = trace.exp %x : (tensor<?xf32>) -> tensor<?xf32>
    %2 = trace.indexing_multi_axis_vec %1<[array]>(%i) : (tensor<?xf32>, tensor<?xi64>) -> tensor<?xf32>
    trace.yield %2 : tensor<?xf32>
  } : tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

func.func @selected_meets_unselected(%x: tensor<?xf32>, %m: tensor<?xi1>, %w: tensor<?xf32>) -> tensor<?xf32> {
  // expected-remark @below {{'trace.mul' cannot be in a kernel: a value selected by a mask meets one that is not}}
  %0 = trace.group {
    %1 = trace.indexing_multi_axis_vec %x<[mask(1)]>(%m) : (tensor<?xf32>, tensor<?xi1>) -> tensor<?xf32>
    %2 = trace.mul %1, %w : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
    trace.yield %2 : tensor<?xf32>
  } : tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

func.func @two_masks(%x: tensor<?xf32>, %m: tensor<?xi1>, %n: tensor<?xi1>) -> (tensor<?xf32>, tensor<?xf32>) {
  // expected-remark @below {{the kernel already selects by another mask}}
  %0:2 = trace.group {
    %1 = trace.indexing_multi_axis_vec %x<[mask(1)]>(%m) : (tensor<?xf32>, tensor<?xi1>) -> tensor<?xf32>
    %2 = trace.indexing_multi_axis_vec %x<[mask(1)]>(%n) : (tensor<?xf32>, tensor<?xi1>) -> tensor<?xf32>
    trace.yield %1, %2 : tensor<?xf32>, tensor<?xf32>
  } : tensor<?xf32>, tensor<?xf32>
  return %0#0, %0#1 : tensor<?xf32>, tensor<?xf32>
}

// -----

func.func @reduction_used_inside(%x: tensor<?xf32>) -> tensor<?xf32> {
  // expected-remark @below {{'trace.sum' cannot be in a kernel: another op of the kernel needs its finished result}}
  %0 = trace.group {
    %1 = trace.sum %x axes [0] keepdims false : (tensor<?xf32>) -> tensor<f32>
    %2 = trace.mul %x, %1 : (tensor<?xf32>, tensor<f32>) -> tensor<?xf32>
    trace.yield %2 : tensor<?xf32>
  } : tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

func.func @library_op(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // expected-remark @below {{'trace.matmul' cannot be in a kernel: it has a kernel of its own}}
  %0 = trace.group {
    %1 = trace.exp %x : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %2 = trace.matmul %1, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    trace.yield %2 : tensor<4x4xf32>
  } : tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
