/// Bitcode.cpp: every elementwise op as a function that the code generator links and inlines. clang
/// only.
///
///   tcs_<op>_<operand dtype>_v<N>, tcs_cast_<from>_<to>_v<N>, tcs_fma_<f32|f64>_v<N>,
///   tcs_load_f16_v<N>, tcs_store_f16_v<N>
///
/// The target ABI would pass wide vectors by pointer and 64-bit ones as double. So each op is
/// defined here on pointers, under a symbol that carries its signature
/// ("tcs_add_f32_v16:f32,f32:f32"), and emit_bitcode.py wraps it in the function by value.
/// TRACERT_BITCODE_LANES is N.
#include "Elementwise.h"

using namespace tracert::scalar;

namespace {
template <class D> using Stored = Vec<typename D::Storage, TRACERT_BITCODE_LANES>;
}

#define TRACERT_QUOTE_(text) #text
#define TRACERT_QUOTE(text) TRACERT_QUOTE_(text)
#define TRACERT_SYMBOL(name, operands, result)                                                     \
  asm("tcs_" name "_v" TRACERT_QUOTE(TRACERT_BITCODE_LANES) ":" operands ":" result)

#define TRACERT_EXPORT_1(fn, name, A, R, body)                                                     \
  [[gnu::always_inline]] void fn(const Stored<dtype::A> *a, Stored<dtype::R> *result)              \
      TRACERT_SYMBOL(name, #A, #R);                                                                \
  void fn(const Stored<dtype::A> *a, Stored<dtype::R> *result) { *result = body; }
#define TRACERT_EXPORT_2(fn, name, A, R, body)                                                     \
  [[gnu::always_inline]] void fn(const Stored<dtype::A> *a, const Stored<dtype::A> *b,             \
                                 Stored<dtype::R> *result) TRACERT_SYMBOL(name, #A "," #A, #R);    \
  void fn(const Stored<dtype::A> *a, const Stored<dtype::A> *b, Stored<dtype::R> *result) {        \
    *result = body;                                                                                \
  }
#define TRACERT_EXPORT_3(fn, name, A, B, C, R, body)                                               \
  [[gnu::always_inline]] void fn(const Stored<dtype::A> *a, const Stored<dtype::B> *b,             \
                                 const Stored<dtype::C> *c, Stored<dtype::R> *result)              \
      TRACERT_SYMBOL(name, #A "," #B "," #C, #R);                                                  \
  void fn(const Stored<dtype::A> *a, const Stored<dtype::B> *b, const Stored<dtype::C> *c,         \
          Stored<dtype::R> *result) {                                                              \
    *result = body;                                                                                \
  }

#define TRACERT_OPERANDS_1 *a
#define TRACERT_OPERANDS_2 *a, *b
#define TRACERT_BITCODE_OP_Same(d, opName, opArity)                                                \
  TRACERT_EXPORT_##opArity(                                                                        \
      opName##_##d, #opName "_" #d, d, d,                                                          \
      (apply<op::opName, dtype::d, TRACERT_BITCODE_LANES>(TRACERT_OPERANDS_##opArity)))
#define TRACERT_BITCODE_OP_Bool(d, opName, opArity)                                                \
  TRACERT_EXPORT_##opArity(                                                                        \
      opName##_##d, #opName "_" #d, d, b1,                                                         \
      (apply<op::opName, dtype::d, TRACERT_BITCODE_LANES>(TRACERT_OPERANDS_##opArity)))
#define TRACERT_BITCODE_WHERE(d, ...)                                                              \
  TRACERT_EXPORT_3(where_##d, "where_" #d, b1, d, d, d,                                            \
                   (applyWhere<dtype::d, TRACERT_BITCODE_LANES>(*a, *b, *c)))
#define TRACERT_BITCODE_CAST(from, to)                                                             \
  TRACERT_EXPORT_1(cast_##from##_##to, "cast_" #from "_" #to, from, to,                            \
                   (cast<dtype::from, dtype::to, TRACERT_BITCODE_LANES>(*a)))

#define TRACERT_ELEMENTWISE(opName, opArity, opResult, dtypes)                                     \
  TRACERT_FOR_##dtypes(TRACERT_BITCODE_OP_##opResult, opName, opArity)
#define TRACERT_SELECT(opName) TRACERT_FOR_AllDTypes(TRACERT_BITCODE_WHERE, )
#define TRACERT_CAST(opName) TRACERT_FOR_DTYPE_PAIRS(TRACERT_BITCODE_CAST)
#include "tracert/generated/ElementwiseOps.inc"

TRACERT_EXPORT_3(fma_f32, "fma_f32", f32, f32, f32, f32, (fma_(*a, *b, *c)))
TRACERT_EXPORT_3(fma_f64, "fma_f64", f64, f64, f64, f64, (fma_(*a, *b, *c)))
