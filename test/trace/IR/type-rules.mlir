// RUN: tracec-opt %s -split-input-file -verify-diagnostics

func.func @broadcast_mismatch(%x: tensor<3xf32>, %y: tensor<4xf32>) {
  // expected-error @below {{(3,)}}
  %0 = trace.add %x, %y : (tensor<3xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @result_shape(%x: tensor<3xf32>, %y: tensor<3xf32>) {
  // expected-error @below {{result #0 is float32[4], but the type rule gives float32[3]}}
  %0 = trace.add %x, %y : (tensor<3xf32>, tensor<3xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @result_dtype(%x: tensor<3xf32>) {
  // expected-error @below {{result #0 is float32[3], but the type rule gives bool[3]}}
  %0 = trace.lt %x, %x : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @dtype_mix(%x: tensor<3xf32>, %y: tensor<3xi32>) {
  // expected-error @below {{'add'}}
  %0 = trace.add %x, %y : (tensor<3xf32>, tensor<3xi32>) -> tensor<3xf32>
  return
}

// -----

func.func @axis_range(%x: tensor<3xf32>) {
  // expected-error @below {{'sum'}}
  %0 = trace.sum %x axes [1] keepdims false : (tensor<3xf32>) -> tensor<f32>
  return
}

// -----

func.func @int_out_of_range(%x: tensor<3xf32>) {
  // expected-error @below {{index 3 is out of range}}
  %0 = trace.subtensor %x<[3]> : (tensor<3xf32>) -> tensor<f32>
  return
}

// -----

func.func @mask_shape(%x: tensor<3xf32>, %m: tensor<4xi1>) {
  // expected-error @below {{mask}}
  %0 = trace.indexing_multi_axis_vec %x<[mask(1)]>(%m) : (tensor<3xf32>, tensor<4xi1>) -> tensor<?xf32>
  return
}

// -----

/// A size that may change is compatible with any known one.
func.func @dynamic_is_compatible(%x: tensor<?xf32>, %y: tensor<3xf32>) {
  %0 = trace.add %x, %y : (tensor<?xf32>, tensor<3xf32>) -> tensor<?xf32>
  %1 = trace.add %x, %y : (tensor<?xf32>, tensor<3xf32>) -> tensor<3xf32>
  return
}
