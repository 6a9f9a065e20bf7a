#row = loc("/home/someone/model.py":12:0)
#sum = loc("/home/someone/model.py":13:0)
func.func @main(%x: tensor<?x3xf32> {trace.name = "x", trace.recorded_shape = array<i64: 4, 3>}, %at: tensor<2xi64> {trace.name = "at"}) -> (tensor<2x3xf32> {trace.name = "rows"}, tensor<f32> {trace.name = "total"}) {
  %half = trace.constant dense<0.5> : tensor<f32>
  %w = trace.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %big = trace.constant dense<0.25> : tensor<4x3xf32>
  %a = trace.mul %x, %half {op_ids = array<i64: 0>} : (tensor<?x3xf32>, tensor<f32>) -> tensor<?x3xf32> loc(#row)
  %b = trace.add %a, %w {op_ids = array<i64: 1>} : (tensor<?x3xf32>, tensor<3xf32>) -> tensor<?x3xf32> loc(#row)
  %c = trace.indexing_multi_axis_vec %b<[array, :]>(%at) {op_ids = array<i64: 2>} : (tensor<?x3xf32>, tensor<2xi64>) -> tensor<2x3xf32> loc(#sum)
  %e = trace.indexing_multi_axis_vec %big<[array, :]>(%at) {op_ids = array<i64: 3>} : (tensor<4x3xf32>, tensor<2xi64>) -> tensor<2x3xf32> loc(#sum)
  %d = trace.sum %e axes [0, 1] keepdims false {op_ids = array<i64: 4>} : (tensor<2x3xf32>) -> tensor<f32> loc(#sum)
  return %c, %d : tensor<2x3xf32>, tensor<f32>
}
