/* run_model.c: loads a .trc file, prints its signature, runs it, writes the outputs as raw bytes.
 *
 *   run-model model.trc [--section=best|portable|native] [--size NAME=N] [--runs=N]
 *             [--input NAME=FILE] [--output NAME=FILE]
 *
 * Sizes are from 0 to 2^40, runs from 1 to 10^9.
 * Input files hold the elements row by row without a header (numpy's tofile). The size of an axis
 * with a name is found from the file's length when it is the only unknown one, or given by --size.
 * Inputs without a file count 0, 1, 2, ... (bools alternate).
 * Exit codes: 0 ok, 1 user error, 3 corrupt file, 4 unsupported here. */
#define _POSIX_C_SOURCE 199309L

#include <tracert/tracert.h>

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MAX_NAMED = 64, MAX_RANK = 64, GENERATED_SIZE = 4 };

struct named {
  const char *name;
  size_t name_length;
  const char *value;
};

struct options {
  const char *model;
  trt_section section;
  int64_t runs;
  struct named inputs[MAX_NAMED], outputs[MAX_NAMED], sizes[MAX_NAMED];
  int input_count, output_count, size_count;
};

/* Names come from the file: control characters must not reach a terminal. */
static void print_name(FILE *stream, const char *name) {
  for (; *name != '\0'; ++name) {
    unsigned char c = (unsigned char)*name;
    if (c < 0x20 || c == 0x7f) {
      fprintf(stream, "\\x%02x", c);
    } else {
      fputc(c, stream);
    }
  }
}

/* A whole number from min to max, with nothing before or after it. */
static int parse_number(const char *flag, const char *text, int64_t min, int64_t max,
                        int64_t *number) {
  char *end = NULL;
  int64_t value;
  errno = 0;
  value = strtoll(text, &end, 10);
  if (*text < '0' || *text > '9' || *end != '\0' || errno != 0 || value < min || value > max) {
    fprintf(stderr, "run-model: %s takes a whole number from %" PRId64 " to %" PRId64 ", got '",
            flag, min, max);
    print_name(stderr, text);
    fprintf(stderr, "'\n");
    return 1;
  }
  *number = value;
  return 0;
}

static int fail_status(const char *what, trt_status status) {
  fprintf(stderr, "run-model: %s: %s: ", what, trt_status_name(status));
  print_name(stderr, trt_last_error());
  fputc('\n', stderr);
  return status == TRT_CORRUPT_FILE ? 3 : status == TRT_UNSUPPORTED ? 4 : 1;
}

static int fail(const char *what, const char *detail) {
  fprintf(stderr, "run-model: %s: ", what);
  print_name(stderr, detail);
  fputc('\n', stderr);
  return 1;
}

/* The value of "--flag=value" or "--flag value", or NULL. */
static const char *flag_value(const char *flag, int argc, char **argv, int *i) {
  size_t length = strlen(flag);
  if (strncmp(argv[*i], flag, length) != 0) {
    return NULL;
  }
  if (argv[*i][length] == '=') {
    return argv[*i] + length + 1;
  }
  if (argv[*i][length] == '\0' && *i + 1 < argc) {
    return argv[++*i];
  }
  return NULL;
}

static int add_named(struct named *list, int *count, const char *text) {
  const char *equals = strchr(text, '=');
  if (equals == NULL) {
    return fail("expected NAME=VALUE", text);
  }
  if (*count == MAX_NAMED) {
    return fail("too many NAME=VALUE", text);
  }
  for (int i = 0; i < *count; ++i) {
    if (list[i].name_length == (size_t)(equals - text) &&
        memcmp(list[i].name, text, list[i].name_length) == 0) {
      return fail("given twice", text);
    }
  }
  list[*count].name = text;
  list[*count].name_length = (size_t)(equals - text);
  list[(*count)++].value = equals + 1;
  return 0;
}

static const char *find_named(const struct named *list, int count, const char *name) {
  for (int i = 0; i < count; ++i) {
    if (strlen(name) == list[i].name_length &&
        strncmp(list[i].name, name, list[i].name_length) == 0) {
      return list[i].value;
    }
  }
  return NULL;
}

static int parse_options(int argc, char **argv, struct options *options) {
  memset(options, 0, sizeof *options);
  options->runs = 1;
  for (int i = 1; i < argc; ++i) {
    const char *value;
    if ((value = flag_value("--section", argc, argv, &i)) != NULL) {
      if (strcmp(value, "portable") == 0) {
        options->section = TRT_SECTION_PORTABLE;
      } else if (strcmp(value, "native") == 0) {
        options->section = TRT_SECTION_NATIVE;
      } else if (strcmp(value, "best") != 0) {
        return fail("unknown section", value);
      }
    } else if ((value = flag_value("--input", argc, argv, &i)) != NULL) {
      if (add_named(options->inputs, &options->input_count, value) != 0) {
        return 1;
      }
    } else if ((value = flag_value("--output", argc, argv, &i)) != NULL) {
      if (add_named(options->outputs, &options->output_count, value) != 0) {
        return 1;
      }
    } else if ((value = flag_value("--size", argc, argv, &i)) != NULL) {
      if (add_named(options->sizes, &options->size_count, value) != 0) {
        return 1;
      }
    } else if ((value = flag_value("--runs", argc, argv, &i)) != NULL) {
      if (parse_number("--runs", value, 1, 1000000000, &options->runs) != 0) {
        return 1;
      }
    } else if (argv[i][0] != '-' && options->model == NULL) {
      options->model = argv[i];
    } else {
      return fail("unknown argument", argv[i]);
    }
  }
  if (options->model == NULL) {
    return fail("usage", "run-model model.trc [--section=best|portable|native] [--size NAME=N] "
                         "[--runs=N] [--input NAME=FILE] [--output NAME=FILE]");
  }
  return 0;
}

static void print_info(const char *kind, const trt_tensor_info *info) {
  printf("%s ", kind);
  print_name(stdout, info->name);
  printf(": %s[", trt_dtype_name(info->dtype));
  for (int32_t axis = 0; axis < info->rank; ++axis) {
    const trt_dim *dim = &info->dims[axis];
    printf("%s", axis > 0 ? "," : "");
    if (dim->size >= 0) {
      printf("%" PRId64, dim->size);
    } else {
      print_name(stdout, dim->symbol != NULL ? dim->symbol : "?");
    }
  }
  printf("]%s\n", info->is_state ? " (state)" : "");
}

static int64_t element_count(const int64_t *shape, int32_t rank) {
  int64_t count = 1;
  for (int32_t axis = 0; axis < rank; ++axis) {
    count *= shape[axis];
  }
  return count;
}

static void *read_file(const char *path, size_t *size) {
  FILE *file = fopen(path, "rb");
  void *bytes = NULL;
  long end;
  if (file == NULL) {
    return NULL;
  }
  if (fseek(file, 0, SEEK_END) == 0 && (end = ftell(file)) >= 0 && fseek(file, 0, SEEK_SET) == 0) {
    *size = (size_t)end;
    bytes = malloc(*size + 1);
    if (bytes != NULL && fread(bytes, 1, *size, file) != *size) {
      free(bytes);
      bytes = NULL;
    }
  }
  fclose(file);
  return bytes;
}

/* 0, 1, 2, ... in the input's dtype. */
static void *count_up(trt_dtype dtype, int64_t count) {
  char *bytes = malloc((size_t)count * trt_dtype_size(dtype) + 1);
  for (int64_t i = 0; bytes != NULL && i < count; ++i) {
    float as_float = (float)i;
    double as_double = (double)i;
    char *at = bytes + (size_t)i * trt_dtype_size(dtype);
    switch (dtype) {
    case TRT_BOOL:
      *at = (char)(i % 2);
      break;
    case TRT_INT8:
    case TRT_INT16:
    case TRT_INT32:
    case TRT_INT64:
    case TRT_UINT8:
    case TRT_UINT16:
    case TRT_UINT32:
    case TRT_UINT64:
      memcpy(at, &i, trt_dtype_size(dtype)); /* the low bytes: little endian */
      break;
    case TRT_FLOAT16:
    case TRT_BFLOAT16:
      memset(at, 0, 2); /* 0.0: C99 has no floats of 16 bits */
      break;
    case TRT_FLOAT32:
      memcpy(at, &as_float, sizeof as_float);
      break;
    case TRT_FLOAT64:
      memcpy(at, &as_double, sizeof as_double);
      break;
    }
  }
  return bytes;
}

/* Fills shape; an axis whose size is neither fixed nor given takes what the file holds. */
static int find_shape(const struct options *options, const trt_tensor_info *info, int has_file,
                      size_t file_size, int64_t *shape) {
  /* Elements that an address can still count. */
  int64_t rest = INT64_MAX / (int64_t)sizeof(double);
  int32_t open_axis = -1;
  for (int32_t axis = 0; axis < info->rank; ++axis) {
    const trt_dim *dim = &info->dims[axis];
    const char *given =
        dim->symbol ? find_named(options->sizes, options->size_count, dim->symbol) : NULL;
    shape[axis] = dim->size >= 0 ? dim->size : -1;
    if (dim->size < 0 && given != NULL &&
        parse_number("--size", given, 0, INT64_C(1) << 40, &shape[axis]) != 0) {
      return 1;
    }
    if (shape[axis] >= 0) {
      continue;
    }
    if (!has_file) {
      shape[axis] = dim->min > GENERATED_SIZE ? dim->min : GENERATED_SIZE;
      continue;
    }
    if (open_axis >= 0) {
      return fail("give sizes with --size NAME=N for input", info->name);
    }
    open_axis = axis;
    shape[axis] = 1;
  }
  for (int32_t axis = 0; axis < info->rank; ++axis) {
    if (shape[axis] > 0 && rest / shape[axis] == 0) {
      return fail("the shape is too large for input", info->name);
    }
    rest /= shape[axis] > 0 ? shape[axis] : 1;
  }
  if (has_file) {
    size_t row = (size_t)element_count(shape, info->rank) * trt_dtype_size(info->dtype);
    if (open_axis >= 0 && row > 0 && file_size % row == 0) {
      shape[open_axis] = (int64_t)(file_size / row);
    } else if (row != file_size) {
      return fail("the file's length does not fit the shape of input", info->name);
    }
  }
  return 0;
}

/* Data is freed by the caller. */
static int set_input(const struct options *options, const trt_model *model, trt_session *session,
                     int32_t index, void **data) {
  trt_tensor_info info = {.struct_size = sizeof info};
  trt_tensor tensor = {.struct_size = sizeof tensor};
  int64_t shape[MAX_RANK];
  size_t file_size = 0;
  const char *path;
  trt_status status = trt_model_input(model, index, &info);
  if (status != TRT_OK) {
    return fail_status("signature", status);
  }
  path = find_named(options->inputs, options->input_count, info.name);
  if (path == NULL && info.is_state) {
    return 0;
  }
  if (path != NULL) {
    *data = read_file(path, &file_size);
    if (*data == NULL) {
      return fail("cannot read", path);
    }
  }
  if (find_shape(options, &info, path != NULL, file_size, shape) != 0) {
    return 1;
  }
  if (path == NULL) {
    *data = count_up(info.dtype, element_count(shape, info.rank));
    if (*data == NULL) {
      return fail("out of memory for input", info.name);
    }
  }
  tensor.dtype = info.dtype;
  tensor.rank = info.rank;
  tensor.shape = shape;
  tensor.data = *data;
  status = trt_session_set_input(session, index, &tensor);
  return status == TRT_OK ? 0 : fail_status(info.name, status);
}

static int write_output(const struct options *options, const trt_tensor_info *info,
                        const trt_tensor *tensor) {
  size_t bytes = (size_t)element_count(tensor->shape, tensor->rank) * trt_dtype_size(tensor->dtype);
  const char *path = find_named(options->outputs, options->output_count, info->name);
  FILE *file;
  int is_written;
  print_name(stdout, info->name);
  printf(" has shape (");
  for (int32_t axis = 0; axis < tensor->rank; ++axis) {
    printf("%s%" PRId64, axis > 0 ? ", " : "", tensor->shape[axis]);
  }
  printf("), %zu bytes\n", bytes);
  if (path == NULL) {
    return 0;
  }
  file = fopen(path, "wb");
  if (file == NULL) {
    return fail("cannot write", path);
  }
  is_written = fwrite(tensor->data, 1, bytes, file) == bytes;
  is_written = fclose(file) == 0 && is_written;
  return is_written ? 0 : fail("cannot write", path);
}

static double now_milliseconds(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec * 1e3 + (double)time.tv_nsec * 1e-6;
}

static int run(const struct options *options, const trt_model *model, trt_session *session) {
  double best = 0;
  for (int64_t i = 0; i < options->runs; ++i) {
    double start = now_milliseconds();
    trt_status status = trt_session_run(session);
    double spent = now_milliseconds() - start;
    if (status != TRT_OK) {
      return fail_status("run", status);
    }
    best = i == 0 || spent < best ? spent : best;
  }
  printf("section %s, %.3f ms (best of %" PRId64 ")\n", trt_session_section(session), best,
         options->runs);
  for (int32_t i = 0; i < trt_model_output_count(model); ++i) {
    trt_tensor_info info = {.struct_size = sizeof info};
    trt_tensor tensor = {.struct_size = sizeof tensor};
    trt_status status = trt_model_output(model, i, &info);
    if (status == TRT_OK) {
      status = trt_session_output(session, i, &tensor);
    }
    if (status != TRT_OK) {
      return fail_status("output", status);
    }
    if (write_output(options, &info, &tensor) != 0) {
      return 1;
    }
  }
  return 0;
}

/* A misspelled name would otherwise run on generated data, or write nothing. */
static int check_names(const struct named *list, int count, const trt_model *model,
                       int32_t (*find)(const trt_model *, const char *), const char *what) {
  for (int i = 0; i < count; ++i) {
    char *name = calloc(list[i].name_length + 1, 1);
    int is_known;
    if (name == NULL) {
      return fail("out of memory", "names");
    }
    memcpy(name, list[i].name, list[i].name_length);
    is_known = find(model, name) >= 0 || fail(what, name) == 0;
    free(name);
    if (!is_known) {
      return 1;
    }
  }
  return 0;
}

/* The index of an input that has the size `name`, or -1. */
static int32_t find_size(const trt_model *model, const char *name) {
  for (int32_t i = 0; i < trt_model_input_count(model); ++i) {
    trt_tensor_info info = {.struct_size = sizeof info};
    if (trt_model_input(model, i, &info) != TRT_OK) {
      return -1;
    }
    for (int32_t axis = 0; axis < info.rank; ++axis) {
      if (info.dims[axis].symbol != NULL && strcmp(info.dims[axis].symbol, name) == 0) {
        return i;
      }
    }
  }
  return -1;
}

static int run_model(const struct options *options, const trt_model *model) {
  trt_session_options session_options = {.struct_size = sizeof session_options,
                                         .section = options->section};
  trt_session *session = NULL;
  int32_t count = trt_model_input_count(model);
  void **data = calloc((size_t)count + 1, sizeof *data);
  trt_status status;
  int result = check_names(options->inputs, options->input_count, model, trt_model_find_input,
                           "the model has no input named");
  if (result == 0) {
    result = check_names(options->outputs, options->output_count, model, trt_model_find_output,
                         "the model has no output named");
  }
  if (result == 0) {
    result = check_names(options->sizes, options->size_count, model, find_size,
                         "the model has no size named");
  }
  status = result == 0 ? trt_session_create(model, &session_options, &session) : TRT_OK;
  if (status != TRT_OK) {
    result = fail_status("session", status);
  }
  for (int32_t i = 0; result == 0 && i < count; ++i) {
    result = data == NULL ? fail("out of memory", "inputs")
                          : set_input(options, model, session, i, &data[i]);
  }
  if (result == 0) {
    result = run(options, model, session);
  }
  trt_session_destroy(session);
  for (int32_t i = 0; data != NULL && i < count; ++i) {
    free(data[i]);
  }
  free(data);
  return result;
}

int main(int argc, char **argv) {
  struct options options;
  trt_model *model = NULL;
  trt_status status;
  int result;
  if (parse_options(argc, argv, &options) != 0) {
    return 1;
  }
  status = trt_model_load_path(options.model, NULL, &model);
  if (status != TRT_OK) {
    return fail_status("load", status);
  }
  for (int32_t i = 0; i < trt_model_input_count(model); ++i) {
    trt_tensor_info info = {.struct_size = sizeof info};
    if (trt_model_input(model, i, &info) == TRT_OK) {
      print_info("input", &info);
    }
  }
  for (int32_t i = 0; i < trt_model_output_count(model); ++i) {
    trt_tensor_info info = {.struct_size = sizeof info};
    if (trt_model_output(model, i, &info) == TRT_OK) {
      print_info("output", &info);
    }
  }
  result = run_model(&options, model);
  trt_model_release(model);
  /* What was printed may still be in the buffer, and a full disk shows only now. */
  if (fflush(stdout) != 0 || ferror(stdout) != 0) {
    return fail("cannot write", "standard output");
  }
  return result;
}
