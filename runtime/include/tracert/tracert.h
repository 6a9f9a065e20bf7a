/* tracert.h: loads a .trc file and runs it. Plain C99; link with libtracert.
 *
 *   trt_model *model = NULL;
 *   trt_session *session = NULL;
 *   if (trt_model_load_path("model.trc", NULL, &model) != TRT_OK ||
 *       trt_session_create(model, NULL, &session) != TRT_OK) {
 *     fprintf(stderr, "%s\n", trt_last_error());
 *   }
 *   int64_t shape[] = {2, 3};
 *   trt_tensor x = {.struct_size = sizeof x, .dtype = TRT_FLOAT32, .rank = 2};
 *   x.shape = shape;
 *   x.data = data;
 *   trt_session_set_input(session, 0, &x);
 *   trt_session_run(session);
 *   trt_tensor y = {.struct_size = sizeof y};
 *   trt_session_output(session, 0, &y);
 *   trt_session_destroy(session);
 *   trt_model_release(model);
 *
 * Errors. Every function that can fail returns a trt_status and writes no result on failure. What
 * went wrong is in trt_last_error() of the calling thread. Nothing aborts, prints, or throws.
 *
 * Ownership. Handles belong to the caller: release what you created. A session keeps its model
 * alive. Strings and arrays that a model returns live as long as the model; output tensors live
 * until the session's next successful run or its end. Input memory must stay valid while a run uses
 * it; the library never writes to it.
 *
 * Threads. A model may be used from any thread at once. A session belongs to one thread at a time
 * (trt_session_cancel excepted); make one per thread. No thread is started before the first kernel
 * that is worth it.
 *
 * Growth. Set struct_size to sizeof of the struct you were compiled with; fields beyond it are not
 * touched, and zeroed fields mean the default. A struct_size that is 0 or smaller than the struct
 * was in its first release is TRT_INVALID_ARGUMENT. A larger one than the library knows is accepted
 * while the fields that it does not know are zero; when it fills the struct it sets them to zero.
 * Numbers of enums never change.
 *
 * Memory of dims and strides: sizes count elements, strides count bytes (zero and negative too).
 *
 * Trust. Native code in a file runs with the rights of the process: a file with native code is
 * trusted like a shared library. For a file from a stranger set TRT_PORTABLE_ONLY | TRT_LOAD_COPY,
 * a memory_limit for the load, and memory_limit and time_limit_ms for its sessions; then the file
 * can at worst compute wrong numbers.
 */
#ifndef TRACERT_TRACERT_H
#define TRACERT_TRACERT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TRT_API __attribute__((visibility("default")))

/* In C++ an enum that says its type may hold any number, so that a wrong one can be refused. */
#ifdef __cplusplus
#define TRT_ENUM(name) typedef enum name : int32_t
#else
#define TRT_ENUM(name) typedef enum name
#endif

/* ---- status -----------------------------------------------------------------------------------
 */

TRT_ENUM(trt_status){
    /* Done. */
    TRT_OK = 0,
    /* A value, shape, name or handle is not acceptable. */
    TRT_INVALID_ARGUMENT = 1,
    /* A dtype is not the one the program takes. */
    TRT_INVALID_TYPE = 2,
    /* An index in the input data is out of range; the message names op, axis, index and size. */
    TRT_INDEX_OUT_OF_RANGE = 3,
    /* A number does not fit its dtype. */
    TRT_OVERFLOW = 4,
    /* An axis is out of range for the rank. */
    TRT_AXIS_OUT_OF_RANGE = 5,
    /* The file is damaged, cut off, or no .trc file. */
    TRT_CORRUPT_FILE = 6,
    /* The file or the request needs what this machine or this version lacks. */
    TRT_UNSUPPORTED = 7,
    /* The system refused to open, read or map. */
    TRT_IO = 8,
    /* An allocation failed. */
    TRT_OUT_OF_MEMORY = 9,
    /* An output differs from the file's test vector by more than the tolerance. */
    TRT_MISMATCH = 11,
    /* A bug in the library or the compiler; please report the message. */
    TRT_INTERNAL = 12,
    /* The call's sizes or strides make the recorded function take another way than the file does
     * (a reshape that is a copy and no longer a view, say). The message names the Python line. */
    TRT_GUARD_FAILED = 13,
    /* trt_session_cancel ended the run. */
    TRT_CANCELLED = 14,
    /* The load or the run needs more than the memory limit of its options. */
    TRT_RESOURCE_EXHAUSTED = 15,
    /* The run took longer than the session's time limit. */
    TRT_DEADLINE_EXCEEDED = 16} trt_status;

/* The last failure's text on this thread, "" if there was none; valid until the next call here. */
TRT_API const char *trt_last_error(void);
/* "TRT_OK", ... ; never NULL. */
TRT_API const char *trt_status_name(trt_status status);
/* Version of the library, "0.1.0". */
TRT_API const char *trt_version(void);
/* Newest container version that can be read, "1.1". */
TRT_API const char *trt_format_version(void);

/* ---- types ------------------------------------------------------------------------------------
 */

/* Element types. bool is one byte, 0 or 1; float16 and bfloat16 are their 16 bits. */
TRT_ENUM(trt_dtype){TRT_BOOL = 0,    TRT_INT8 = 1,    TRT_INT16 = 2,     TRT_INT32 = 3,
                    TRT_INT64 = 4,   TRT_UINT8 = 5,   TRT_UINT16 = 6,    TRT_UINT32 = 7,
                    TRT_UINT64 = 8,  TRT_FLOAT16 = 9, TRT_BFLOAT16 = 10, TRT_FLOAT32 = 11,
                    TRT_FLOAT64 = 12} trt_dtype;

/* Bytes per element; 0 for a number that is no dtype. */
TRT_API size_t trt_dtype_size(trt_dtype dtype);
/* "float32", ...; "unknown" for a number that is no dtype. */
TRT_API const char *trt_dtype_name(trt_dtype dtype);

/* A tensor in memory that somebody else owns. */
typedef struct trt_tensor {
  size_t struct_size;
  trt_dtype dtype;
  int32_t rank;
  /* rank sizes, outermost first. */
  const int64_t *shape;
  /* rank byte strides; NULL: row-major without gaps. */
  const int64_t *strides;
  void *data;
} trt_tensor;

/* One size of an input or output. */
typedef struct trt_dim {
  /* The size, or -1 when it is named or known only after a run. */
  int64_t size;
  /* The name of a size that the caller chooses, or NULL. Equal names are equal sizes. */
  const char *symbol;
  /* Range of a named size, both inclusive. */
  int64_t min;
  int64_t max;
} trt_dim;

/* An input or output of the signature. */
typedef struct trt_tensor_info {
  size_t struct_size;
  const char *name;
  trt_dtype dtype;
  int32_t rank;
  /* rank entries. */
  const trt_dim *dims;
  /* Inputs: 1 when the session keeps the value between runs and it may be left out.
   * Outputs: 1 when it is the new value of such an input. */
  int32_t is_state;
} trt_tensor_info;

/* ---- model ------------------------------------------------------------------------------------
 */

typedef struct trt_model trt_model;

enum {
  /* Check the content hash of weights and test vectors too (reads the whole file). */
  TRT_VERIFY_ALL = 1,
  /* Leave native code out: for files that you do not trust. */
  TRT_PORTABLE_ONLY = 2,
  /* Work on a copy of the file, so that what happens to the file later does not matter. */
  TRT_LOAD_COPY = 4
};

typedef struct trt_load_options {
  size_t struct_size;
  uint32_t flags;
  /* Bytes that the load may allocate: the graph in memory, native code, a copy of the file. 0: as
   * much as the file's size asks for (see docs/limits.md). */
  uint64_t memory_limit;
} trt_load_options;

/* Maps the file; weights are used in place. So until the model and its sessions are released the
 * file must not be changed in place: writing into it changes the weights of the running model, and
 * shortening it ends the process with SIGBUS at the next access. Replacing it by a rename is safe.
 * With TRT_LOAD_COPY the file may do what it likes after the call. `options` may be NULL. */
TRT_API trt_status trt_model_load_path(const char *path, const trt_load_options *options,
                                       trt_model **model);
/* `bytes` must stay valid and unchanged until the model and its sessions are released. 64-byte
 * aligned bytes are used in place, others are copied. */
TRT_API trt_status trt_model_load_memory(const void *bytes, size_t size,
                                         const trt_load_options *options, trt_model **model);
/* As trt_model_load_path. The descriptor stays the caller's and may be closed after the call. */
TRT_API trt_status trt_model_load_fd(int fd, const trt_load_options *options, trt_model **model);
/* NULL is allowed. Sessions of the model go on working. */
TRT_API void trt_model_release(trt_model *model);

TRT_API int32_t trt_model_input_count(const trt_model *model);
TRT_API int32_t trt_model_output_count(const trt_model *model);
TRT_API trt_status trt_model_input(const trt_model *model, int32_t index, trt_tensor_info *info);
TRT_API trt_status trt_model_output(const trt_model *model, int32_t index, trt_tensor_info *info);
/* Index of a name, or -1. */
TRT_API int32_t trt_model_find_input(const trt_model *model, const char *name);
TRT_API int32_t trt_model_find_output(const trt_model *model, const char *name);
/* What wrote the file, and the user's JSON text; "" when absent. */
TRT_API const char *trt_model_producer(const trt_model *model);
TRT_API const char *trt_model_user_info(const trt_model *model);
/* Native sections in the file: "x86-64-v3", "x86-64-v4". NULL when out of range. */
TRT_API int32_t trt_model_section_count(const trt_model *model);
TRT_API const char *trt_model_section(const trt_model *model, int32_t index);
/* Test vectors in the file. */
TRT_API int32_t trt_model_vector_count(const trt_model *model);
/* A vector's input, to run or time it; lives as long as the model. */
TRT_API trt_status trt_model_vector_input(const trt_model *model, int32_t vector, int32_t input,
                                          trt_tensor *tensor);

/* ---- session ----------------------------------------------------------------------------------
 */

typedef struct trt_session trt_session;

TRT_ENUM(trt_section){
    /* The best that the machine can run, the portable one if there is no other. */
    TRT_SECTION_BEST = 0,
    /* Library kernels only, at the baseline instruction set. */
    TRT_SECTION_PORTABLE = 1,
    /* The best native section, TRT_UNSUPPORTED if none can run. */
    TRT_SECTION_NATIVE = 2, TRT_SECTION_X86_64_V3 = 3, TRT_SECTION_X86_64_V4 = 4,
    TRT_SECTION_AARCH64_NEON = 5} trt_section;

typedef struct trt_session_options {
  size_t struct_size;
  trt_section section;
  /* Threads of a pool of the session's own, counting the caller's; 0: the process's shared pool. */
  int32_t thread_count;
  /* Bytes that the session may hold while it runs: state, intermediate values, temporaries of
   * kernels, plans, and the outputs being made. Counted before they are allocated; a run that needs
   * more is TRT_RESOURCE_EXHAUSTED. The outputs of earlier runs are not counted. 0: no limit. */
  uint64_t memory_limit;
  /* Milliseconds that one run may take, else TRT_DEADLINE_EXCEEDED. Looked at between the steps of
   * a program and about every millisecond inside kernels (docs/limits.md). 0: no limit. */
  uint64_t time_limit_ms;
} trt_session_options;

/* `options` may be NULL. */
TRT_API trt_status trt_session_create(const trt_model *model, const trt_session_options *options,
                                      trt_session **session);
/* NULL is allowed. */
TRT_API void trt_session_destroy(trt_session *session);

/* Keeps the pointer and a copy of shape and strides; the data is read when the session runs.
 * Misaligned data is copied then. Dtype, rank and sizes are checked by the run. */
TRT_API trt_status trt_session_set_input(trt_session *session, int32_t index,
                                         const trt_tensor *tensor);
TRT_API trt_status trt_session_set_input_by_name(trt_session *session, const char *name,
                                                 const trt_tensor *tensor);
/* Gives an output a place: a run that succeeds copies the result there (a failing one leaves it
 * alone) and fails with TRT_INVALID_ARGUMENT when dtype or shape differ: all places are checked
 * before anything is written. NULL tensor: undo. */
TRT_API trt_status trt_session_set_output(trt_session *session, int32_t index,
                                          const trt_tensor *tensor);
/* Runs with the inputs that were set; they stay set. A run that fails changes nothing: state, the
 * places of outputs and the outputs of the last run that succeeded are as before. */
TRT_API trt_status trt_session_run(trt_session *session);
/* Ends the run or verification that is going on in another thread, which then returns TRT_CANCELLED
 * (about a millisecond later; see time_limit_ms); without one it does nothing. The only function
 * that may be called while another thread uses the session. */
TRT_API void trt_session_cancel(trt_session *session);
/* Fills `tensor`; contiguous; valid until the next run that succeeds. TRT_INVALID_ARGUMENT before
 * the first. */
TRT_API trt_status trt_session_output(trt_session *session, int32_t index, trt_tensor *tensor);

/* Name of the section that runs: "portable", "x86-64-v3", "x86-64-v4". */
TRT_API const char *trt_session_section(const trt_session *session);

typedef struct trt_session_stats {
  size_t struct_size;
  uint64_t runs;
  /* Plans made: one per new set of input shapes and strides. */
  uint64_t plans;
  /* Kernel launches replaced by library kernels because strides did not fit. */
  uint64_t launches_replaced;
  /* Bytes of intermediate values of the largest plan. */
  uint64_t arena_bytes;
  /* Bytes of the last run's outputs. */
  uint64_t output_bytes;
  /* Bytes of weights, mapped and shared, and of native code. */
  uint64_t weight_bytes;
  uint64_t code_bytes;
  /* Compiled kernels called, and library kernels called. */
  uint64_t launches_run;
  uint64_t library_kernels_run;
} trt_session_stats;
TRT_API trt_status trt_session_get_stats(const trt_session *session, trt_session_stats *stats);

/* ---- verification -----------------------------------------------------------------------------
 */

/* An element matches when its bits are equal, both are NaN, |actual - expected| <=
 * atol + rtol * |expected|, or they are at most `ulp` apart; all zero: bit for bit. */
typedef struct trt_tolerance {
  size_t struct_size;
  double rtol;
  double atol;
  uint64_t ulp;
} trt_tolerance;

typedef struct trt_comparison {
  size_t struct_size;
  int32_t vector;
  int32_t output;
  const char *name;
  int64_t element_count;
  int64_t mismatch_count;
  /* Flat position in row-major order of the first mismatch, -1 if none. */
  int64_t first_bad;
  /* Largest distances over all elements; NaN against a number is infinitely far. */
  double max_abs;
  double mean_abs;
  uint64_t max_ulp;
  /* 0 when dtype or shape differ; then nothing else is set. */
  int32_t has_same_type;
} trt_comparison;

typedef void (*trt_comparison_callback)(const trt_comparison *comparison, void *user);

/* Runs every test vector of the file in a fresh session state and reports each output. TRT_MISMATCH
 * when any element differs, a run's own status when it fails. Both options may be NULL. Set inputs
 * and outputs stay; outputs of earlier runs become invalid. */
TRT_API trt_status trt_session_verify(trt_session *session, const trt_tolerance *tolerance,
                                      trt_comparison_callback callback, void *user);
/* Compares two tensors in memory; TRT_MISMATCH when they differ. */
TRT_API trt_status trt_compare(const trt_tensor *expected, const trt_tensor *actual,
                               const trt_tolerance *tolerance, trt_comparison *comparison);

#ifdef __cplusplus
}
#endif

#endif /* TRACERT_TRACERT_H */
