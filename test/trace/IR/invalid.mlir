// RUN: tracec-opt %s -split-input-file -verify-diagnostics

func.func @step_zero(%x: tensor<8xf32>) {
  // expected-error @below {{slice step is 0}}
  %0 = trace.subtensor %x<[::0]> : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @no_item(%x: tensor<8xf32>) {
  // expected-error @below {{expected an index item}}
  %0 = trace.subtensor %x<[,]> : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @mask_rank(%x: tensor<8xf32>, %m: tensor<8xi1>) {
  // expected-error @below {{mask rank 65 is not between 0 and 64}}
  %0 = trace.indexing_multi_axis_vec %x<[mask(65)]>(%m) : (tensor<8xf32>, tensor<8xi1>) -> tensor<?xf32>
  return
}

// -----

func.func @external_negative() {
  // expected-error @below {{external index -1 is negative}}
  %0 = "trace.constant"() <{index = -1 : i64}> : () -> tensor<4xf32>
  return
}

// -----

func.func @constant_without_value() {
  // expected-error @below {{has neither a value nor an external index}}
  %0 = "trace.constant"() : () -> tensor<4xf32>
  return
}

// -----

func.func @group_yield_count(%x: tensor<4xf32>) {
  // expected-error @below {{has 1 results, but its yield has 0 values}}
  %0 = "trace.group"() ({
    "trace.yield"() : () -> ()
  }) : () -> tensor<4xf32>
  return
}

// -----

func.func @group_yields_outside(%x: tensor<4xf32>) {
  // expected-error @below {{result #0 is not computed by the group}}
  %0 = trace.group {
    trace.yield %x : tensor<4xf32>
  } : tensor<4xf32>
  return
}
