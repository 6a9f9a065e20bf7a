/* Runs the file in argv[1] on ones; prints the second output. For packaging_test.py. */
#include <stdio.h>
#include <tracert/tracert.h>

int main(int argc, char **argv) {
  static float x[20];
  int64_t shape[] = {5, 4};
  trt_tensor in = {sizeof in, TRT_FLOAT32, 2, shape, NULL, x};
  trt_tensor out = {.struct_size = sizeof out};
  trt_model *model = NULL;
  trt_session *session = NULL;
  for (int i = 0; i < 20; ++i) {
    x[i] = 1;
  }
  if (argc != 2 || trt_model_load_path(argv[1], NULL, &model) != TRT_OK ||
      trt_session_create(model, NULL, &session) != TRT_OK ||
      trt_session_set_input(session, 0, &in) != TRT_OK || trt_session_run(session) != TRT_OK ||
      trt_session_output(session, 1, &out) != TRT_OK) {
    fprintf(stderr, "%s\n", trt_last_error());
    return 1;
  }
  printf("total %g\n", ((const float *)out.data)[0]);
  trt_session_destroy(session);
  trt_model_release(model);
  return 0;
}
