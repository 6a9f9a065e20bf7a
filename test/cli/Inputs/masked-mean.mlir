#line = loc("model.py":7:0)
func.func @main(%x: tensor<?xf32> {trace.name = "x", trace.recorded_shape = array<i64: 100>}) -> (tensor<f32> {trace.name = "mean"}, tensor<?xf32> {trace.name = "scaled"}) {
  %t = trace.constant dense<0.5> : tensor<f32>
  %m = trace.gt %x, %t {op_ids = array<i64: 0>} : (tensor<?xf32>, tensor<f32>) -> tensor<?xi1> loc(#line)
  %s = trace.indexing_multi_axis_vec %x<[mask(1)]>(%m) {op_ids = array<i64: 1>} : (tensor<?xf32>, tensor<?xi1>) -> tensor<?xf32> loc(#line)
  %mean = trace.mean %s axes [0] keepdims false {op_ids = array<i64: 2>} : (tensor<?xf32>) -> tensor<f32> loc(#line)
  %a = trace.add %x, %x {op_ids = array<i64: 3>} : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32> loc(#line)
  %b = trace.mul %a, %t {op_ids = array<i64: 4>} : (tensor<?xf32>, tensor<f32>) -> tensor<?xf32> loc(#line)
  return %mean, %b : tensor<f32>, tensor<?xf32>
}
