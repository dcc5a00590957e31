/* emit.h - what the printers of the OpenMP backend share; backends/print/print.h says how values
 * are printed.
 *
 * TC_L is the number of f32 lanes of a register (v2: 4, v3: 8, v4 and up: 16); wider element types
 * take several registers and the compiler splits them.  A text is compiled with
 * -DTC_LEVEL=v2|v3|v4|bf16|amx; TC_ISA is then 0..4, to be tested with #if.  Beyond what print.h
 * lists, the prelude has tc_strided_T(p, s, n): p[l * s], tc_storeapart_T(p, s, v, n): p[l * s] =
 * v[l], and tc_nontemporal_T(p, v, flag): a nontemporal store where the flag is set. */
#ifndef TC_OMP_EMIT_H
#define TC_OMP_EMIT_H

#include "backends/backend.h"
#include "backends/print/print.h"

enum { TC_OMP_INTERLEAVE = 4 }; /* the largest distance that the prelude interleaves */

extern const tc_spelling tc_omp_words;

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

/* nest.c: the nests of a kernel.  matmul.c: the template.  Both print head and tail. */
bool tc_omp_emit_nests(const tc_kernel *k, const tc_program *p, tc_buf *out);
bool tc_omp_emit_matmul(const tc_kernel *k, const tc_program *p, tc_buf *out);
bool tc_omp_supports_matmul(const tc_kernel *k, const tc_program *p);
/* *out: the kernel of nests, in p's arena, that does the product where it is one row or column;
 * NULL: it never is.  false: out of memory. */
bool tc_omp_product_as_nests(const tc_kernel *k, tc_program *p, tc_kernel **out);
uint32_t tc_omp_matmul_levels(const tc_kernel *k, const tc_program *p); /* bits of tc_isa */
/* LOCAL memory of a matmul (packed panels): bytes shared by all threads, and bytes per thread; both
 * are C expressions of type int64_t over s_<name>.  The entry allocates them behind the arena and
 * passes them as buf[nbuffer] (shared) and buf[nbuffer + 1] (tcrt_max_threads() parts, each of
 * the per-thread size rounded up to 64).  Nothing printed: 0. */
void tc_omp_matmul_scratch(const tc_kernel *k, const tc_program *p, tc_buf *shared,
                           tc_buf *per_thread);
/* sort.c: the kernel of a sort, which has no memory but a thread's own. */
void tc_omp_put_sort(const tc_kernel *k, const tc_program *p, tc_buf *out);
void tc_omp_sort_scratch(const tc_kernel *k, const tc_program *p, tc_buf *per_thread);
bool tc_omp_packs(const tc_kernel *k, const tc_program *p); /* a matmul may pack its operands */
/* packing.c: sets tc_mm_loop.packed.  The shared memory of products that pack the same B is one
 * piece that outlives the kernels, `packed<first>` of the entry: that of the first of them. */
void tc_omp_plan_packing(tc_program *p);

#endif
