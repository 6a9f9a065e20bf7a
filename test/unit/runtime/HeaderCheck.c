/* Compiled, never run: tracert.h must be plain C99. */
#include "tracert/tracert.h"

int headerCheck(void);
int headerCheck(void) {
  trt_tensor tensor = {.struct_size = sizeof tensor, .dtype = TRT_FLOAT32};
  return (int)tensor.struct_size + (int)trt_dtype_size(tensor.dtype);
}
