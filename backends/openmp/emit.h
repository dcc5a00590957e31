/* emit.h - what the printers of the OpenMP backend share.
 *
 * One way to compute.  Every value of a kernel is a vector of TC_L lanes, TC_L being the number of
 * f32 lanes of a register (v2: 4, v3: 8, v4 and up: 16); wider element types take several registers
 * and the compiler splits them.  A value that does not depend on the vector axis has equal lanes; a
 * tail computes all lanes and loads and stores only the first n.  So there is one spelling of an
 * op, no scalar copy of the prelude, and code for "a scalar" is a vector whose lane 0 is used.
 *
 * Names in kernel text
 *   b<i>          buffer i of the kernel's list, restrict pointer to its storage type; for buffers
 *                 of kind LOCAL the calling thread's own part
 *   s_<name>      symbol, int64_t
 *   a<i>          scalar argument i, double or int64_t
 *   v<i>          value of expression i in the scope at hand
 *   r<i>          result i of the nest, after its reduction
 *   bad           int, set nonzero when an index operand is out of range; the kernel returns it
 *   tc_..., TC_.. prelude
 *
 * Types of the prelude (T: f32 f64 i8 u8 i16 i32 i64 b8 f16 bf16; f16 and bf16 compute as f32)
 *   tc_f32 ...    element in memory; tc_f16 and tc_bf16 are unsigned short, tc_b8 unsigned char
 *   tc_vf32 ...   TC_L lanes of a compute type (no tc_vf16, tc_vbf16)
 * Functions of the prelude (p: pointer to elements; n: count of valid lanes, 1..TC_L)
 *   tc_load_T(p)           TC_L neighbours, widened        tc_loadn_T(p, n)      the first n;
 * others 0 tc_splat_T(p)          *p in all lanes                 tc_set_T(x)           x in all
 * lanes tc_strided_T(p, s, n)  p[l * s]                        tc_gather_T(p, i, n)  p[i[l]], i:
 * tc_vi64 tc_store_T(p, v)       rounded to T                    tc_storen_T(p, v, n)  the first n
 *   tc_store1_T(p, v)      lane 0                          tc_stream_T(p, v, nt) nt: past the
 * caches TC_CAST(U, v)          to compute type U, as C (bool: tc_ne_T(v, 0)) tc_round_f16(v),
 * tc_round_bf16(v)   an f32 rounded to what the type holds tc_exp_f32(v) ...      the spellings of
 * the op table TC_LANES(T)            {0, 1, 2, ...} of compute type T A text is compiled with
 * -DTC_LEVEL=v2|v3|v4|bf16|amx; TC_ISA is then 0..4, to be tested with #if. */
#ifndef TC_OMP_EMIT_H
#define TC_OMP_EMIT_H

#include "backends/backend.h"

/* A place in the text where values of a kernel can be computed: which point of the iteration space
 * (a C expression for every axis), which axis runs along the lanes, and what has been printed. */
typedef struct tc_omp_scope {
  const tc_kernel *k;
  const tc_program *p;
  tc_buf *out;
  int indent; /* spaces before each statement */
  int naxis;
  const char *axis[TC_MAX_AXES]; /* text of axis i; of the vector axis: its value in lane 0 */
  int vector;                    /* axis along the lanes, or -1: all lanes are equal */
  const char *lanes;             /* NULL: all TC_L lanes are valid; else text of their number n */
  const char *const *result;     /* text of RESULT i, a vector variable */
  const uint32_t *result_axes;   /* bit j: RESULT i depends on axis j */
  const char *stream; /* text of the nt flag for stores to OUTPUT buffers, or NULL: tc_store */
  uint32_t *depends;  /* per expression: bit j: depends on axis j.  tc_omp_depends */
  uint8_t *printed;   /* per expression: v<i> is visible */
} tc_omp_scope;

/* Fills depends[nexpr]; result_axes as above (may be NULL when there is no RESULT). */
void tc_omp_depends(const tc_kernel *k, const uint32_t *result_axes, uint32_t *depends);

/* Prints `const tc_vT v<i> = ...;` for v and everything it needs that is not printed yet. */
void tc_omp_value(tc_omp_scope *s, tc_val v);
/* Prints those among v and its operands that depend only on the axes in mask: what a caller places
 * in front of a loop over the other axes.  Such values must not depend on the vector axis unless it
 * is in mask. */
void tc_omp_hoist(tc_omp_scope *s, tc_val v, uint32_t mask);
/* A STORE or ADD action at the point of the scope, its values included. */
void tc_omp_store(tc_omp_scope *s, const tc_action *a);
/* Values and addresses of an action, as tc_omp_hoist. */
void tc_omp_hoist_action(tc_omp_scope *s, const tc_action *a, uint32_t mask);
/* A copy of `printed` for an inner C block, so that what the block declares is forgotten after it.
 */
uint8_t *tc_omp_enter(tc_omp_scope *s);             /* returns the outer set; NULL: out of memory */
void tc_omp_leave(tc_omp_scope *s, uint8_t *outer); /* frees the inner set */

/* The affine part of an address at the point of the scope (lane 0), as a C expression in elements.
 */
void tc_omp_address(const tc_omp_scope *s, const tc_address *a, tc_buf *out);

/* A new line at the scope's indentation, printf-like. */
void tc_omp_line(tc_omp_scope *s, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The definition's head: comment (what is fused, from which lines), signature with the name
 * @NAME@ that is replaced when the text is hashed, and the unpacking of buffers, symbols and
 * scalars:
 *
 *   int @NAME@(void *const *buf, const int64_t *sym, const tc_value *scalar) {
 *     const tc_f32 *restrict b0 = buf[0]; // x: f32[B,784]
 *     const int64_t s_B = sym[0];
 *
 * and the closing `return bad; }`.  The caller prints what is between. */
void tc_omp_kernel_head(const tc_kernel *k, const tc_program *p, tc_buf *out);
void tc_omp_kernel_tail(tc_buf *out);

const char *
tc_omp_compute(tc_dtype d); /* suffix of the compute type: f32 for f16 and bf16, b8 for bool */
const char *tc_omp_storage(tc_dtype d); /* suffix of the storage type */
/* An int64_t C expression of a size, over s_<name>. */
void tc_omp_dim(const tc_program *p, tc_dim d, tc_buf *out);

/* nest.c: the nests of a kernel.  matmul.c: the template.  Both print head and tail. */
bool tc_omp_emit_nests(const tc_kernel *k, const tc_program *p, tc_buf *out);
bool tc_omp_emit_matmul(const tc_kernel *k, const tc_program *p, tc_buf *out);
bool tc_omp_supports_matmul(const tc_kernel *k, const tc_program *p);
uint32_t tc_omp_matmul_levels(const tc_kernel *k, const tc_program *p); /* bits of tc_isa */
/* LOCAL memory of a matmul (packed panels): bytes shared by all threads, and bytes per thread; both
 * are C expressions of type int64_t over s_<name>.  The entry allocates them behind the arena and
 * passes them as buf[nbuffer] (shared) and buf[nbuffer + 1] (omp_get_max_threads() parts, each of
 * the per-thread size rounded up to 64).  Nothing printed: 0. */
void tc_omp_matmul_scratch(const tc_kernel *k, const tc_program *p, tc_buf *shared,
                           tc_buf *per_thread);

#endif
